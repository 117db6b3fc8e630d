"""A catalogue that somebody else writes to: no SQL of theirs runs, and no other file is read or
deleted.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from schemas.errors import ConfigurationError
from tests.support.evaluations import make_run
from tests.support.foreign_journal import JOURNAL_MAGIC, journal_that_names
from tests.support.lakes import change_catalogue
from warehouse import compact as compacting
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.people import participants
from warehouse.catalogue import catalogue_file
from warehouse.catalogue.connection import Connection
from warehouse.catalogue.definitions import check_catalogue, outdated_marts
from warehouse.compact import compact
from warehouse.console.console import run_sql
from warehouse.export import export_lake
from warehouse.kinds.runs.landing import RUNS
from warehouse.move_lake import move_catalogue
from warehouse.stores.keyed_store import KeyedStore
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.verify.verify_ledger import verify_ledger
from warehouse.warehouse import Warehouse

SECRET = "a secret of this machine"
TRIGGER = "create trigger evil after insert on ducklake_snapshot begin select 1; end"
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture
def warehouse(two_ideas: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(two_ideas.root, tmp_path / "w"))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


def view(name: str, sql: str, *, end: str = "null", schema: str = "0") -> str:
    """The statement that plants a view."""
    return (
        f"insert into ducklake_view values (999999, 'x', 0, {end}, {schema}, '{name}', 'duckdb',"
        f" '{sql}', '')"
    )


def planted_row(values: str, *, made: str = TRIGGER) -> str:
    """The statements that plant an entry in SQLite's list of what is there, and falsify it."""
    return f"{made}; pragma writable_schema = on; update sqlite_master set {values}"


COMMANDS: dict[str, Callable[[Warehouse], object]] = {
    "a report": lambda warehouse: reads(warehouse),
    "the console": lambda warehouse: run_sql(warehouse, "select text from ideas"),
    "verify": verify,
    "ledger verify": verify_ledger,
    "a publication": lambda warehouse: publish(warehouse, RUNS, make_run(ideas=2)),
    "compact": compact,
    "a move": lambda warehouse: move_catalogue(warehouse, NOWHERE),
    "an export": lambda warehouse: export_lake(warehouse, warehouse.root / "all.duckdb"),
}


def reads(warehouse: Warehouse) -> str:
    with warehouse.queries() as queries:
        (run,) = queries.list_runs()
        review = queries.idea_review(run.run_id, queries.idea_scores(run.run_id)[0].idea_id)
        return str((run, review, queries.run_cost(run.run_id)))


