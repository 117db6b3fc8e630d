"""A lake whose catalogue is a real PostgreSQL: shared, killed, moved to, backed up and restored."""

import multiprocessing
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import pytest

from schemas.errors import (
    AssayError,
    ConfigurationError,
    PublicationError,
    TransientError,
    UpstreamError,
)
from schemas.identifiers import RunId
from tests.support.assay_command import wait_until
from tests.support.catalogues import with_catalogue
from tests.support.evaluations import make_evaluation, make_run
from tests.support.postgres_server import PASSWORD, PostgresServer, needs_postgres
from tests.support.work_of_every_kind import WORKS
from warehouse.catalogue.postgres import PostgresCatalogue, catalogue_state
from warehouse.compact import compact
from warehouse.console.console import run_sql
from warehouse.kinds.runs.deletion import delete_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake_reader import LakeReader
from warehouse.move_lake import move_catalogue
from warehouse.shared_database import SharedDatabase
from warehouse.statements import statement
from warehouse.units import publish as publishing
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

pytestmark = needs_postgres

SPAWN = multiprocessing.get_context("spawn")
Counts = dict[str, int]
PAGE = Path(__file__).parents[3] / "docs" / "guides" / "deployment.md"
EXPORT = "export ASSAY_CATALOGUE_URL"
SHAPE = "postgresql://user:password@host:port/database"


def _another_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=SPAWN)


@pytest.fixture(scope="module")
def driver() -> Iterator[ProcessPoolExecutor]:
    """Another process that publishes."""
    with _another_process() as executor:
        yield executor


@pytest.fixture(scope="module")
def template(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Run `run-a` is published, `run-b` and `run-c` have landed; the database is `template`."""
    warehouse = Warehouse(tmp_path_factory.mktemp("template"))
    land_runs(warehouse, "run-a", "run-b", "run-c")
    published(warehouse, postgres.new_database("template"), "run-a")
    return warehouse


@pytest.fixture
def url(postgres: PostgresServer, names: Iterator[str], template: Warehouse) -> str:
    """A copy of the template's database: making and publishing takes longer than most tests."""
    del template
    return postgres.new_database(next(names), template="template")


@pytest.fixture
def warehouse(tmp_path: Path, template: Warehouse) -> Warehouse:
    """A copy of the template's files."""
    return Warehouse(shutil.copytree(template.root, tmp_path / "warehouse"))


@pytest.fixture
def with_file(tmp_path: Path, two_ideas: Warehouse) -> Warehouse:
    """The same lake, its catalogue an SQLite file; nothing else has landed."""
    return Warehouse(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))


def land_runs(warehouse: Warehouse, *run_ids: str, ideas: int = 2) -> None:
    for run_id in run_ids:
        for number in range(ideas):
            land(warehouse, make_evaluation(number, run_id=run_id))


def published(warehouse: Warehouse, url: str, *run_ids: str) -> None:
    for run_id in run_ids:
        assert publish(with_catalogue(warehouse, url), RUNS, make_run(run_id, ideas=2)).published


def counts(warehouse: Warehouse, url: str) -> Counts:
    with with_catalogue(warehouse, url).reader() as connection:
        return {
            name: connection.execute(f"select count(*) from {name}").fetchall()[0][0]
            for name in ("runs", "ideas", "methods")
        }


def documented(beginning: str) -> str:
    """The block of the page on deployment that begins so, as people copy it."""
    blocks = PAGE.read_text().split("```")[1::2]
    (found,) = (
        text
        for text in (block.partition("\n")[2] for block in blocks)
        if text.startswith(beginning)
    )
    return found


def content(warehouse: Warehouse, url: str | None) -> dict[tuple[int, str], Any]:
    """What every snapshot holds of the tables that a run fills."""
    tables = ("runs", "ideas", "methods", "llm_calls", "failures", "ledger")
    told: dict[tuple[int, str], Any] = {}
    with with_catalogue(warehouse, url).reader(as_defined=False) as connection:
        snapshots = "select snapshot_id from ducklake_snapshots('lake')"
        for (version,) in connection.execute(snapshots).fetchall():
            for table in tables:
                sql = (
                    f"select count(*), sum(hash(x)::hugeint) from {table} as x"
                    f" at (version => {version})"
                )
                with suppress(duckdb.CatalogException):  # not made yet
                    told[version, table] = connection.execute(sql).fetchall()
    assert told
    return told


