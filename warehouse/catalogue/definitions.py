"""Definitions of the lake's tables and marts, applied and checked.

Marts always have this version's SQL: publishers update those of the lake, and readers cover
outdated ones with temporary views.
"""

from collections.abc import Iterable

import duckdb

from schemas.errors import ConfigurationError
from schemas.tables import TABLES
from schemas.text.patterns import linear
from warehouse.catalogue.connection import Connection
from warehouse.statements import MARTS, filled, statement, table_statement

_DUCKLAKE_TYPES = {
    "BIGINT": "int64",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "float64",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "VARCHAR": "varchar",
    "VARCHAR[]": "varchar[]",
}
"""Column types by their names in a DuckLake catalogue."""
_MART_SQL: dict[str, str] = {}
"""SQL of marts as DuckDB formats it, cached."""
_CATALOGUE_SQL: dict[str, str] = {}
"""Catalogue SQL last recognized as that of a mart, cached."""
_INLINED_TABLE = linear(r"ducklake_inlined_(data|delete)_[0-9_]+")
_ROWS_PER_GROUP = 8_192
"""Small row groups, so that one idea's rows are read without those of a thousand others: ten times
as fast as the default of 122,880.
"""


def apply_definitions(connection: Connection) -> None:
    """Create the tables of an empty lake, and update changed marts.

    Runs inside the caller's transaction.

    Raises:
        ConfigurationError: as `check_tables`.
    """
    if not check_tables(connection):
        for table in TABLES:
            connection.execute(table.ddl)
    # Without statistics DuckLake asks for them once per column of every query: 100 ms instead of 10.
    # Inserting and deleting a row creates them.
    rows = connection.execute(statement("tables", "tables_with_statistics")).fetchall()
    for table in TABLES:
        if (table.name,) not in rows:
            connection.execute(table_statement("insert_nothing", table=table.name))
            connection.execute(table_statement("delete_nothing", table=table.name))
    answer = connection.execute(
        "select value from ducklake_options('lake') where option_name = 'parquet_row_group_size'"
    ).fetchall()
    if answer != [(str(_ROWS_PER_GROUP),)]:
        connection.execute(
            f"call ducklake_set_option('lake', 'parquet_row_group_size', {_ROWS_PER_GROUP})"
        )
    for name in outdated_marts(connection):
        connection.execute(f"create or replace view {name} as {statement('marts', name)}")


def check_tables(connection: Connection) -> bool:
    """Return whether the lake has its tables; an empty lake has none.

    Raises:
        ConfigurationError: tables or columns differ from their definitions.
    """
    rows = connection.execute(statement("catalogue", "columns")).fetchall()
    columns = {f"{table}.{column}": kind for table, column, kind in rows}
    defined_columns = {
        f"{table.name}.{column.name}": _DUCKLAKE_TYPES[column.sql_type]
        for table in TABLES
        for column in table.columns
    }
    if columns and columns != defined_columns:
        different_names = {name for name, _ in columns.items() ^ defined_columns.items()}
        name = min(different_names, key=lambda name: (name not in defined_columns, name))
        in_lake, in_assay = columns.get(name, "missing"), defined_columns.get(name, "missing")
        difference = f"{name[:200]} is {in_lake[:80]} in the lake, {in_assay} in Assay"
        raise ConfigurationError(
            # Foreign names may contain line breaks.
            f"the lake does not fit this version of Assay ({difference!r}): use the version that wrote"
            " it, or publish into a new warehouse; if no other version wrote it, bring the"
            " catalogue back from a copy"
        )
    return bool(columns)


def show_marts(connection: Connection) -> bool:
    """Cover outdated marts with temporary views of this connection.

    Returns:
        Whether there were any.
    """
    # All of them, since the lake's own marts read one another.
    marts = MARTS if outdated_marts(connection) else ()
    for name in marts:
        connection.execute(f"create or replace temporary view {name} as {statement('marts', name)}")
    return bool(marts)


def outdated_marts(connection: Connection) -> tuple[str, ...]:
    """Return the marts that are missing or have SQL of another version."""
    lake_sql: dict[str, str | None] = {}
    for name, sql in connection.execute(statement("catalogue", "views")).fetchall():
        lake_sql[name] = None if name in lake_sql else sql  # of two, DuckLake may use either
    return tuple(name for name in MARTS if not _is_mart(connection, name, lake_sql.get(name)))


def check_catalogue(connection: Connection) -> None:
    """Refuse a catalogue with which DuckDB would access other files or run other SQL.

    Raises:
        ConfigurationError: names the entry.
    """
    marts = {"marts": list(MARTS)}
    entries = connection.execute(statement("catalogue", "foreign"), marts).fetchall()
    if entries:
        # Retry: a publication between two reads looks like a later snapshot.
        entries = connection.execute(statement("catalogue", "foreign"), marts).fetchall()
    for kind, name in entries:
        raise foreign_error(kind, name)


def later_rows(tables: Iterable[str], schema: str) -> list[str]:
    """Return SQL that finds rows of snapshots later than the newest.

    DuckLake would read such rows as live, or hide them. One statement per table.

    Args:
        tables: all table names; tables without inlined rows are skipped.
    """
    return [
        filled("catalogue", "later_rows", schema=schema, table=table, column=column)
        for table in tables
        if (match := _INLINED_TABLE.fullmatch(table))
        # Deletions have no end column.
        for column in ("begin_snapshot", *(["end_snapshot"] if match[1] == "data" else []))
    ]


def foreign_error(kind: str, name: object) -> ConfigurationError:
    """Return the error for a catalogue entry that Assay never writes.

    Args:
        name: None if the entry has lost its name.
    """
    return ConfigurationError(
        f"the lake's catalogue holds {kind} {str(name)[:200]!r}, which Assay never writes there:"
        " bring the catalogue back from a copy, and see who may write to it"
    )


def _is_mart(connection: Connection, name: str, sql: str | None) -> bool:
    """Return whether a view has the SQL of a mart, compared as DuckDB formats it."""
    if sql is None:
        return False
    if sql == _CATALOGUE_SQL.get(name):
        return True
    if name not in _MART_SQL:
        _MART_SQL[name] = _formatted_sql(connection, statement("marts", name))
    is_same = _MART_SQL[name] in (sql, _formatted_sql(connection, sql))
    if is_same:
        _CATALOGUE_SQL[name] = sql
    return is_same


def _formatted_sql(connection: Connection, sql: str) -> str:
    """Return a statement as DuckDB formats it; empty if it is invalid."""
    try:
        question = "select json_deserialize_sql(json_serialize_sql($sql))"
        ((text,),) = connection.execute(question, {"sql": sql}).fetchall()
    except duckdb.Error:
        return ""
    return str(text)
