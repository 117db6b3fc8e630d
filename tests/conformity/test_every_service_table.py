"""What holds for every table that people and programs fill: a row is there at once, and once.

Tables share the mechanism: the rows of each come back, and one is tried in depth; `make long` tries
the others so.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from schemas.base import Noun, replace
from schemas.columns import Table
from schemas.errors import ConflictError
from schemas.tables import SERVICE_TABLES
from tests.conformity.test_every_table import sample
from tests.support.lakes import change
from tests.support.tiers import some
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.records import fold_into_lake, key_of, record, records_of
from warehouse.lake import rows_in
from warehouse.rows import noun_of
from warehouse.verify.verify import verify
from warehouse.verify.verify_ledger import verify_ledger
from warehouse.warehouse import Warehouse

every_table = pytest.mark.parametrize("table", SERVICE_TABLES, ids=lambda table: table.name)
in_depth = pytest.mark.parametrize(
    "table",
    some(SERVICE_TABLES, lambda table: table is SERVICE_TABLES[0]),
    ids=lambda table: table.name,
)


def row(table: Table, key: str) -> Noun:
    fields = table.noun.model_fields.items()
    values = {name: sample(field.annotation, name) for name, field in fields}
    return replace(table.noun(**values), **{key_of(table): key})


def write(warehouse: Warehouse, table: Table, *keys: str) -> None:
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        for key in keys:
            record(work, table.name, row(table, key))


def in_lake(warehouse: Warehouse, table: Table) -> list[Noun]:
    with warehouse.reader() as connection:
        rows = rows_in(connection, f'from "{table.name}" order by "{key_of(table)}"')
        return [noun_of(table.noun, each) for each in rows]


def test_rows_come_back_at_once_and_from_the_lake_once_they_are_folded(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    for table in SERVICE_TABLES:
        write(warehouse, table, "b", "a")
        with ServiceDatabase(warehouse) as database:
            written = list(records_of(database, table.name, table.noun))
        assert written == [row(table, "b"), row(table, "a")]
    assert fold_into_lake(warehouse) == {table.name: 2 for table in SERVICE_TABLES}
    for table in SERVICE_TABLES:
        assert in_lake(warehouse, table) == [row(table, "a"), row(table, "b")]
        write(warehouse, table, "c")
    assert len(waiting(warehouse)) == len(SERVICE_TABLES)
    assert fold_into_lake(warehouse) == {table.name: 1 for table in SERVICE_TABLES}
    assert fold_into_lake(warehouse) == {}
    for table in SERVICE_TABLES:
        assert in_lake(warehouse, table) == [row(table, key) for key in "abc"]
    assert waiting(warehouse) == []


def waiting(warehouse: Warehouse) -> list[str]:
    """What a sound lake says of rows that are not in it yet."""
    report = verify(warehouse)
    assert report.problems == ()
    return [each for each in report.notices if "wait for the next publication" in each]


@every_table
def test_a_key_is_written_once_and_a_transaction_that_fails_leaves_nothing(
    table: Table, tmp_path: Path
) -> None:
    warehouse = Warehouse(tmp_path)
    write(warehouse, table, "a")
    with pytest.raises(ConflictError):
        write(warehouse, table, "b", "a")
    with ServiceDatabase(warehouse) as database:
        assert list(records_of(database, table.name, table.noun)) == [row(table, "a")]


@in_depth
def test_a_row_of_the_lake_that_is_doubled_or_was_never_recorded_is_named(
    table: Table, tmp_path: Path
) -> None:
    warehouse, name, key = Warehouse(tmp_path), f'"{table.name}"', f'"{key_of(table)}"'
    write(warehouse, table, "a", "b")
    fold_into_lake(warehouse)
    change(warehouse, f"insert into {name} by name from {name} where {key} = 'a'")
    (problem,) = problems(warehouse)
    assert problem.startswith(f"{table.name}: a is in the lake twice")
    change(warehouse, f"delete from {name} where {key} = 'a'")
    assert fold_into_lake(warehouse) == {table.name: 1}
    assert problems(warehouse) == []
    change(warehouse, f"update {name} set {key} = 'forged' where {key} = 'b'")
    assert any("forged in the lake" in problem for problem in problems(warehouse))


CHANGED = {
    "human_votes": ("choice", "second"),
    "requests": ("criteria", "Approve it."),
    "decisions": ("verdict", "rejected"),
    "curation_edits": ("after", "Another value."),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Table], Path]:
    """A lake into which three rows of a table were folded, made once: tests work in copies."""

    @cache
    def made(table: Table) -> Path:
        warehouse = Warehouse(tmp_path_factory.mktemp("sound"))
        write(warehouse, table, "changed", "deleted", "whole")
        fold_into_lake(warehouse)
        assert problems(warehouse) == []
        return warehouse.root

    return made


@in_depth
@pytest.mark.parametrize("places", ["lake", "database", "lake and database"])
def test_rows_changed_deleted_or_forged_in_lake_or_database_are_held_against_the_ledger(
    table: Table, places: str, sound: Callable[[Table], Path], tmp_path: Path
) -> None:
    warehouse = Warehouse(shutil.copytree(sound(table), tmp_path / "w"))
    if "lake" in places:
        falsify_lake(warehouse, table)
    if "database" in places:
        falsify_database(warehouse, table)
    about = dict.fromkeys(("lake", "database"), "")
    for line in problems(warehouse):
        assert line.startswith(f"{table.name}: ")
        about["database" if f" in {services_file(warehouse)}" in line else "lake"] += line
    for place, lines in about.items():
        assert bool(lines) == (place in places)
        if lines:
            assert "changed in" in lines
            assert "is missing in" in lines
            # A row that only the database has is not told from one that waits to be folded.
            assert ("forged in" in lines) == (places != "database")
            assert "whole in" not in lines


def falsify_lake(warehouse: Warehouse, table: Table) -> None:
    name, key, (column, value) = table.name, key_of(table), CHANGED[table.name]
    copied = f"select * replace ('forged' as {key}) from {name} where {key} = 'whole'"
    change(
        warehouse,
        f"update {name} set \"{column}\" = '{value}' where {key} = 'changed'",
        f"delete from {name} where {key} = 'deleted'",
        f"insert into {name} by name {copied}",
    )


def falsify_database(warehouse: Warehouse, table: Table) -> None:
    key, (column, value) = key_of(table), CHANGED[table.name]
    changed = f"json_set(record, '$.{column}', '{value}')"
    with closing(sqlite3.connect(services_file(warehouse), isolation_level=None)) as database:
        database.execute(f"update records set record = {changed} where record_id = 'changed'")
        database.execute("delete from records where record_id = 'deleted'")
        database.execute(
            "insert into records (table_name, record_id, record)"
            f" select table_name, 'forged', json_set(record, '$.{key}', 'forged')"
            " from records where record_id = 'whole'"
        )


@in_depth
def test_a_recorded_row_that_cannot_be_read_is_one_line(table: Table, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    write(warehouse, table, "a")
    fold_into_lake(warehouse)
    with closing(sqlite3.connect(services_file(warehouse), isolation_level=None)) as database:
        database.execute("update records set record = '{\"a\": 1}'")
    assert any(f"{table.name}: a in " in line and "read" in line for line in problems(warehouse))


def problems(warehouse: Warehouse) -> list[str]:
    """What both verifications find, which is the same."""
    in_ledger = verify_ledger(warehouse).problems
    assert set(in_ledger) <= set(verify(warehouse).problems)
    return list(in_ledger)
