"""The lake's tables and marts by their definitions: made once, and refused where they are others.

Marts are those of this version, whatever SQL the catalogue holds: publishers renew them, and
readers, who leave the lake alone, lay them over it.
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
"""What a DuckLake catalogue calls the types of our columns."""
_MARTS: dict[str, str] = {}
"""The SQL of marts as DuckDB writes it, known after the first look."""
_HELD: dict[str, str] = {}
"""What the last catalogue held for a mart of this version, which need not be rewritten again."""
_INLINED = linear(r"ducklake_inlined_(data|delete)_[0-9_]+")
_ROWS_PER_GROUP = 8_192
"""One idea's rows are found without decompressing those of a thousand others: ten times as fast as
with the usual 122,880.
"""


def apply_definitions(connection: Connection) -> None:
    """Create the tables of an empty lake, and renew changed marts.

    Changes nothing when all is as defined.

    Runs inside the caller's transaction.

    Raises:
        ConfigurationError: as `check_tables`.
    """
    if not check_tables(connection):
        for table in TABLES:
            connection.execute(table.ddl)
    _begin_statistics(connection)
    _set_row_groups(connection)
    for name in outdated_marts(connection):
        connection.execute(f"create or replace view {name} as {statement('marts', name)}")


def check_tables(connection: Connection) -> bool:
    """Return whether the lake has its tables; an empty one has none.

    Raises:
        ConfigurationError: it has other tables, or other columns, than are defined.
    """
    rows = connection.execute(statement("catalogue", "columns")).fetchall()
    columns = {f"{table}.{column}": kind for table, column, kind in rows}
    defined = {
        f"{table.name}.{column.name}": _DUCKLAKE_TYPES[column.sql_type]
        for table in TABLES
        for column in table.columns
    }
    if columns and columns != defined:
        differing = {name for name, _ in columns.items() ^ defined.items()}
        name = min(differing, key=lambda name: (name not in defined, name))
        here, there = columns.get(name, "missing"), defined.get(name, "missing")
        difference = f"{name[:200]} is {here[:80]} in the lake, {there} in Assay"
        raise ConfigurationError(
            # A foreign name may hold line breaks.
            f"the lake does not fit this version of Assay ({difference!r}): use the version that wrote"
            " it, or publish into a new warehouse; if no other version wrote it, bring the"
            " catalogue back from a copy"
        )
    return bool(columns)


def show_marts(connection: Connection) -> bool:
    """Lay temporary views over the lake's marts where they are not those of this version.

    Views are seen by this connection alone, and the lake is not changed.

    Returns:
        Whether there were any.
    """
    # All, since the lake's marts read one another as they are there.
    marts = MARTS if outdated_marts(connection) else ()
    for name in marts:
        connection.execute(f"create or replace temporary view {name} as {statement('marts', name)}")
    return bool(marts)


def outdated_marts(connection: Connection) -> tuple[str, ...]:
    """The marts that the lake lacks, or holds with other SQL than that of this version."""
    held: dict[str, str | None] = {}
    for name, sql in connection.execute(statement("catalogue", "views")).fetchall():
        held[name] = None if name in held else sql  # which of two DuckLake takes is its own affair
    return tuple(name for name in MARTS if not _is_mart(connection, name, held.get(name)))


def check_catalogue(connection: Connection) -> None:
    """Refuse a catalogue with which DuckDB would read or delete other files, or run other SQL.

    Raises:
        ConfigurationError: names what is in it.
    """
    marts = {"marts": list(MARTS)}
    entries = connection.execute(statement("catalogue", "foreign"), marts).fetchall()
    if entries:
        # Again: a publication that ends between two tables seems to be of a later snapshot.
        entries = connection.execute(statement("catalogue", "foreign"), marts).fetchall()
    for kind, name in entries:
        raise foreign_error(kind, name)


def later_rows(tables: Iterable[str], schema: str) -> list[str]:
    """Return statements in SQL of the catalogue's database, each with a row where rows of one of
    its tables begin or end after the newest snapshot: DuckLake takes them for live, or not there yet.

    Args:
        tables: names of tables; those that hold no rows of the lake's tables are passed over.
    """
    return [
        filled("catalogue", "later_rows", schema=schema, table=table, column=column)
        for table in tables
        if (inlined := _INLINED.fullmatch(table))
        # A deletion of a row has no end.
        for column in ("begin_snapshot", *(["end_snapshot"] if inlined[1] == "data" else []))
    ]


def foreign_error(kind: str, name: object) -> ConfigurationError:
    """The error of a catalogue that holds what only somebody else can have written.

    Args:
        name: None: it has lost its name.
    """
    return ConfigurationError(
        f"the lake's catalogue holds {kind} {str(name)[:200]!r}, which Assay never writes there:"
        " bring the catalogue back from a copy, and see who may write to it"
    )


def _is_mart(connection: Connection, name: str, sql: str | None) -> bool:
    """Return whether a view's SQL is that of a mart; a catalogue holds it as DuckDB writes it."""
    if sql is None:
        return False
    if sql == _HELD.get(name):
        return True
    if name not in _MARTS:
        _MARTS[name] = _rewritten(connection, statement("marts", name))
    same = _MARTS[name] in (sql, _rewritten(connection, sql))
    if same:
        _HELD[name] = sql
    return same


def _rewritten(connection: Connection, sql: str) -> str:
    """A statement as DuckDB writes it; empty where it is none."""
    try:
        question = "select json_deserialize_sql(json_serialize_sql($sql))"
        ((text,),) = connection.execute(question, {"sql": sql}).fetchall()
    except duckdb.Error:
        return ""
    return str(text)


def _begin_statistics(connection: Connection) -> None:
    """DuckLake asks for the statistics of a table without any once per column of every question:
    100 ms instead of 10.

    A row that comes and goes within the transaction leaves some behind, and nothing else.
    """
    with_statistics = {
        name
        for (name,) in connection.execute(statement("tables", "tables_with_statistics")).fetchall()
    }
    for table in TABLES:
        if table.name not in with_statistics:
            connection.execute(table_statement("insert_nothing", table=table.name))
            connection.execute(table_statement("delete_nothing", table=table.name))


def _set_row_groups(connection: Connection) -> None:
    answer = connection.execute(
        "select value from ducklake_options('lake') where option_name = 'parquet_row_group_size'"
    ).fetchall()
    if answer != [(str(_ROWS_PER_GROUP),)]:
        connection.execute(
            f"call ducklake_set_option('lake', 'parquet_row_group_size', {_ROWS_PER_GROUP})"
        )
