"""The lake opens anywhere, grows with its definitions, and moves with its folder."""

import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow.parquet import ParquetFile

from schemas.columns import Column, ColumnType
from schemas.errors import ConfigurationError, UpstreamError
from schemas.identifiers import RunId
from schemas.tables import TABLES
from warehouse.catalogue import connection as duckdb_connection
from warehouse.catalogue import definitions
from warehouse.catalogue.definitions import apply_definitions
from warehouse.lake import open_reader, open_writer, transaction
from warehouse.layout import Layout
from warehouse.queries import open_queries

SPAWN = multiprocessing.get_context("spawn")


def _create(root: str) -> None:
    with open_writer(Layout(Path(root)), wait_seconds=600) as connection:
        apply_definitions(connection)


@pytest.mark.long
def test_several_processes_may_open_a_new_lake_at_once(layout: Layout) -> None:
    processes = [SPAWN.Process(target=_create, args=(str(layout.root),)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with open_reader(layout) as connection:
        assert connection.execute("select count(*) from runs").fetchall() == [(0,)]


def test_a_home_folder_is_neither_needed_nor_written(published: Layout) -> None:
    code = (
        "import sys; from pathlib import Path; from warehouse.layout import Layout; from"
        " warehouse.queries import run_sql;sys.stdout.write(str(run_sql(Layout(Path(sys.argv[1])),"
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
    assert answer.stdout == "[{'n': 6}]"


def test_definitions_applied_again_change_nothing(layout: Layout) -> None:
    with open_writer(layout) as connection:
        apply_definitions(connection)
        before = connection.execute("select count(*) from ducklake_snapshots('lake')").fetchall()
        apply_definitions(connection)
        assert (
            connection.execute("select count(*) from ducklake_snapshots('lake')").fetchall()
            == before
        )


def test_no_table_is_without_statistics_though_it_has_no_rows(layout: Layout) -> None:
    with open_writer(layout) as connection, transaction(connection, RunId("run-a")):
        apply_definitions(connection)
    with open_reader(layout) as connection:
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


def test_files_are_written_in_small_groups_of_rows(layout: Layout) -> None:
    with open_writer(layout) as connection:
        apply_definitions(connection)
        connection.execute(
            "insert into ideas (run_id, idea_id) select 'run-a', i::varchar from range(20_000) as"
            " numbers(i)"
        )
    (file,) = layout.data.rglob("*.parquet")
    groups = ParquetFile(file).metadata
    assert groups.num_rows / groups.num_row_groups <= 10_000


def test_a_definition_that_grew_adds_its_column_to_old_rows(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_writer(layout) as connection:
        apply_definitions(connection)
        connection.execute("insert into failures (run_id) values ('old')")
        mood = Column("mood", ColumnType.STRING, "How it felt.", nullable=True)
        grown = tuple(
            replace(table, columns=(*table.columns, mood)) if table.name == "failures" else table
            for table in TABLES
        )
        monkeypatch.setattr(definitions, "TABLES", grown)
        apply_definitions(connection)
        assert connection.execute("select run_id, mood from failures").fetchall() == [("old", None)]
        assert connection.execute("select count(*) from idea_scores").fetchall() == [(0,)]


def test_a_column_that_changed_its_type_is_refused(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_writer(layout) as connection:
        apply_definitions(connection)
        changed = tuple(
            replace(
                table,
                columns=tuple(
                    replace(c, type=ColumnType.DATE) if c.name == "reason" else c
                    for c in table.columns
                ),
            )
            for table in TABLES
        )
        monkeypatch.setattr(definitions, "TABLES", changed)
        with pytest.raises(
            ConfigurationError,
            match=r"failures\.reason is VARCHAR in the lake and DATE in its definition",
        ):
            apply_definitions(connection)


def test_a_second_thread_is_started_for_many_rows_only(
    published: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = "select current_setting('threads')"
    with open_reader(published) as connection:
        assert connection.execute(threads).fetchall() == [(1,)]
        connection.execute("reset threads")
        as_many_as_processors = connection.execute(threads).fetchall()
    monkeypatch.setattr(duckdb_connection, "_MANY_ROWS", 1)
    with open_reader(published) as connection:
        assert connection.execute(threads).fetchall() == as_many_as_processors


def test_readers_cannot_write(published: Layout) -> None:
    with open_reader(published) as connection, pytest.raises(Exception, match="read-only"):
        connection.execute("delete from ideas")


def test_a_missing_lake_says_how_to_make_one(layout: Layout) -> None:
    with pytest.raises(ConfigurationError, match="publish a run first"), open_queries(layout):
        pass


def test_a_broken_catalogue_is_one_clear_line(layout: Layout) -> None:
    layout.lake.mkdir(parents=True)
    layout.catalogue.write_bytes(b"not a database at all" * 100)
    with pytest.raises(ConfigurationError, match="cannot be opened") as error, open_reader(layout):
        pass
    assert "\n" not in str(error.value)


def test_an_unreachable_postgres_catalogue_does_not_tell_its_password(layout: Layout) -> None:
    url = "postgresql://someone:hidden-word@127.0.0.1:1/none"
    with (
        pytest.raises(UpstreamError, match="none cannot be opened") as error,
        open_writer(layout, catalogue_url=url),
    ):
        pass
    assert "hidden-word" not in str(error.value)
    assert error.value.__cause__ is None


def test_a_catalogue_of_another_kind_is_refused(layout: Layout) -> None:
    with (
        pytest.raises(ConfigurationError, match="ASSAY_CATALOGUE_URL must read postgresql"),
        open_writer(layout, catalogue_url="mysql://x"),
    ):
        pass


def test_a_missing_extension_names_its_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match="pip install duckdb-extension-ducklake=="):
        duckdb_connection.extension_path("ducklake")
