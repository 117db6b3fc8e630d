"""Brings the lake's tables and marts in line with their definitions; a definition that grew adds columns to old tables."""

import hashlib

import duckdb

from schemas.columns import Table
from schemas.errors import ConfigurationError
from schemas.tables import TABLES
from warehouse.statements import MARTS, quoted, statement


def apply_definitions(connection: duckdb.DuckDBPyConnection) -> None:
    """Create missing tables, add missing columns, renew changed marts. Changes nothing when all is as defined.

    Runs inside the caller's transaction.

    Raises:
        ConfigurationError: a column of the lake has another type than its definition.
    """
    found = _columns(connection)
    grew = len([table for table in TABLES if _apply_table(connection, table, found.get(table.name))]) > 0
    made = dict(connection.execute("select view_name, comment from duckdb_views() where database_name = 'lake'").fetchall())
    for name in MARTS:
        sql = statement("marts", name)
        version = hashlib.sha256(sql.encode()).hexdigest()[:16]
        if grew or made.get(name) != version:
            connection.execute(f"create or replace view {name} as {sql}")
            connection.execute(f"comment on view {name} is {quoted(version)}")


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    rows = connection.execute("select table_name, column_name, data_type from duckdb_columns() where database_name = 'lake'").fetchall()
    tables: dict[str, dict[str, str]] = {}
    for table_name, column_name, data_type in rows:
        tables.setdefault(table_name, {})[column_name] = data_type
    return tables


def _apply_table(connection: duckdb.DuckDBPyConnection, table: Table, found: dict[str, str] | None) -> bool:
    """Returns whether an existing table grew."""
    if found is None:
        connection.execute(table.ddl)
        return False
    missing = [column for column in table.columns if column.name not in found]
    for column in missing:
        connection.execute(f'alter table "{table.name}" add column "{column.name}" {column.sql_type}')
    for column in table.columns:
        if found.get(column.name, column.sql_type) != column.sql_type:
            raise ConfigurationError(
                f"{table.name}.{column.name} is {found[column.name]} in the lake and {column.sql_type} in its definition: "
                "publish into a new warehouse, or give the column a new name"
            )
    return bool(missing)
