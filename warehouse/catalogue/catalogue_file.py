"""Catalogue of a lake in an SQLite file, and the lock of its publisher."""

import os
import socket
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from schemas.errors import ConfigurationError, TransientError
from schemas.text.patterns import IGNORECASE, linear
from warehouse.catalogue.connection import in_memory
from warehouse.catalogue.definitions import foreign_error, later_rows
from warehouse.catalogue.sqlite_file import refuse_foreign_journal
from warehouse.layout import Layout
from warehouse.statements import quoted, statement

_FILES_OF_A_DATABASE = ("", "-journal", "-wal", "-shm")
_BUSY_SECONDS = 30
"""DuckDB's own timeout, so that nothing is opened that could not be checked."""
_POLL_SECONDS = 0.1
_KINDS = ("table", "index", "view", "trigger")
_FIRST_ROOT = 2
"""Page of the first table: SQLite's schema is on page 1, and virtual tables have none."""
_KEYS = {
    "ducklake_snapshot": "snapshot_id",
    "ducklake_snapshot_changes": "snapshot_id",
    "ducklake_schema": "schema_id",
    "ducklake_data_file": "data_file_id",
    "ducklake_delete_file": "delete_file_id",
}
"""Primary keys of DuckLake. SQLite answers queries on a key from its index alone: an index on any
other column could hide rows from the checks.
"""
_INDICES = frozenset(f"sqlite_autoindex_{table}_1" for table in _KEYS)
_COLUMN = r'(?:"[^"]+"|[a-z0-9_]+) (?:BIGINT|BLOB|DOUBLE|VARCHAR)(?: NOT NULL)?'
_ROW_NUMBER = linear(r'[(,] ?"?(?:rowid|oid|_rowid_)[ "]', IGNORECASE)
"""A column of such a name would hide the row number by which DuckDB reads a table."""
_TABLE = linear(
    rf"CREATE TABLE (ducklake_[a-z0-9_]+)\((?:([a-z_]+) BIGINT PRIMARY KEY, )?"
    rf"{_COLUMN}(?:, {_COLUMN})*\)"
)
"""Definition of a table as DuckDB writes it: names, types and a primary key, nothing else."""


@contextmanager
def publisher_lock(path: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock until the block or the process ends; the file names the holder.

    Raises:
        TransientError: another process held it for `wait_seconds`.
    """
    lock = FileLock(path, wait_seconds, poll_interval=_POLL_SECONDS, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        holder = path.read_text("utf-8") or "another process"
        raise TransientError(
            f"{holder} is publishing to {path.parent}: try again when it has finished"
        ) from None
    try:
        path.write_text(f"process {os.getpid()} on {socket.gethostname()}", "utf-8")
        yield
    finally:
        lock.release()


def has_catalogue(layout: Layout) -> bool:
    return layout.catalogue.exists()


def refuse_programs(layout: Layout) -> None:
    """Refuse a catalogue file with anything but DuckLake's tables.

    SQLite would run a trigger or view while DuckDB reads or writes the file.

    Raises:
        ConfigurationError: names the first such entry; or the file cannot be read or is damaged.
    """
    try:
        refuse_foreign_journal(layout.catalogue)
        place = f"{layout.catalogue.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS)) as database:
            # Show invalid UTF-8 instead of failing.
            database.text_factory = lambda text: text.decode(errors="replace")
            database.execute("begin")  # read one state
            entries = database.execute(statement("catalogue", "entries")).fetchall()
            _refuse_other_entries(entries)
            # 3 ms per MB of the catalogue; stops at the first fault.
            ((fault,),) = database.execute("pragma integrity_check(1)").fetchall()
            later = [
                row
                for sql in later_rows((str(name) for _, name, _, _ in entries), "main")
                for row in database.execute(sql).fetchall()
            ]
    except sqlite3.Error as error:
        raise ConfigurationError(
            f"the lake's catalogue {layout.catalogue} cannot be opened: {error}"
        ) from None
    for (table,) in later:
        raise foreign_error("the row of a later snapshot in", table)
    if fault != "ok":
        raise ConfigurationError(
            f"the lake's catalogue {layout.catalogue} is damaged, so that rows may be missing in"
            f" answers ({str(fault).splitlines()[-1][:200]}): bring it back from a copy"
        )


def _refuse_other_entries(entries: Sequence[tuple[object, object, object, object]]) -> None:
    """Refuse entries that are neither DuckLake tables nor their primary key indexes."""
    root_pages = set[object]()
    for kind, name, root_page, sql in entries:
        if root_page in root_pages or not _is_ducklake_entry(kind, name, root_page, sql):
            raise foreign_error(f"the {kind if kind in _KINDS else 'entry'}", name)
        root_pages.add(root_page)


def _is_ducklake_entry(kind: object, name: object, root_page: object, sql: object) -> bool:
    """Return whether an entry is a DuckLake table or the index of its primary key."""
    if not isinstance(name, str) or not isinstance(root_page, int) or root_page < _FIRST_ROOT:
        return False
    if kind == "index":
        return sql is None and name in _INDICES
    definition = _TABLE.fullmatch(sql) if kind == "table" and isinstance(sql, str) else None
    return (
        definition is not None
        and (definition[1], definition[2]) == (name, _KEYS.get(name))
        and not _ROW_NUMBER.search(definition[0])
    )


def make_catalogue(layout: Layout, data_path: str) -> None:
    """Create the catalogue of an empty lake, under the publisher's lock.

    Raises:
        duckdb.Error: it could not be written.
    """
    # A killed process leaves this file, which the next one removes.
    building = layout.catalogue.with_name("building.sqlite")
    for path in (building, layout.catalogue):
        for suffix in _FILES_OF_A_DATABASE:
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    with in_memory("sqlite_scanner", "ducklake") as connection:
        address = quoted(f"ducklake:sqlite:{building.resolve()}")
        connection.execute(f"attach {address} as lake (data_path {quoted(data_path)})")
    building.replace(layout.catalogue)
