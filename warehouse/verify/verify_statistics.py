"""Verification of column statistics, by which DuckDB skips rows."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from schemas.columns import Column, ColumnType, Table
from schemas.tables import TABLES
from warehouse.catalogue.connection import Connection, read_every_row
from warehouse.lake import one_line, one_snapshot, rows_in
from warehouse.rows import Row
from warehouse.statements import statement, table_statement
from warehouse.validate.expectations import Expectation, breaks, expectations_of_values

_ORDERED_TYPES = (ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP)
"""Types whose least and largest values DuckLake returns without reading files."""
_BOOLEANS = {"0": False, "false": False, "1": True, "true": True}
"""Spellings in statistics of files and of tables; DuckLake writes no others."""


def false_statistics(connection: Connection, readable_tables: Collection[str]) -> Iterator[str]:
    """Yield a line for each column whose values are outside its statistics.

    Queries would skip such rows, or return a wrong least or largest value.

    Args:
        readable_tables: readable tables that were ever filled.
    """
    statistics_of: dict[str, list[Row]] = {}
    for row in rows_in(connection, statement("catalogue", "statistics")):
        statistics_of.setdefault(row["table_name"], []).append(row)
    for table in TABLES:
        columns = [
            column
            for column in table.columns
            # DuckLake stores no statistics of lists.
            if column.type is not ColumnType.STRINGS
        ]
        if table.name in readable_tables and table.name in statistics_of:
            yield from _of_table(connection, table, columns, statistics_of[table.name])


def _of_table(
    connection: Connection, table: Table, columns: list[Column], statistics: list[Row]
) -> Iterator[str]:
    ranges = ", ".join(_range(column, number) for number, column in enumerate(columns))
    try:
        with read_every_row(connection):
            by_file = rows_in(
                connection, table_statement("ranges", table=table.name, ranges=ranges)
            )
        wrong_columns = _wrong_answers(connection, table, columns)
    except duckdb.Error as error:
        yield f"{table.name}: its statistics cannot be compared with its values: {one_line(error)}"
        return
    for number, column in enumerate(columns):
        column_statistics = [row for row in statistics if row["column_name"] == column.name]
        bounds = _values(connection, column, column_statistics)
        if any(
            not _covers(row, bounds, number, values)
            for row in column_statistics
            for values in by_file
            if row["file"] in (None, values["file"])
        ):
            yield (
                f"{table.name}.{column.name}: it holds values that its statistics in the catalogue"
                " leave out, so that answers lack their rows; bring the catalogue back from a copy"
            )

    for name in wrong_columns:
        yield (
            f"{table.name}.{name}: by its statistics in the catalogue a question for its least or"
            " largest value is answered wrong; bring the catalogue back from a copy"
        )


def _wrong_answers(connection: Connection, table: Table, columns: list[Column]) -> list[str]:
    """Return the columns whose least or largest value differs between catalogue and rows."""
    names = [column.name for column in columns if column.type in _ORDERED_TYPES]
    if not names:
        return []
    # Separate subqueries: one column without statistics would disable them for all.
    answers = ", ".join(
        table_statement("least_and_largest", table=table.name, column=name) for name in names
    )
    sql = f"select {answers}"
    with one_snapshot(connection):
        (by_catalogue,) = rows_in(connection, sql)
        with read_every_row(connection):
            (by_rows,) = rows_in(connection, sql)
    return [name for name in names if by_catalogue[name] != by_rows[name]]


def _range(column: Column, number: int) -> str:
    name = f'"{column.name}"'
    return (
        f"min({name}) as low_{number}, max({name}) as high_{number},"
        f" count({name}) < count(*) as nulls_{number}"
    )


def _values(connection: Connection, column: Column, rows: list[Row]) -> Mapping[str | None, Any]:
    """Return the values of the texts in statistics, as DuckDB reads them."""
    texts = list({row[name] for row in rows for name in ("min_value", "max_value")} - {None})
    if column.type in (ColumnType.STRING, ColumnType.TEXT):
        return dict(zip(texts, texts, strict=True))
    if column.type is ColumnType.BOOLEAN:
        return {text: _BOOLEANS.get(text) for text in texts}
    sql = f"select each, try_cast(each as {column.sql_type}) from unnest($texts) as t(each)"  # noqa: S608 -- a type of ours
    return dict(connection.execute(sql, {"texts": texts}).fetchall())


def _covers(statistics: Row, bounds: Mapping[str | None, Any], number: int, values: Row) -> bool:
    """Return whether the statistics of a column cover its values in a file.

    Args:
        bounds: the value of each text in the statistics.
    """
    low, high = values[f"low_{number}"], values[f"high_{number}"]
    if values[f"nulls_{number}"] and statistics["has_nulls"] is False:
        return False
    if low is None:
        return True
    if statistics["has_values"] is False:
        return False
    try:
        return (statistics["min_value"] is None or bounds[statistics["min_value"]] <= low) and (
            # NaN is above every number, and statistics ignore it.
            statistics["max_value"] is None
            or bounds[statistics["max_value"]] >= high
            or (isinstance(high, float) and math.isnan(high))
        )
    except TypeError:  # None: a text that DuckLake never writes
        return False


_ROWS_AT_ONCE = 100_000
_MOST_RUNS = 3


def bad_values(connection: Connection, readable_tables: Collection[str]) -> Iterator[str]:
    """Yield a line for each expectation on values that rows of `readable_tables` break."""
    for table in TABLES:
        expectations = list(expectations_of_values(table))
        if table.name in readable_tables and expectations:
            yield from _broken_values(connection, table, expectations)


def _broken_values(
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
            broken_rows = rows.filter(breaks(expectation, rows))
            counts[expectation] += len(broken_rows)
            runs[expectation].update(filter(None, pc.unique(broken_rows["of_run"]).to_pylist()))
    for expectation, count in counts.items():
        if count:
            run_names = ", ".join(sorted(runs[expectation])[:_MOST_RUNS])
            yield (
                f"{table.name}.{expectation.column_name}: {count:,} rows break {expectation.kind}"
                + (f" (run {run_names}): `assay runs delete` takes a run out" if run_names else "")
            )


def without_prose(column: Column) -> str:
    """Return SQL for a column, of prose for its first character only."""
    name = f'"{column.name}"'
    return f"left({name}, 1) as {name}" if column.type is ColumnType.TEXT else name