def planted(secret: Path) -> dict[str, str]:
    """Statements that reach out of the lake, by what they plant."""
    file, sql = str(secret), f"select content as text from read_text(''{secret}'')"
    other = str(secret.with_name("other.parquet"))
    return {
        "an absolute path": f"update ducklake_data_file set path = '{other}', path_is_relative = 0",
        "an address": "update ducklake_data_file set path = 's3://other/x.parquet',"
        " path_is_relative = 0",
        "a path that leads out": "update ducklake_data_file set path = '../../../../other.parquet'",
        "a folder that leads out": "update ducklake_table set path = '../../../../'",
        "another root": "update ducklake_schema set path = '/', path_is_relative = 0",
        "a file to be deleted": "insert into ducklake_files_scheduled_for_deletion"
        f" values (999999, '{file}', 0, '2020-01-01 00:00:00+00')",
        "a trigger": "create trigger t after insert on ducklake_snapshot begin insert into"
        " ducklake_files_scheduled_for_deletion"
        f" values (999999, '{file}', 0, '2020-01-01 00:00:00+00'); end",
        "a view in place of a table": view("ideas", sql),
        "a view in place of a table that is not there yet": view("ideas", sql)
        + "; update ducklake_table set begin_snapshot = 1000000000 where table_name = 'ideas'",
        "a view of another name": view("theirs", sql),
        "a view that ends after the newest snapshot": view("theirs", sql, end="1000000000"),
        "a view that ended": view("theirs", sql, end="1"),
        "a mart that ends after the newest snapshot": view("run_costs", sql, end="1000000000"),
        "a mart in other letters": view("Run_Costs", sql),
        "another schema": "insert into ducklake_schema values (9000, 'x', 0, null, 'x', 'x/', 1); "
        + view("run_costs", sql, schema="9000"),
        "a default": "update ducklake_column set default_value_type = 'expression', default_value ="
        f" '({sql})' where column_name = 'text'",
        "a check": "create table ducklake_more (a integer check (a > 0))",
        "a default of the file": "alter table ducklake_snapshot add column x varchar default 'y'",
        "a generated column": "alter table ducklake_tag add column x varchar as (upper(key))",
        "an index": "create index i on ducklake_snapshot (upper(snapshot_time))",
        "a trigger in capitals": planted_row("type = 'TRIGGER' where name = 'evil'"),
        "a trigger of bytes": planted_row("type = cast('trigger' as blob) where name = 'evil'"),
        "a trigger whose name is no UTF-8": planted_row(
            "name = cast(x'ff65' as text), sql = cast(replace(sql, 'evil',"
            " cast(x'22ff6522' as text)) as text) where name = 'evil'"
        ),
        "a virtual table with a page": planted_row(
            "rootpage = 2 where name = 'ducklake_evil'",
            made="create virtual table ducklake_evil using rtree(id, a, b)",
        ),
        "a check behind a quoted name": "create table ducklake_more"
        ' (a BIGINT, constraint "x"check(a < 3))',
        "an index that changes rows": "create table ducklake_more"
        "(a VARCHAR UNIQUE ON CONFLICT REPLACE)",
        "a table of another name": "create table other(a BIGINT)",
        "a table whose name is SQL": 'create table "ducklake_tag; select 1; --"(a BIGINT)',
        "a path that is missing": "update ducklake_table set path = null",
        "a view that has lost its name": "update ducklake_view set view_name = null",
        "a macro that has lost its name": "insert into ducklake_macro"
        " values (0, 999999, null, 1, null)",
        "a schema that has lost its name": "update ducklake_schema set schema_name = null",
        "a table that has lost its name": "update ducklake_table set table_name = null"
        " where table_name = 'ideas'",
        "a macro": "insert into ducklake_macro values (0, 999999, 'coalesce', 1, null)",
        "an order": f"insert into ducklake_sort_expression values (1, 1, 0, '({sql})', 'duckdb',"
        " 'ASC', 'NULLS LAST')",
        "a key that DuckLake does not have": "drop table ducklake_macro; CREATE TABLE"
        " ducklake_macro(schema_id BIGINT, macro_id BIGINT, macro_name VARCHAR PRIMARY KEY,"
        " begin_snapshot BIGINT, end_snapshot BIGINT)",
        "two tables in one place": planted_row(
            "rootpage = (select rootpage from sqlite_master where name = 'ducklake_tag')"
            " where name = 'ducklake_macro'",
            made="select 1",
        ),
        "a partition": "update ducklake_data_file set partition_id = 1",
        "a column that hides the numbers of rows": "alter table ducklake_tag add column rowid BIGINT",
        "rows of another table": "update ducklake_inlined_data_tables set table_name ="
        " 'ducklake_metadata'",
        "rows of a question": "update ducklake_inlined_data_tables set table_name = table_name ||"
        f" ' cross join ({sql})'",
    }


@pytest.mark.parametrize("what", planted(Path("/x")))
def test_a_catalogue_that_leads_out_of_the_lake_is_refused_in_one_line(
    what: str, warehouse: Warehouse, secret: Path
) -> None:
    change_catalogue(warehouse, planted(secret)[what])
    with pytest.raises(ConfigurationError) as refused, warehouse.reader():
        pass
    (line,) = str(refused.value).splitlines()
    assert "Assay never writes" in line
    assert SECRET not in line


@pytest.mark.parametrize("what", ["a trigger", "a file to be deleted"])
def test_every_command_opens_the_lake_by_the_door_that_checks_its_catalogue(
    what: str, warehouse: Warehouse, secret: Path
) -> None:
    """A trigger is refused before DuckDB reads the catalogue, other entries right after it."""
    change_catalogue(warehouse, planted(secret)[what])
    for name, command in COMMANDS.items():
        with pytest.raises(ConfigurationError) as refused:
            command(warehouse)
        (line,) = str(refused.value).splitlines()
        assert "Assay never writes" in line, name
    assert secret.read_text() == SECRET


