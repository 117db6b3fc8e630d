"""The catalogue of a lake in an SQLite file, which is whole or not there."""

import sqlite3
from contextlib import closing

from schemas.errors import ConfigurationError
from schemas.text.patterns import IGNORECASE, linear
from warehouse.catalogue.connection import in_memory
from warehouse.catalogue.definitions import foreign_error
from warehouse.catalogue.sqlite_file import refuse_foreign_journal
from warehouse.layout import Layout
from warehouse.statements import quoted, statement

_FILES_OF_A_DATABASE = ("", "-journal", "-wal", "-shm")
_BUSY_SECONDS = 30
"""As long as DuckDB waits, so that nothing is opened that could not be checked."""
_KINDS = ("table", "index", "view", "trigger")
_FIRST_ROOT = 2
"""The page of the first table: SQLite's own list is on page 1, and virtual tables have none."""
_COLUMN = r'(?:"[^"]+"|[a-z0-9_]+) (?:BIGINT|BLOB|DOUBLE|VARCHAR)(?: NOT NULL| PRIMARY KEY)?'
_ROW_NUMBER = linear(r'[(,] ?"?(?:rowid|oid|_rowid_)[ "]', IGNORECASE)
"""A column of one of these names hides the number by which DuckDB reads the rows of a table."""
_TABLE = linear(rf"CREATE TABLE (ducklake_[a-z0-9_]+)\({_COLUMN}(?:, {_COLUMN})*\)")
"""The statement of a table as DuckDB writes it: names, types and primary keys, nothing else."""


def has_catalogue(layout: Layout) -> bool:
    """Return whether the warehouse has a catalogue in a file.

    A half-made file, which a killed earlier version left, counts as none.
    """
    if not layout.catalogue.exists() or not layout.catalogue.stat().st_size:
        return False
    try:
        with closing(_opened(layout)) as database:
            return database.execute(statement("catalogue", "is_made")).fetchone() is not None
    except sqlite3.Error:
        return True  # damaged or in use: whoever opens it says so


def refuse_programs(layout: Layout) -> None:
    """Refuse a catalogue whose file holds anything but the tables that DuckLake makes, such as a
    trigger, which SQLite would run while DuckDB reads or writes the file.

    Raises:
        ConfigurationError: names the first, or the file cannot be read to the end.
    """
    try:
        with closing(_opened(layout)) as database:
            entries = database.execute(statement("catalogue", "entries")).fetchall()
    except sqlite3.Error as error:
        raise ConfigurationError(
            f"the lake's catalogue {layout.catalogue} cannot be opened: {error}"
        ) from None
    for kind, name, root_page, sql in entries:
        if not _is_ducklakes(kind, name, root_page, sql):
            raise foreign_error(f"the {kind if kind in _KINDS else 'entry'}", name)


def _is_ducklakes(kind: object, name: object, root_page: object, sql: object) -> bool:
    """Whether an entry is a table as DuckLake makes it, or the index of a primary key."""
    if not isinstance(name, str) or not isinstance(root_page, int) or root_page < _FIRST_ROOT:
        return False
    if kind == "index":
        return sql is None
    made = _TABLE.fullmatch(sql) if kind == "table" and isinstance(sql, str) else None
    return made is not None and made[1] == name and not _ROW_NUMBER.search(made[0])


def _opened(layout: Layout) -> sqlite3.Connection:
    refuse_foreign_journal(layout.catalogue)
    place = f"{layout.catalogue.resolve().as_uri()}?mode=rw"
    database = sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS)
    # What is no UTF-8 is shown; a value of another type than text keeps it.
    database.text_factory = lambda text: text.decode(errors="replace")
    return database


def make_catalogue(layout: Layout, data_path: str) -> None:
    """Create the catalogue of an empty lake, under the publisher's lock.

    Raises:
        duckdb.Error: it could not be written.
    """
    # A process killed meanwhile leaves a file of this name, which the next one removes.
    building = layout.catalogue.with_name("building.sqlite")
    for path in (building, layout.catalogue):
        for suffix in _FILES_OF_A_DATABASE:
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    with in_memory("sqlite_scanner", "ducklake") as connection:
        address = quoted(f"ducklake:sqlite:{building.resolve()}")
        connection.execute(f"attach {address} as lake (data_path {quoted(data_path)})")
    building.replace(layout.catalogue)
