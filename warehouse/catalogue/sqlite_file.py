"""SQLite files, checked for rollback journals that somebody else may have written."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemas.errors import ConfigurationError, DiskFullError, TransientError, full_disk
from schemas.text.plain_files import PlainFileError, open_file
from warehouse.statements import statement

BUSY_TIMEOUT_SECONDS = 60.0
_MAGIC = bytes.fromhex("d9d505f920a163d7")
_LEAST_RECORD_BYTES = 16
"""End of a super-journal record: length of its name, checksum and magic number."""


def connect(database: Path, **options: Any) -> sqlite3.Connection:
    """Open an SQLite file; the options are those of `sqlite3.connect`.

    Raises:
        ConfigurationError: as `refuse_foreign_journal` and `refuse_foreign_programs`.
    """
    refuse_foreign_journal(database)
    connection: sqlite3.Connection = sqlite3.connect(database, **options)
    refuse_foreign_programs(connection, database)
    return connection


def open_wal(path: Path, script: str) -> sqlite3.Connection:
    """Open a WAL database for threads, and run `script`, which creates its tables.

    Raises:
        ConfigurationError: as `connect`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(
        path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        into_wal(connection)
        connection.executescript(script)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def into_wal(connection: sqlite3.Connection) -> None:
    """Switch a database to WAL.

    SQLite does not wait for locks during the switch, so it is retried for processes that open a new
    file concurrently.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def database_errors(title: str, remedy: str) -> Iterator[None]:
    """Turn SQLite errors into errors of one line.

    Args:
        title: names the file.
        remedy: what to do if it is damaged.

    Raises:
        ConfigurationError: the file is damaged or cannot be opened.
        DiskFullError: there is no space for it.
        TransientError: other processes locked it for longer than a minute.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise TransientError(
                f"{title} stayed locked by other processes for {BUSY_TIMEOUT_SECONDS:.0f} s"
            ) from error
        if line := full_disk(error):
            raise DiskFullError(line) from error
        raise ConfigurationError(
            f"{title} cannot be used ({error}): make its folder writable"
        ) from error
    except sqlite3.DatabaseError as error:
        raise ConfigurationError(f"{title} is damaged ({error}): {remedy}") from error
    except OSError as error:
        raise ConfigurationError(
            f"{title} cannot be opened ({error.strerror}): choose a writable folder"
        ) from error


def refuse_foreign_programs(connection: sqlite3.Connection, database: Path) -> None:
    """Refuse and close a file with a trigger, view or virtual table.

    Assay creates none, and SQLite would run them on access.

    Raises:
        ConfigurationError: names the first.
        sqlite3.Error: the file cannot be read.
    """
    try:
        program = connection.execute(statement("catalogue", "programs")).fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    if program is not None:
        connection.close()
        kind, name = (str(each)[:100] for each in program)
        raise ConfigurationError(
            f"{database} holds the {kind} {name!r}, which Assay never makes there: bring the file"
            " back from a copy, or move it away, and see who may write to it"
        )


def refuse_foreign_journal(database: Path) -> None:
    """Refuse a journal that makes SQLite delete another file; call it before each opening.

    A journal may name a super-journal, which SQLite deletes with the permissions of the process.
    Assay commits to one database at a time, so its journals name none.

    Raises:
        ConfigurationError: names the journal and the remedy.
    """
    real_path = database.resolve()  # SQLite follows links to find the journal
    journal = real_path.with_name(f"{real_path.name}-journal")
    advice = "move it away, or bring both files back from a copy, and see who may write there"
    try:
        with open_file(journal) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - len(_MAGIC), 0))
            # A journal starts with the same number: one cut off after it is too short for a record.
            names_another = size >= _LEAST_RECORD_BYTES and file.read() == _MAGIC
    except (FileNotFoundError, NotADirectoryError):
        return
    except PlainFileError as error:
        raise ConfigurationError(f"{error}; as the journal of a database: {advice}") from None
    except OSError as error:
        raise ConfigurationError(f"{journal} cannot be read ({error.strerror}): {advice}") from None
    if names_another:
        raise ConfigurationError(
            f"{journal} names another file, which SQLite would delete; Assay never writes such a"
            f" journal: {advice}"
        )
