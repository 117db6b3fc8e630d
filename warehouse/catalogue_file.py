"""The catalogue of a lake in an SQLite file, which is whole or not there."""

import sqlite3
from contextlib import closing
from typing import Any

from warehouse.connection import in_memory
from warehouse.definitions import foreign_error
from warehouse.layout import Layout
from warehouse.statements import quoted, statement

_FILES_OF_A_DATABASE = ("", "-journal", "-wal", "-shm")


def has_catalogue(layout: Layout) -> bool:
    """Return whether the warehouse has a catalogue in a file.

    A half-made file, which a killed earlier version left, counts as none.
    """
    if not layout.catalogue.exists() or not layout.catalogue.stat().st_size:
        return False
    try:
        return _first_row(layout, "is_made") is not None
    except sqlite3.Error:
        return True  # damaged or in use: whoever opens it says so


def refuse_programs(layout: Layout) -> None:
    """Refuse a catalogue whose file holds programs, such as triggers, which DuckLake never writes.

    Raises:
        ConfigurationError: names the first.
    """
    try:
        program = _first_row(layout, "programs")
    except sqlite3.Error:
        return  # damaged or in use: whoever opens it says so
    if program is not None:
        raise foreign_error(f"the {program[0]}", program[1])


def _first_row(layout: Layout, question: str) -> tuple[Any, ...] | None:
    place = f"{layout.catalogue.resolve().as_uri()}?mode=rw"
    with closing(sqlite3.connect(place, uri=True)) as database:
        row: tuple[Any, ...] | None = database.execute(statement("catalogue", question)).fetchone()
    return row


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
