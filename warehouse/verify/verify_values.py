"""Values in the lake that publication refuses."""

from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from schemas.columns import Column, ColumnType, Table
from schemas.tables import TABLES
from warehouse.catalogue.connection import Connection
from warehouse.statements import table_statement
from warehouse.validate.expectations import Expectation, breaks, expectations_of_values

_ROWS_AT_ONCE = 100_000
_MOST_RUNS = 3


def bad_values(connection: Connection, filled: Collection[str]) -> Iterator[str]:
    """A line for each expectation on values that rows of the tables `filled` break."""
    for table in TABLES:
        expectations = list(expectations_of_values(table))
        if table.name in filled and expectations:
            yield from _in_table(connection, table, expectations)


def _in_table(
    connection: Connection, table: Table, expectations: list[Expectation]
) -> Iterator[str]:
    names = dict.fromkeys(name for each in expectations for name in each.columns)
    columns = ", ".join(without_prose(table.column(name)) for name in names)
    has_runs = "run_id" in table.column_names
    run_id = '"run_id"' if has_runs else "''"
    sql = table_statement("columns_of", columns=f"{columns}, {run_id} as of_run", table=table.name)
    counts = dict.fromkeys(expectations, 0)
    runs: dict[Expectation, set[str]] = {each: set() for each in expectations}
    for batch in connection.sql(sql).to_arrow_reader(_ROWS_AT_ONCE):
        rows = pa.Table.from_batches([batch])
        for expectation in expectations:
            broken = rows.filter(breaks(expectation, rows))
            counts[expectation] += len(broken)
            runs[expectation].update(filter(None, pc.unique(broken["of_run"]).to_pylist()))
    for expectation, count in counts.items():
        if count:
            shown = ", ".join(sorted(runs[expectation])[:_MOST_RUNS])
            yield (
                f"{table.name}.{expectation.column_name}: {count:,} rows break {expectation.kind}"
                + (f" (run {shown}): `assay runs delete` takes a run out" if shown else "")
            )


def without_prose(column: Column) -> str:
    """SQL for the values of a column, of prose for the first character alone."""
    name = f'"{column.name}"'
    return f"left({name}, 1) as {name}" if column.type is ColumnType.TEXT else name
