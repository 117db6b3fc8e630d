"""A persistent map from text to bytes, shared by many processes: the caches of replies, embeddings
and look-ups.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import zstandard

from schemas.errors import ConfigurationError, TransientError
from warehouse.catalogue.sqlite_file import connect
from warehouse.scrubbing import concealed, known_secrets

BUSY_TIMEOUT_SECONDS = 60.0
_KEYS_PER_QUERY = 500
_CREATE = (
    "create table if not exists entries (key text primary key, value blob not null, stored_at real"
    " not null) without rowid"
)


_DROP_THE_OLDEST = """
delete from entries where key in (
    select key from (
        select key, sum(length(value) + length(key)) over (order by stored_at desc, key) as size
        from entries)
    where size > ?)
"""
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LEAST_COMPRESSED_BYTES, _MOST_ENTRY_BYTES = 256, 1_000_000_000


def _entries_of(count: int) -> str:
    """Asks for the entries of so many keys."""
    marks = ",".join("?" * count)
    return f"select key, value from entries where key in ({marks})"  # noqa: S608 -- marks alone


class KeyedStore:
    """Text → bytes in one SQLite file (WAL), compressed, safe for threads and processes; opened on
    first use.

    What `put_many` stored survives the death of the process. Pickles as its path.

    Raises (every method):
        ConfigurationError: the file is damaged or cannot be opened; the message names it and how to
            mend it.
        TransientError: other processes kept it locked for longer than a minute.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def get_many(
        self, keys: Sequence[str], maximum_age_seconds: float | None = None
    ) -> dict[str, bytes]:
        """The entries there are for `keys`, none older than `maximum_age_seconds`; missing keys are
        left out.
        """
        oldest = time.time() - maximum_age_seconds if maximum_age_seconds is not None else 0.0
        found: dict[str, bytes] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                part = keys[start : start + _KEYS_PER_QUERY]
                query = f"{_entries_of(len(part))} and stored_at >= ? and typeof(value) = 'blob'"
                for key, value in connection.execute(query, (*part, oldest)).fetchall():
                    found[key] = _unpacked(value)
        return found

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Store or replace all `entries` in one transaction, without known secrets: an answer may
        repeat the key it was asked with.
        """
        now, secrets = time.time(), known_secrets()
        rows = [(key, _packed(concealed(value, secrets)), now) for key, value in entries.items()]
        if not rows:
            return
        with self._open() as connection:
            connection.execute("begin immediate")
            with connection:
                connection.executemany("insert or replace into entries values (?, ?, ?)", rows)

    def drop_until(self, *, oldest: float, most_bytes: int | None = None) -> int:
        """Drop what was stored before `oldest` (seconds since 1970), then the oldest entries until
        the values take at most `most_bytes`, None being no bound; how many. The file shrinks by
        what they took.
        """
        with self._open() as connection:
            aged = connection.execute("delete from entries where stored_at < ?", (oldest,))
            dropped = aged.rowcount
            if most_bytes is not None:
                dropped += connection.execute(_DROP_THE_OLDEST, (most_bytes,)).rowcount
            connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")
        return dropped

    def compress(self) -> None:
        """Compress the values that an earlier version has stored as they were."""
        with self._open() as connection:
            keys = [key for (key,) in connection.execute("select key from entries")]
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                part = keys[start : start + _KEYS_PER_QUERY]
                packed = (
                    (_packed(_unpacked(value)), key, value)
                    for key, value in connection.execute(_entries_of(len(part)), part).fetchall()
                )
                changed = [(new, key) for new, key, old in packed if new != old]
                connection.execute("begin immediate")
                with connection:
                    connection.executemany("update entries set value = ? where key = ?", changed)

    def delete_older_than(self, seconds: float) -> None:
        """Delete the entries stored longer ago, and give their room back to later ones."""
        with self._open() as connection:
            connection.execute("create index if not exists by_age on entries (stored_at)")
            connection.execute("delete from entries where stored_at < ?", (time.time() - seconds,))

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connect(self.path)
                yield self._connection
            except sqlite3.OperationalError as error:
                if "locked" in str(error) or "busy" in str(error):
                    raise TransientError(
                        f"cache {self.path} stayed locked by other processes for"
                        f" {BUSY_TIMEOUT_SECONDS:.0f} s"
                    ) from error
                raise ConfigurationError(
                    f"cache {self.path} cannot be used ({error}): make its folder writable, with"
                    " free space"
                ) from error
            except (sqlite3.DatabaseError, zstandard.ZstdError) as error:
                raise ConfigurationError(
                    f"cache {self.path} is damaged ({error}): delete this file, it will be built"
                    " anew"
                ) from error
            except OSError as error:
                raise ConfigurationError(
                    f"cache {self.path} cannot be opened ({error.strerror}): choose a writable"
                    " folder"
                ) from error

    def __enter__(self) -> "KeyedStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[type["KeyedStore"], tuple[Path]]:
        return KeyedStore, (self.path,)


def json_entry(entry: bytes | None) -> Any:
    """Return what an entry says; None where there is none, or it is no JSON."""
    try:
        return None if entry is None else json.loads(entry)
    except (ValueError, RecursionError):
        return None


def _packed(value: bytes) -> bytes:
    """The value compressed, where that makes it smaller or where it would look compressed."""
    looks_compressed = value.startswith(_ZSTD_MAGIC)
    if len(value) < _LEAST_COMPRESSED_BYTES and not looks_compressed:
        return value
    packed = zstandard.ZstdCompressor(level=3).compress(value)
    return packed if len(packed) < len(value) or looks_compressed else value


def _unpacked(value: bytes) -> bytes:
    if not value.startswith(_ZSTD_MAGIC):
        return value
    # Its length is said first, and is the memory that unpacking takes.
    if not 0 <= zstandard.frame_content_size(value) <= _MOST_ENTRY_BYTES:
        raise zstandard.ZstdError("an entry is too large")
    return zstandard.ZstdDecompressor().decompress(value)


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(
        path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        into_wal(connection)
        connection.execute("pragma synchronous = normal")
        connection.execute(_CREATE)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def into_wal(connection: sqlite3.Connection) -> None:
    """Switch a database to WAL.

    SQLite does not wait for locks during the switch, so processes that open a new file at once try
    again.
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