@pytest.mark.parametrize("column", ["begin_snapshot", "end_snapshot"])
def test_a_row_in_a_catalogue_that_is_of_a_later_snapshot_is_refused_in_one_line(
    column: str, warehouse: Warehouse
) -> None:
    with closing(sqlite3.connect(warehouse.catalogue, isolation_level=None)) as catalogue:
        ((table,),) = catalogue.execute(
            "select i.table_name from ducklake_inlined_data_tables as i"
            " join ducklake_table as t using (table_id) where t.table_name = 'ideas'"
        )
        catalogue.execute(f"update {table} set {column} = 1000000000")
    later = pytest.raises(ConfigurationError, match=f"later snapshot in '{table}'")
    with later as refused, warehouse.reader():
        pass
    assert len(str(refused.value).splitlines()) == 1


def test_a_catalogue_whose_index_lacks_rows_is_refused_in_one_line(warehouse: Warehouse) -> None:
    full = "sqlite_autoindex_ducklake_data_file_1"
    empty = "sqlite_autoindex_ducklake_delete_file_1"
    with closing(sqlite3.connect(warehouse.catalogue, isolation_level=None)) as catalogue:
        places = dict(catalogue.execute("select name, rootpage from sqlite_master"))
        catalogue.execute("pragma writable_schema = on")
        for one, other in ((full, empty), (empty, full)):
            sql = "update sqlite_master set rootpage = ? where name = ?"
            catalogue.execute(sql, [places[other], one])
    damaged = pytest.raises(ConfigurationError, match="damaged, so that rows")
    with damaged as refused, warehouse.reader():
        pass
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("opened", [Warehouse.reader, Warehouse.publisher])
def test_a_path_that_is_planted_while_a_lake_is_open_is_not_read(
    opened: Callable[..., AbstractContextManager[Connection]], warehouse: Warehouse, tmp_path: Path
) -> None:
    other = tmp_path / "other.parquet"
    with opened(warehouse) as connection:
        sql = "select * from ledger"
        pq.write_table(connection.execute(sql).to_arrow_table(), other)
        table = "(select table_id from ducklake_table where table_name = 'ledger')"
        for path, is_relative in ((other, 0), ("../../../../../other.parquet", 1)):
            change_catalogue(
                warehouse,
                f"update ducklake_data_file set path = '{path}', path_is_relative = {is_relative},"
                f" file_size_bytes = {other.stat().st_size} where table_id = {table}",
            )
            with pytest.raises(duckdb.PermissionException, match="Cannot access file"):
                connection.execute(sql).fetchall()


