"""What the catalogue says of the values of columns, by which DuckDB leaves rows out of answers, held
against the values.
"""

from collections.abc import Collection, Iterator

import duckdb

from schemas.columns import Column, ColumnType, Table
from schemas.tables import TABLES
from warehouse.connection import every_row_read
from warehouse.definitions import held_columns
from warehouse.lake import one_line
from warehouse.statements import table_statement

_MEND = "bring the catalogue back from a copy"


def false_statistics(
    connection: duckdb.DuckDBPyConnection, filled: Collection[str]
) -> Iterator[str]:
    """A line for each column whose values are not within its statistics: rows that hold them are
    missing in answers.

    Args:
        filled: tables that were ever filled, and can be read.
    """
    held = held_columns(connection)
    with every_row_read(connection):
        for table in TABLES:
            columns = [
                column
                for column in table.columns
                if column.name in held.get(table.name, ()) and column.type is not ColumnType.STRINGS
            ]
            if table.name in filled and columns:
                yield from _of_table(connection, table, columns)


def _of_table(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: list[Column]
) -> Iterator[str]:
    ranges = ", ".join(_range(column, number) for number, column in enumerate(columns))
    compared = " union ".join(
        table_statement("range", column=column.name, number=str(number), type=column.sql_type)
        for number, column in enumerate(columns)
    )
    sql = table_statement("ranges", table=table.name, ranges=ranges, columns=compared)
    try:
        found = connection.execute(sql).fetchall()
    except duckdb.Error as error:
        yield f"{table.name}: its statistics cannot be compared with its values: {one_line(error)}"
        return
    for name in dict.fromkeys(name for name, _ in found):
        yield (
            f"{table.name}.{name}: it holds values that its statistics in the catalogue leave out,"
            f" so that answers lack their rows; {_MEND}"
        )


def _range(column: Column, number: int) -> str:
    name = f'"{column.name}"'
    # NaN is above every number, and no statistics speak of it.
    numbers = f" filter (not isnan({name}))" if column.sql_type == "DOUBLE" else ""
    return (
        f"min({name}){numbers} as low_{number}, max({name}){numbers} as high_{number},"
        f" count({name}) > 0 as values_{number}, count({name}) < count(*) as nulls_{number}"
    )
