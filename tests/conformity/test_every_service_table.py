"""What holds for every table that people and programs fill: a row is there at once, and once."""

from pathlib import Path

import pytest

from schemas.base import Noun, replace
from schemas.columns import Table
from schemas.errors import ConflictError
from schemas.tables import SERVICE_TABLES
from tests.conformity.test_every_table import sample
from warehouse.dictionary import data_dictionary
from warehouse.lake import open_reader, open_writer, rows_in
from warehouse.layout import Layout
from warehouse.rows import noun_of
from warehouse.services.database import ServiceDatabase
from warehouse.services.records import fold_into_lake, key_of, record, recorded
from warehouse.verify import verify

EVERY = pytest.mark.parametrize("table", SERVICE_TABLES, ids=lambda table: table.name)
pytestmark = EVERY


def row(table: Table, key: str) -> Noun:
    fields = table.noun.model_fields.items()
    values = {name: sample(field.annotation, name) for name, field in fields}
    return replace(table.noun(**values), **{key_of(table): key})


def write(layout: Layout, table: Table, *keys: str) -> None:
    with ServiceDatabase(layout) as database, database.transaction() as work:
        for key in keys:
            record(work, table.name, row(table, key))


def in_lake(layout: Layout, table: Table) -> list[Noun]:
    with open_reader(layout) as connection:
        rows = rows_in(connection, f'from "{table.name}" order by "{key_of(table)}"')
        return [noun_of(table.noun, each) for each in rows]


def test_a_row_comes_back_at_once_and_from_the_lake_once_it_is_folded(
    table: Table, tmp_path: Path
) -> None:
    layout = Layout(tmp_path)
    write(layout, table, "b", "a")
    with ServiceDatabase(layout) as database:
        assert list(recorded(database, table.name, table.noun)) == [
            row(table, "b"),
            row(table, "a"),
        ]
    assert fold_into_lake(layout) == {table.name: 2}
    assert in_lake(layout, table) == [row(table, "a"), row(table, "b")]
    write(layout, table, "c")
    report = verify(layout)
    assert (report.sound, len(report.notices)) == (True, 1)
    assert fold_into_lake(layout) == {table.name: 1}
    assert fold_into_lake(layout) == {}
    assert in_lake(layout, table) == [row(table, key) for key in "abc"]
    report = verify(layout)
    assert (report.problems, report.notices) == ((), ())


def test_a_key_is_written_once_and_a_transaction_that_fails_leaves_nothing(
    table: Table, tmp_path: Path
) -> None:
    layout = Layout(tmp_path)
    write(layout, table, "a")
    with pytest.raises(ConflictError):
        write(layout, table, "b", "a")
    with ServiceDatabase(layout) as database:
        assert list(recorded(database, table.name, table.noun)) == [row(table, "a")]


def test_a_row_of_the_lake_that_is_doubled_or_was_never_recorded_is_found(
    table: Table, tmp_path: Path
) -> None:
    layout, name, key = Layout(tmp_path), f'"{table.name}"', f'"{key_of(table)}"'
    write(layout, table, "a", "b")
    fold_into_lake(layout)
    change(layout, f"insert into {name} by name from {name} where {key} = 'a'")
    assert any(f"{table.name}: the rows" in problem for problem in verify(layout).problems)
    change(layout, f"delete from {name} where {key} = 'a'")
    assert fold_into_lake(layout) == {table.name: 1}
    assert verify(layout).sound
    change(layout, f"update {name} set {key} = 'forged' where {key} = 'b'")
    assert any("never recorded" in problem for problem in verify(layout).problems)


def change(layout: Layout, sql: str) -> None:
    with open_writer(layout) as connection:
        connection.execute(sql)


def test_it_is_documented(table: Table) -> None:
    assert f"### `{table.name}`" in data_dictionary()