@pytest.mark.long
def test_every_kind_of_work_is_published_and_found_whole(
    empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", empty)
    warehouse = Warehouse(tmp_path / "all")
    for work in WORKS[1:]:  # a ranking brings its run
        work.prepare(warehouse, empty)
        for number in range(2):
            work.land(warehouse, number, f"{work.kind.word}-{number}")
        write_head(warehouse, work.kind, work.head(warehouse))
        first = publish(with_catalogue(warehouse, empty), work.kind, work.head(warehouse))
        again = publish(with_catalogue(warehouse, empty), work.kind, work.head(warehouse))
        assert (first.published, first.unchanged) == (True, False)
        assert (again.unchanged, again.rows) == (True, first.rows)
    assert verify(with_catalogue(warehouse, empty)).sound


@pytest.mark.long
def test_the_lake_is_compacted_as_one_with_a_file_is(warehouse: Warehouse, url: str) -> None:
    before = counts(warehouse, url)
    assert compact(with_catalogue(warehouse, url)).files_after > 0
    assert counts(warehouse, url) == before == {"runs": 1, "ideas": 2, "methods": 6}


@pytest.mark.long
def test_a_snapshot_of_before_reads_as_it_was(warehouse: Warehouse, url: str) -> None:
    then = content(warehouse, url)
    published(warehouse, url, "run-b")
    now = content(warehouse, url)
    assert {key: now[key] for key in then} == then
    assert len(now) > len(then)


def _publish_run(root: Path, url: str, run_id: str) -> None:
    published(Warehouse(root), url, run_id)


@pytest.mark.long
def test_two_drivers_that_publish_at_once_both_get_in(
    warehouse: Warehouse, url: str, driver: ProcessPoolExecutor
) -> None:
    other = driver.submit(_publish_run, warehouse.root, url, "run-b")
    published(warehouse, url, "run-c")
    other.result()
    assert counts(warehouse, url) == {"runs": 3, "ideas": 6, "methods": 18}


def test_publishers_with_different_folders_meet_in_the_catalogue(
    warehouse: Warehouse, empty: str, tmp_path: Path
) -> None:
    with (
        with_catalogue(Warehouse(tmp_path / "another machine"), empty).publisher(),
        pytest.raises(
            TransientError, match=r"assay, process \d+ on .* is publishing to 127"
        ) as told,
    ):
        publish(
            with_catalogue(warehouse, empty), RUNS, make_run("run-b", ideas=2), wait_seconds=0.3
        )
    assert PASSWORD not in str(told.value)


@pytest.mark.long
def test_readers_see_whole_runs_while_a_publisher_writes(
    warehouse: Warehouse, url: str, driver: ProcessPoolExecutor
) -> None:
    publisher = driver.submit(_publish_run, warehouse.root, url, "run-b")
    sql = "select (select count(*) from runs), (select count(*) from ideas)"
    seen = set()
    with with_catalogue(warehouse, url).reader() as connection:
        while not wait([publisher], 0.02).done:
            seen.add(connection.execute(sql).fetchall()[0])
    publisher.result()
    assert seen <= {(1, 2), (2, 4)}


def _publish_and_stop_before_the_commit(root: Path, url: str, signs: Path) -> str:
    """What was said when it went on, once `signs` held `go on`."""
    held = publishing._check_counts

    def stop(*arguments: Any) -> None:
        held(*arguments)
        (signs / "all rows are in").touch()
        wait_until((signs / "go on").exists, 240, "the other side")

    try:
        publishing._check_counts = stop
        published(Warehouse(root), url, "run-b")
    except AssayError as error:
        return str(error)
    finally:
        publishing._check_counts = held
    return ""


@pytest.mark.long
def test_a_server_killed_before_the_commit_leaves_the_lake_as_it_was(
    warehouse: Warehouse,
    postgres: PostgresServer,
    url: str,
    driver: ProcessPoolExecutor,
    tmp_path: Path,
) -> None:
    publisher = driver.submit(_publish_and_stop_before_the_commit, warehouse.root, url, tmp_path)
    wait_until((tmp_path / "all rows are in").exists, 240, "writing")
    postgres.restart()
    (tmp_path / "go on").touch()
    said = publisher.result()
    assert "was not published" in said
    assert PASSWORD not in said
    assert "\n" not in said
    assert counts(warehouse, url) == {"runs": 1, "ideas": 2, "methods": 6}
    published(warehouse, url, "run-b")
    assert counts(warehouse, url) == {"runs": 2, "ideas": 4, "methods": 12}


def _publish_until_done(root: Path, url: str) -> None:
    """As an operator would: the same command again until it is through."""
    for run_id in ("run-b", "run-c"):
        for _ in range(1000):
            with suppress(AssayError):
                publish(with_catalogue(Warehouse(root), url), RUNS, make_run(run_id, ideas=2))
                break
            time.sleep(0.1)


@pytest.mark.long
def test_a_server_killed_again_and_again_loses_and_doubles_nothing(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    with _another_process() as executor:
        publisher = executor.submit(_publish_until_done, warehouse.root, url)
        for moment in (1.9, 0.7, 1.1, 0.4):  # whatever they fall on
            wait([publisher], moment)
            postgres.restart()
        with suppress(BrokenProcessPool):  # a publisher may go down with the server: once in 13
            publisher.result()
    with _another_process() as executor:
        executor.submit(_publish_until_done, warehouse.root, url).result()
    assert counts(warehouse, url) == {"runs": 3, "ideas": 6, "methods": 18}
    assert verify(with_catalogue(warehouse, url)).sound


def _hold_the_lock(root: Path, url: str, told: Connection) -> None:
    with with_catalogue(Warehouse(root), url).publisher():
        told.send("held")
        signal.pause()


@pytest.mark.long
def test_a_killed_publisher_lets_go_of_the_lock(warehouse: Warehouse, url: str) -> None:
    told, teller = SPAWN.Pipe(duplex=False)
    publisher = SPAWN.Process(
        target=_hold_the_lock, args=(warehouse.root, url, teller), daemon=True
    )
    publisher.start()
    assert told.poll(60)
    publisher.kill()
    publisher.join()
    published(warehouse, url, "run-b")


def test_a_lake_kept_open_answers_again_once_its_server_does(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    reading = LakeReader(with_catalogue(warehouse, url))
    before = reading.snapshot()
    with postgres.down(), pytest.raises(UpstreamError, match="try again once it is back") as told:
        reading.snapshot()
    assert PASSWORD not in str(told.value)
    published(warehouse, url, "run-b")
    assert reading.snapshot() != before
    reading.close()


@pytest.mark.parametrize(
    "planted",
    [
        "update ducklake_data_file set path = '/etc/passwd', path_is_relative = false",
        "update ducklake_data_file set path = 's3://other/x.parquet', path_is_relative = false",
        "update ducklake_data_file set path = '../../../../other.parquet'",
        "insert into ducklake_files_scheduled_for_deletion values (999999, '/etc/x', false, now())",
        "insert into ducklake_macro values (0, 999999, 'coalesce', 1, null)",
        "create or replace view public.spy as select pg_read_file('/etc/passwd') as table_name;"
        " insert into ducklake_inlined_data_tables values (1, 'spy', 1)",
        "do $$ begin execute (select format('update %I set end_snapshot = 1000000000', i.table_name)"
        " from ducklake_inlined_data_tables as i join ducklake_table as t using (table_id)"
        " where t.table_name = 'ideas'); end $$",
    ],
)
def test_a_catalogue_that_another_writer_falsified_is_refused_in_one_line(
    planted: str, warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    postgres.sql(PostgresCatalogue.of(url).options["dbname"], planted)
    with pytest.raises(ConfigurationError, match="Assay never writes there") as refused:
        counts(warehouse, url)
    assert "\n" not in str(refused.value)
    assert "root:" not in str(refused.value)


SPY = "create function spy() returns trigger language plpgsql as 'begin return new; end'; "
PROGRAMS = {
    "trigger": SPY
    + "create trigger spied after insert on ducklake_snapshot execute function spy()",
    "rule": "create rule spied as on insert to ducklake_snapshot do also select 1",
    "view": "alter table ducklake_macro rename to held;"
    " create view ducklake_macro as select * from held where pg_sleep(0) is not null",
    "policy": "alter table ducklake_metadata enable row level security;"
    " create policy spied on ducklake_metadata using (pg_sleep(0) is not null)",
    "check": "alter table ducklake_snapshot add constraint spied check (pg_sleep(0) is not null)",
    "default of": "alter table ducklake_snapshot alter snapshot_time set default clock_timestamp()",
    "index over an expression of": "create index spied on ducklake_snapshot (abs(snapshot_id))",
    "type of a column of": "create domain spied as varchar check (pg_sleep(0) is not null);"
    " alter table ducklake_snapshot_changes alter column changes_made type spied",
    "constraint": "alter table ducklake_schema add constraint spied exclude (schema_id with =)",
    "statistics": "create statistics spied on snapshot_id, author from ducklake_snapshot_changes",
    "inheritance of": "create table spied () inherits (ducklake_metadata)",
}
BUDGETS = statement("budgets", "schema") + statement("budgets", "records") + ";"


@pytest.mark.parametrize(("kind", "planted"), PROGRAMS.items(), ids=PROGRAMS.keys())
def test_what_the_server_would_run_on_tables_of_the_catalogue_is_refused_in_one_line(
    kind: str, planted: str, warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    postgres.sql(PostgresCatalogue.of(url).options["dbname"], planted)
    with pytest.raises(ConfigurationError, match=f"the {kind} .*Assay never writes") as refused:
        counts(warehouse, url)
    assert len(str(refused.value).splitlines()) == 1


def test_the_console_shows_no_other_table_of_the_database(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    database = PostgresCatalogue.of(url).options["dbname"]
    postgres.sql(database, "create table payroll as select 'hidden' as name")
    assert run_sql(with_catalogue(warehouse, url), "from lake.main.runs")
    for place in ("__ducklake_metadata_lake", "public"):
        with pytest.raises(ConfigurationError, match="payroll is not a table of the lake"):
            run_sql(with_catalogue(warehouse, url), f"from {place}.payroll")


def test_a_schema_named_like_the_role_hides_no_trigger(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    database = PostgresCatalogue.of(url).options["dbname"]
    postgres.sql(database, "create schema assay")
    assert counts(warehouse, url)["runs"] == 1
    postgres.sql(database, PROGRAMS["trigger"].replace("on ducklake", "on public.ducklake"))
    with pytest.raises(ConfigurationError, match=r"the trigger .*Assay never writes"):
        counts(warehouse, url)


@pytest.mark.parametrize("table", ["spent", "reserved", "charged", "journal", "records"])
def test_a_trigger_on_a_table_of_budgets_is_refused_where_the_lake_and_a_budget_are_opened(
    table: str, warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    database = PostgresCatalogue.of(url).options["dbname"]
    postgres.sql(database, BUDGETS)
    assert counts(warehouse, url)["runs"] == 1
    assert SharedDatabase(url).identity
    postgres.sql(database, PROGRAMS["trigger"].replace("ducklake_snapshot", table))
    with pytest.raises(ConfigurationError, match=r"the trigger 'spied', which Assay never writes"):
        counts(warehouse, url)
    opened = SharedDatabase(url)
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"the trigger 'spied', which Assay never"):
            assert opened.identity


@pytest.mark.parametrize("table", ["ducklake_macro", "journal"])
def test_a_table_that_another_role_owns_is_refused(
    table: str, warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    database, role = PostgresCatalogue.of(url).options["dbname"], f"mallory_{table}"
    postgres.sql(database, f"{BUDGETS} create role {role}; alter table {table} owner to {role}")
    for look in (lambda: counts(warehouse, url), lambda: SharedDatabase(url).identity):
        with pytest.raises(ConfigurationError, match=f"the table of another role '{table}'"):
            look()


def test_a_role_opens_the_lake_that_it_or_a_group_of_its_owns(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    database = PostgresCatalogue.of(url).options["dbname"]
    postgres.sql(
        database,
        f"{BUDGETS} create role publishers; create role eve login password 'eve' in role publishers;"
        " grant create on schema public to publishers;"
        " do $$ declare name text; begin for name in select relname from pg_class"
        " where relkind = 'r' and relnamespace = 'public'::regnamespace loop"
        " execute format('alter table %I owner to publishers', name); end loop; end $$",
    )
    eve = postgres.url(database, user="eve", password="eve")
    assert counts(warehouse, eve)["runs"] == 1
    published(warehouse, eve, "run-b")
    postgres.sql(database, documented("create role reader"))
    reader = postgres.url(database, user="reader", password="another long password")
    assert counts(warehouse, reader)["runs"] == 2
    with pytest.raises(ConfigurationError, match="the table of another role"):
        counts(warehouse, url)  # of a superuser, with whose rights its programs would run
    postgres.sql(database, "drop owned by reader; drop role reader")


def test_a_foreign_index_over_the_journal_of_calls_is_refused(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    planted = "create index spied on journal (call_id) where length(call) > 3"
    database = PostgresCatalogue.of(url).options["dbname"]
    postgres.sql(database, BUDGETS + planted)
    with pytest.raises(ConfigurationError, match=r"index over an expression .*Assay never writes"):
        counts(warehouse, url)


def test_a_reader_needs_no_right_to_write(
    warehouse: Warehouse, postgres: PostgresServer, url: str
) -> None:
    database = PostgresCatalogue.of(url).options["dbname"]
    postgres.sql(database, documented("create role reader"))
    reader = postgres.url(database, user="reader", password="another long password")
    assert counts(warehouse, reader)["ideas"] == 2
    state = catalogue_state(PostgresCatalogue.of(reader))
    assert (state.may_read, state.may_write) == (True, False)
    assert state.rights == "reader may read and not publish"
    with pytest.raises(PublicationError, match="permission denied") as told:
        publish(with_catalogue(warehouse, reader), RUNS, make_run("run-b", ideas=2))
    assert "\n" not in str(told.value)
    files = sorted(warehouse.root.rglob("*"))
    with pytest.raises(ConfigurationError, match="reader may read and not publish"):
        delete_run(with_catalogue(warehouse, reader), RunId("run-a"))
    assert sorted(warehouse.root.rglob("*")) == files
    with pytest.raises(ConfigurationError) as refused:
        compact(with_catalogue(warehouse, reader))
    title = PostgresCatalogue.of(reader).title
    assert str(refused.value) == (
        f"nothing could be published to the catalogue at {title}: reader may read and not publish"
    )
    published(warehouse, url, "run-b")
    assert counts(warehouse, reader)["ideas"] == 4
    postgres.sql(database, "drop owned by reader; drop role reader")


def test_a_database_without_a_lake_says_how_to_make_one(warehouse: Warehouse, empty: str) -> None:
    with (
        pytest.raises(ConfigurationError, match="publish a run first"),
        with_catalogue(warehouse, empty).reader(),
    ):
        pass


def test_a_server_that_refuses_says_why_in_one_line(
    warehouse: Warehouse, postgres: PostgresServer
) -> None:
    wrong = {
        "password authentication failed": postgres.url("postgres", password="wrong-word"),
        "does not exist": postgres.url("none"),
        "server does not support SSL": postgres.url("postgres") + "?sslmode=require",
        "Connection refused": "postgresql://assay:hidden-word@127.0.0.1:1/lake",
    }
    for reason, url in wrong.items():
        with (
            pytest.raises(UpstreamError, match=reason) as told,
            with_catalogue(warehouse, url).publisher(),
        ):
            pass
        assert "\n" not in str(told.value)
        assert not any(word in str(told.value) for word in ("wrong-word", "hidden-word", PASSWORD))
        assert told.value.__cause__ is None


def test_the_catalogue_of_another_lake_is_refused(
    warehouse: Warehouse, url: str, tmp_path: Path
) -> None:
    other = Warehouse(tmp_path / "other")
    published_elsewhere = pytest.raises(ConfigurationError, match="is that of the lake in")
    with published_elsewhere, with_catalogue(other, url).reader():
        pass
    moved = Warehouse(shutil.move(warehouse.root, tmp_path / "mounted elsewhere"))
    assert counts(moved, url)["ideas"] == 2


def test_a_moved_catalogue_tells_every_snapshot_as_before(with_file: Warehouse, empty: str) -> None:
    with with_file.publisher() as connection:  # as the move does first
        connection.execute("call ducklake_flush_inlined_data('lake')")
    before = content(with_file, None)
    assert move_catalogue(with_file, empty)["ducklake_snapshot"] > 2
    assert content(with_file, empty) == before
    land_runs(with_file, "run-b")
    published(with_file, empty, "run-b")
    assert counts(with_file, empty) == {"runs": 2, "ideas": 4, "methods": 12}
    with pytest.raises(ConfigurationError, match=EXPORT), with_file.reader():
        pass
    with pytest.raises(ConfigurationError, match=EXPORT), with_file.publisher():
        pass
    with pytest.raises(ConfigurationError, match="it was moved before"):
        move_catalogue(with_file, empty)


def test_a_lake_whose_catalogue_is_still_a_file_does_not_begin_anew_in_an_empty_database(
    with_file: Warehouse, empty: str
) -> None:
    for opened in (Warehouse.reader, Warehouse.publisher):
        with (
            pytest.raises(ConfigurationError, match="`assay warehouse move-catalogue` moves it"),
            opened(with_catalogue(with_file, empty)),
        ):
            pass
    assert not catalogue_state(PostgresCatalogue.of(empty)).has_lake


def test_a_move_that_was_cut_short_is_finished(
    with_file: Warehouse, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", stop)  # everything is copied, and the file still in its place
        move_catalogue(with_file, empty)
    assert with_file.catalogue.exists()
    move_catalogue(with_file, empty)
    assert counts(with_file, empty) == {"runs": 1, "ideas": 2, "methods": 6}


def test_a_database_that_holds_another_lake_is_not_overwritten(
    with_file: Warehouse, template: Warehouse, url: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"is that of the lake in|name an empty one"):
        move_catalogue(with_file, url)
    assert counts(template, url)["ideas"] == 2
    with with_file.reader() as connection:
        assert connection.execute("select count(*) from ideas").fetchall() == [(2,)]


@pytest.mark.long
def test_a_backup_as_documented_is_restored_with_the_same_answers(
    template: Warehouse, postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database("lake", template="template")
    warehouse = Warehouse(shutil.copytree(template.root, tmp_path / "assay-warehouse"))
    before = content(warehouse, url)
    dump, copy = documented("pg_dump ").splitlines()
    (tmp_path / "backup").mkdir()
    postgres.shell(dump, tmp_path)
    published(
        warehouse, url, "run-b"
    )  # newer than the copy of the catalogue, and in that of the files
    postgres.shell(copy, tmp_path)
    shutil.rmtree(warehouse.root)
    postgres.sql("postgres", "drop database lake")
    postgres.shell(documented("createdb lake_restored"), tmp_path)
    restored, found = (
        postgres.url("lake_restored"),
        Warehouse(tmp_path / "assay-warehouse-restored"),
    )
    assert content(found, restored) == before
    published(found, restored, "run-b")
    assert counts(found, restored) == {"runs": 2, "ideas": 4, "methods": 12}


@pytest.mark.parametrize(
    "url",
    [
        "mysql://x/y",
        "postgresql://",
        "postgresql://host",
        "postgres:dbname=x",
        "postgresql://h:p/x",
    ],
)
def test_an_address_of_another_shape_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError, match="must read postgresql://user") as told:
        PostgresCatalogue.of(url)
    assert str(told.value) == "ASSAY_CATALOGUE_URL must read " + SHAPE


def test_a_password_elsewhere_in_the_address_is_refused_without_being_repeated() -> None:
    with pytest.raises(ConfigurationError, match="belongs before the host") as told:
        PostgresCatalogue.of("postgresql://a@h/x?password=hidden-word")
    assert "hidden" not in str(told.value)


def test_a_catalogue_never_shows_its_password() -> None:
    catalogue = PostgresCatalogue.of("postgresql://a:hidden-word@h/x")
    assert "hidden" not in repr(catalogue) + catalogue.connection_string + catalogue.title