@pytest.mark.parametrize("is_relative", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_file_that_is_planted_right_before_files_are_deleted_is_not_among_them(
    is_relative: bool, warehouse: Warehouse, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_and_plant(connection: Connection) -> None:
        check_catalogue(connection)
        path = "../../../secret.txt" if is_relative else secret
        change_catalogue(
            warehouse,
            "insert into ducklake_files_scheduled_for_deletion"
            f" values (999999, '{path}', {int(is_relative)}, '2020-01-01 00:00:00+00')",
        )

    monkeypatch.setattr(compacting, "check_catalogue", check_and_plant)
    with pytest.raises(ConfigurationError, match="could not be compacted") as refused:
        compact(warehouse)
    assert len(str(refused.value).splitlines()) == 1
    assert secret.read_text() == SECRET


def test_marts_with_sql_of_somebody_else_are_not_run(warehouse: Warehouse, secret: Path) -> None:
    marts = ("idea_scores", "run_costs")
    sql = f"select error(content) as x from read_text(''{secret}'')"
    change_catalogue(
        warehouse, f"update ducklake_view set sql = '{sql}' where view_name in {marts}"
    )
    assert reads(warehouse)
    for name in (*marts, "ranked_ideas"):
        assert SECRET not in str(run_sql(warehouse, f"from {name}"))
    assert verify(warehouse).sound


def test_of_two_views_with_the_name_of_a_mart_neither_is_run(warehouse: Warehouse) -> None:
    sql = "select error(''foreign SQL ran'')"
    change_catalogue(
        warehouse,
        "insert into ducklake_view select 1, 'x', begin_snapshot, null, schema_id, view_name,"
        f" 'duckdb', '{sql}', '' from ducklake_view where view_name = 'run_costs'",
    )
    assert run_sql(warehouse, "from run_costs")


@pytest.mark.parametrize(
    "source",
    ["run_costs at (version => 0)", "lake.run_costs", 'main."Run_Costs"', "lake.main.run_costs"],
)
def test_a_mart_is_asked_in_the_sql_of_this_version_alone(
    source: str, warehouse: Warehouse
) -> None:
    sql = "select error(''foreign SQL ran'') as x"
    change_catalogue(
        warehouse,
        "insert into ducklake_view select 999999, 'x', 0, begin_snapshot, schema_id, view_name,"
        f" 'duckdb', '{sql}', '' from ducklake_view where view_name = 'run_costs'",
        f"update ducklake_view set sql = '{sql}' where view_name = 'run_costs'",
    )
    for question in (f"from {source}", f"describe from {source}"):
        with pytest.raises(ConfigurationError, match="run_costs") as refused:
            run_sql(warehouse, question)
        assert "foreign SQL ran" not in str(refused.value)
    assert run_sql(warehouse, "from run_costs")


def test_a_catalogue_that_stays_locked_is_not_opened_unchecked(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_file, "_BUSY_SECONDS", 0.05)
    change_catalogue(warehouse, TRIGGER)
    with closing(sqlite3.connect(warehouse.catalogue, isolation_level=None)) as other:
        other.execute("begin exclusive")
        with pytest.raises(ConfigurationError, match="cannot be opened: database is locked"):
            reads(warehouse)


OPENERS: dict[str, tuple[Callable[[Warehouse], Path], Callable[[Warehouse], object]]] = {
    "the catalogue": (lambda warehouse: warehouse.catalogue, reads),
    "the services' database": (services_file, lambda warehouse: people(warehouse)),
    "a cache": (
        lambda warehouse: warehouse.root / "cache" / "x.sqlite",
        lambda warehouse: KeyedStore(warehouse.root / "cache" / "x.sqlite").get_many(["x"]),
    ),
}


def people(warehouse: Warehouse) -> object:
    with ServiceDatabase(warehouse) as database:
        return participants(database)


@pytest.mark.parametrize("what", OPENERS)
def test_a_journal_that_names_a_file_is_refused_and_the_file_stays(
    what: str, warehouse: Warehouse, secret: Path
) -> None:
    named, opened = OPENERS[what]
    database = named(warehouse)
    database.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("create table if not exists ducklake_tag (x)")
    journal = database.with_name(f"{database.name}-journal")
    journal.write_bytes(journal_that_names(secret, database))
    with pytest.raises(ConfigurationError, match=r"-journal names another file") as refused:
        opened(warehouse)
    assert len(str(refused.value).splitlines()) == 1
    assert secret.read_text() == SECRET
    journal.rename(secret.with_name("journal"))
    journal.symlink_to(secret.with_name("journal"))
    with pytest.raises(ConfigurationError, match=r"-journal is a link"):
        opened(warehouse)
    journal.unlink()
    opened(warehouse)


def test_a_transaction_that_a_kill_cut_off_is_rolled_back(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    killed = Warehouse(tmp_path / "killed")
    with closing(sqlite3.connect(warehouse.catalogue, isolation_level=None)) as catalogue:
        # So small a cache has pages written to the file before the transaction ends.
        catalogue.execute("pragma cache_size = 5")
        catalogue.execute("begin")
        catalogue.execute("update ducklake_column set column_name = 'x' || column_name")
        shutil.copytree(warehouse.root, killed.root)
    journal = killed.catalogue.with_name("catalog.sqlite-journal")
    assert journal.read_bytes().startswith(JOURNAL_MAGIC)
    assert killed.catalogue.read_bytes() != warehouse.catalogue.read_bytes()
    assert reads(killed)
    assert not journal.exists()


def test_marts_of_a_lake_as_it_was_published_are_known_again(two_ideas: Warehouse) -> None:
    with two_ideas.queries(as_defined=False) as queries:
        assert outdated_marts(queries.connection) == ()


def test_a_catalogue_that_cannot_be_understood_is_refused_in_one_line(warehouse: Warehouse) -> None:
    change_catalogue(warehouse, "update ducklake_view set column_aliases = null")
    with pytest.raises(ConfigurationError, match="cannot be opened") as refused:
        reads(warehouse)
    assert len(str(refused.value).splitlines()) == 1
