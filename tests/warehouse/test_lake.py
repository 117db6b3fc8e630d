"""The lake opens anywhere, fits its definitions, and moves with its folder."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow.parquet import ParquetFile

from schemas.errors import ConfigurationError, UnknownNameError, UpstreamError
from schemas.identifiers import RunId
from schemas.tables import TABLES
from tests.support.catalogues import with_catalogue
from warehouse.catalogue import connection as duckdb_connection
from warehouse.catalogue.catalogue_file import make_catalogue
from warehouse.catalogue.definitions import apply_definitions
from warehouse.lake import transaction
from warehouse.warehouse import Warehouse

SPAWN = multiprocessing.get_context("spawn")


def _create(root: str) -> None:
    with Warehouse(Path(root)).publisher(wait_seconds=600) as connection:
        apply_definitions(connection)


@pytest.mark.long
def test_several_processes_may_open_a_new_lake_at_once(warehouse: Warehouse) -> None:
    processes = [SPAWN.Process(target=_create, args=(str(warehouse.root),)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with warehouse.reader() as connection:
        assert connection.execute("select count(*) from runs").fetchall() == [(0,)]


def test_a_home_folder_is_neither_needed_nor_written(published: Warehouse) -> None:
    code = (
        "import sys; from pathlib import Path; from warehouse.warehouse import Warehouse; from"
        " warehouse.console.console import run_sql;sys.stdout.write(str(run_sql(Warehouse(Path(sys.argv[1])),"
        " 'select count(*) as n from ideas')))"
    )
    environment = os.environ | {"HOME": "/nonexistent"}
    answer = subprocess.run(
        [sys.executable, "-c", code, str(published.root)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "[{'n': 5}]"


def test_definitions_applied_again_change_nothing(warehouse: Warehouse) -> None:
    with warehouse.publisher() as connection:
        apply_definitions(connection)
        before = connection.execute("select count(*) from ducklake_snapshots('lake')").fetchall()
        apply_definitions(connection)
        assert (
            connection.execute("select count(*) from ducklake_snapshots('lake')").fetchall()
            == before
        )


def test_no_table_is_without_statistics_though_it_has_no_rows(warehouse: Warehouse) -> None:
    with warehouse.publisher() as connection, transaction(connection, RunId("run-a")):
        apply_definitions(connection)
    with warehouse.reader() as connection:
        assert connection.execute(
            "select count(*), min(record_count), max(record_count) from"
            " __ducklake_metadata_lake.ducklake_table_stats"
        ).fetchall() == [(len(TABLES), 0, 0)]
        assert connection.execute(
            "select sum(file_count) from ducklake_table_info('lake')"
        ).fetchall() == [(0,)]
        assert [
            connection.execute(f"select * from {table.name}").fetchall() for table in TABLES
        ] == [[]] * len(TABLES)


def test_files_are_written_in_small_groups_of_rows(warehouse: Warehouse) -> None:
    with warehouse.publisher() as connection:
        apply_definitions(connection)
        connection.execute(
            "insert into ideas (run_id, idea_id) select 'run-a', i::varchar from range(20_000) as"
            " numbers(i)"
        )
    (file,) = warehouse.data.rglob("*.parquet")
    groups = ParquetFile(file).metadata
    assert groups.num_rows / groups.num_row_groups <= 10_000


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("alter table failures add column mood varchar", "failures.mood is varchar in the lake"),
        ("alter table failures drop column reason", "failures.reason is missing in the lake"),
        ("drop table failures", "failures.detail is missing in the lake"),
        (
            "create table moods (mood varchar)",
            "moods.mood is varchar in the lake, missing in Assay",
        ),
        ('create table "mo\nods" (mood varchar)', r"mo\nods.mood is varchar in the lake"),
    ],
)
def test_a_lake_that_another_version_wrote_is_refused_in_one_line(
    warehouse: Warehouse, change: str, difference: str
) -> None:
    with warehouse.publisher() as connection:
        apply_definitions(connection)
        connection.execute(change)
    for opened in (Warehouse.reader, Warehouse.publisher):
        with pytest.raises(ConfigurationError, match="does not fit this version") as refused:
            opened(warehouse).__enter__()
        (line,) = str(refused.value).splitlines()
        assert difference in line


def test_a_lake_without_tables_counts_as_none(warehouse: Warehouse) -> None:
    warehouse.lake.mkdir(parents=True)
    make_catalogue(warehouse, f"{warehouse.data}/")
    with pytest.raises(UnknownNameError, match="publish a run first"), warehouse.reader():
        pass


def test_a_second_thread_is_started_for_many_rows_only(
    published: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = "select current_setting('threads')"
    with published.reader() as connection:
        assert connection.execute(threads).fetchall() == [(1,)]
        connection.execute("reset threads")
        as_many_as_processors = connection.execute(threads).fetchall()
    monkeypatch.setattr(duckdb_connection, "_MANY_ROWS", 1)
    with published.reader() as connection:
        assert connection.execute(threads).fetchall() == as_many_as_processors


def test_readers_cannot_write(published: Warehouse) -> None:
    with published.reader() as connection, pytest.raises(Exception, match="read-only"):
        connection.execute("delete from ideas")


def test_a_broken_catalogue_is_one_clear_line(warehouse: Warehouse) -> None:
    warehouse.lake.mkdir(parents=True)
    warehouse.catalogue.write_bytes(b"not a database at all" * 100)
    with pytest.raises(ConfigurationError, match="cannot be opened") as error, warehouse.reader():
        pass
    assert "\n" not in str(error.value)


def test_an_unreachable_postgres_catalogue_does_not_tell_its_password(warehouse: Warehouse) -> None:
    url = "postgresql://someone:hidden-word@127.0.0.1:1/none"
    with (
        pytest.raises(UpstreamError, match="none cannot be opened") as error,
        with_catalogue(warehouse, url).publisher(),
    ):
        pass
    assert "hidden-word" not in str(error.value)
    assert error.value.__cause__ is None


def test_a_missing_extension_names_its_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match="pip install duckdb-extension-ducklake=="):
        duckdb_connection.extension_path("ducklake")
