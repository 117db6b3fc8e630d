"""Brings the lake's tables and marts in line with their definitions; a definition that grew adds
columns to old tables.

Publishers change the lake. Readers leave it alone and are shown what it lacks as empty.
"""

from collections.abc import Mapping

import duckdb

from schemas.columns import Table
from schemas.errors import ConfigurationError
from schemas.tables import TABLES
from warehouse.statements import MARTS, statement, table_statement

_MARTS: dict[str, str] = {}
"""The SQL of marts as DuckDB writes it, known after the first look."""
_ROWS_PER_GROUP = 8_192
"""One idea's rows are found without decompressing those of a thousand others: ten times as fast as
with the usual 122,880.
"""


def apply_definitions(connection: duckdb.DuckDBPyConnection) -> None:
    """Create missing tables, add missing columns, renew changed marts.

    Changes nothing when all is as defined.

    Runs inside the caller's transaction.

    Raises:
        ConfigurationError: a column of the lake has another type than its definition.
    """
    found = _column_types(connection)
    grew = (
        len([table for table in TABLES if _apply_table(connection, table, found.get(table.name))])
        > 0
    )
    _begin_statistics(connection)
    _set_row_groups(connection)
    for name in MARTS if grew else outdated_marts(connection):
        connection.execute(f"create or replace view {name} as {statement('marts', name)}")


def show_as_defined(connection: duckdb.DuckDBPyConnection) -> bool:
    """Lay temporary views over what the lake of an earlier version lacks, until the next
    publication brings it in line.

    Missing tables are empty, missing columns NULL, marts those of this version. Views are seen by
    this connection alone, and the lake is not changed.

    Returns:
        Whether anything was lacking.
    """
    found = held_columns(connection)
    lacking = [
        table for table in TABLES if not found.get(table.name, set()) >= set(table.column_names)
    ]
    for table in lacking:
        connection.execute(
            f'create or replace temporary view "{table.name}" as'
            f" {_completed(table, found.get(table.name))}"
        )
    # All, since the lake's marts read one another as they are there.
    marts = MARTS if lacking or outdated_marts(connection) else ()
    for name in marts:
        connection.execute(f"create or replace temporary view {name} as {statement('marts', name)}")
    return bool(lacking or marts)


def held_columns(connection: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """The tables that the lake itself holds, with the names of their columns; of an earlier
    version fewer than are defined now.
    """
    tables: dict[str, set[str]] = {}
    for table_name, column_name in connection.execute(statement("catalogue", "columns")).fetchall():
        tables.setdefault(table_name, set()).add(column_name)
    return tables


def _completed(table: Table, found: set[str] | None) -> str:
    """The rows of the lake's table with every column of its definition."""
    columns = ", ".join(
        (
            f'"{column.name}"'
            if column.name in (found or ())
            else f'null::{column.sql_type} as "{column.name}"'
        )
        for column in table.columns
    )
    return f"select {columns} " + ("where false" if found is None else f'from lake."{table.name}"')


def outdated_marts(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """The marts that the lake lacks, or holds with other SQL than that of this version."""
    held: dict[str, str | None] = {}
    for name, sql in connection.execute(statement("catalogue", "views")).fetchall():
        held[name] = None if name in held else sql  # which of two DuckLake takes is its own affair
    return tuple(name for name in MARTS if not _is_mart(connection, name, held.get(name)))


def check_catalogue(connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a catalogue with which DuckDB would read or delete other files, or run other SQL.

    Raises:
        ConfigurationError: names what is in it.
    """
    marts = {"marts": list(MARTS)}
    found = connection.execute(statement("catalogue", "foreign"), marts).fetchall()
    if found:
        # Again: a publication that ends between two tables seems to be of a later snapshot.
        found = connection.execute(statement("catalogue", "foreign"), marts).fetchall()
    for kind, name in found:
        raise foreign_error(kind, name)


def foreign_error(kind: str, name: object) -> ConfigurationError:
    """The error of a catalogue that holds what only somebody else can have written.

    Args:
        name: None: it has lost its name.
    """
    return ConfigurationError(
        f"the lake's catalogue holds {kind} {str(name)[:200]!r}, which Assay never writes there:"
        " bring the catalogue back from a copy, and see who may write to it"
    )


def _is_mart(connection: duckdb.DuckDBPyConnection, name: str, sql: str | None) -> bool:
    """Whether a view's SQL is that of a mart; a catalogue holds it as DuckDB writes it."""
    if sql is None:
        return False
    if name not in _MARTS:
        _MARTS[name] = _rewritten(connection, statement("marts", name))
    return _MARTS[name] in (sql, _rewritten(connection, sql))


def _rewritten(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """A statement as DuckDB writes it; empty where it is none."""
    try:
        question = "select json_deserialize_sql(json_serialize_sql($sql))"
        ((text,),) = connection.execute(question, {"sql": sql}).fetchall()
    except duckdb.Error:
        return ""
    return str(text)


def _column_types(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    rows = connection.execute(
        "select table_name, column_name, data_type from duckdb_columns() where database_name ="
        " 'lake'"
    ).fetchall()
    tables: dict[str, dict[str, str]] = {}
    for table_name, column_name, data_type in rows:
        tables.setdefault(table_name, {})[column_name] = data_type
    return tables


def _apply_table(
    connection: duckdb.DuckDBPyConnection, table: Table, found: dict[str, str] | None
) -> bool:
    """Returns whether an existing table grew."""
    if found is None:
        connection.execute(table.ddl)
        return False
    missing = [column for column in table.columns if column.name not in found]
    for column in missing:
        connection.execute(
            f'alter table "{table.name}" add column "{column.name}" {column.sql_type}'
        )
    if (retyped := _retyped(table, found)) is not None:
        raise ConfigurationError(
            f"{retyped}: publish into a new warehouse, or give the column a new name"
        )
    return bool(missing)


def retyped_tables(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The tables that the lake holds with a column of another type than defined: what says so."""
    found = _column_types(connection)
    told = {table.name: _retyped(table, found.get(table.name, {})) for table in TABLES}
    return {name: line for name, line in told.items() if line is not None}


def _retyped(table: Table, found: Mapping[str, str]) -> str | None:
    for column in table.columns:
        if found.get(column.name, column.sql_type) != column.sql_type:
            return (
                f"{table.name}.{column.name} is {found[column.name]} in the lake and"
                f" {column.sql_type} in its definition"
            )
    return None


def _begin_statistics(connection: duckdb.DuckDBPyConnection) -> None:
    """DuckLake asks for the statistics of a table without any once per column of every question:
    100 ms instead of 10.

    A row that comes and goes within the transaction leaves some behind, and nothing else.
    """
    known = {
        name
        for (name,) in connection.execute(statement("tables", "tables_with_statistics")).fetchall()
    }
    for table in TABLES:
        if table.name not in known:
            connection.execute(table_statement("insert_nothing", table=table.name))
            connection.execute(table_statement("delete_nothing", table=table.name))


def _set_row_groups(connection: duckdb.DuckDBPyConnection) -> None:
    answer = connection.execute(
        "select value from ducklake_options('lake') where option_name = 'parquet_row_group_size'"
    ).fetchall()
    if answer != [(str(_ROWS_PER_GROUP),)]:
        connection.execute(
            f"call ducklake_set_option('lake', 'parquet_row_group_size', {_ROWS_PER_GROUP})"
        )
