"""What the catalogue says of the values of columns, by which DuckDB leaves rows out of answers, held
against the values.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime
from typing import Any

import duckdb

from schemas.columns import Column, ColumnType, Table
from schemas.tables import TABLES
from warehouse.connection import every_row_read
from warehouse.definitions import held_columns
from warehouse.lake import one_line, rows_in
from warehouse.rows import Row
from warehouse.statements import statement, table_statement

_READ: Mapping[ColumnType, Callable[[str], Any]] = {
    ColumnType.STRING: str,
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.FLOAT: float,
    ColumnType.BOOLEAN: lambda told: told in ("1", "true"),  # files and tables differ
    ColumnType.DATE: date.fromisoformat,
    ColumnType.TIMESTAMP: datetime.fromisoformat,
}
"""How DuckLake writes the least and the largest value; of lists it keeps none."""


def false_statistics(
    connection: duckdb.DuckDBPyConnection, filled: Collection[str]
) -> Iterator[str]:
    """A line for each column whose values are not within its statistics: rows that hold them are
    missing in answers.

    Args:
        filled: tables that were ever filled, and can be read.
    """
    held = held_columns(connection)
    told: dict[str, list[Row]] = {}
    for row in rows_in(connection, statement("catalogue", "statistics")):
        told.setdefault(row["table_name"], []).append(row)
    with every_row_read(connection):
        for table in TABLES:
            columns = [
                column
                for column in table.columns
                if column.name in held.get(table.name, ()) and column.type in _READ
            ]
            if table.name in filled and columns and table.name in told:
                yield from _of_table(connection, table, columns, told[table.name])


def _of_table(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: list[Column], told: list[Row]
) -> Iterator[str]:
    ranges = ", ".join(_range(column, number) for number, column in enumerate(columns))
    try:
        found = rows_in(connection, table_statement("ranges", table=table.name, ranges=ranges))
    except duckdb.Error as error:
        yield f"{table.name}: its statistics cannot be compared with its values: {one_line(error)}"
        return
    for number, column in enumerate(columns):
        about = [row for row in told if row["column_name"] == column.name]
        if any(
            not _holds(row, column, number, values)
            for row in about
            for values in found
            if row["file"] in (None, values["file"])
        ):
            yield (
                f"{table.name}.{column.name}: it holds values that its statistics in the catalogue"
                " leave out, so that answers lack their rows; bring the catalogue back from a copy"
            )


def _range(column: Column, number: int) -> str:
    name = f'"{column.name}"'
    return (
        f"min({name}) as low_{number}, max({name}) as high_{number},"
        f" count({name}) < count(*) as nulls_{number}"
    )


def _holds(told: Row, column: Column, number: int, values: Row) -> bool:
    """Whether statistics of a column tell of all its values in a file."""
    low, high = values[f"low_{number}"], values[f"high_{number}"]
    if values[f"nulls_{number}"] and told["has_nulls"] is False:
        return False
    if low is None:
        return True
    if told["has_values"] is False:
        return False
    read = _READ[column.type]
    try:
        return (told["min_value"] is None or read(told["min_value"]) <= low) and (
            # NaN is above every number, and no statistics speak of it.
            told["max_value"] is None
            or read(told["max_value"]) >= high
            or (isinstance(high, float) and math.isnan(high))
        )
    except (TypeError, ValueError):  # nothing that DuckLake writes
        return False
