"""Persistent key-value store for caches of replies, embeddings and searches."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard
from pydantic import Field

from schemas.base import Noun
from schemas.settings import CacheSettings
from warehouse.catalogue.sqlite_file import database_errors, open_wal
from warehouse.layout import Layout
from warehouse.scrubbing import known_secrets, mask_secrets

_KEYS_PER_QUERY = 500
_CREATE = """
pragma synchronous = normal;
create table if not exists entries (
    key text primary key, value blob not null, stored_at real not null) without rowid;
"""
_DROP_THE_OLDEST = """
delete from entries where key in (
    select key from (
        select key, sum(length(value) + length(key)) over (order by stored_at desc, key) as size
        from entries)
    where size > ?)
"""
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LEAST_COMPRESSED_BYTES, _MOST_ENTRY_BYTES = 256, 1_000_000_000


class KeyedStore:
    """Maps text to compressed bytes in an SQLite file; safe for threads and processes.

    It opens on first use, and pickles as its path. Committed entries survive the death of the
    process.

    Raises (every method):
        ConfigurationError: the file is damaged or cannot be opened; names it and the remedy.
        TransientError: other processes locked it for longer than a minute.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def get_many(
        self, keys: Sequence[str], maximum_age_seconds: float | None = None
    ) -> dict[str, bytes]:
        """Return existing entries for `keys`, none older than `maximum_age_seconds`."""
        oldest = time.time() - maximum_age_seconds if maximum_age_seconds is not None else 0.0
        entries: dict[str, bytes] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                part = keys[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(part))
                query = (
                    f"select key, value from entries where key in ({marks})"  # noqa: S608 -- marks alone
                    " and stored_at >= ? and typeof(value) = 'blob'"
                )
                for key, value in connection.execute(query, (*part, oldest)).fetchall():
                    entries[key] = _decompress(value)
        return entries

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Store `entries` in one transaction, with known secrets masked.

        A reply may repeat the API key that it was requested with.
        """
        now, secrets = time.time(), known_secrets()
        rows = [
            (key, _compress(mask_secrets(value, secrets)), now) for key, value in entries.items()
        ]
        if not rows:
            return
        with self._open() as connection:
            connection.execute("begin immediate")
            with connection:
                connection.executemany("insert or replace into entries values (?, ?, ?)", rows)

    def drop_until(self, *, oldest: float, most_bytes: int | None = None) -> int:
        """Drop expired entries, then the oldest until the rest fits; return their number.

        The file shrinks accordingly.

        Args:
            oldest: seconds since 1970.
            most_bytes: None: no bound.
        """
        with self._open() as connection:
            deletion = connection.execute("delete from entries where stored_at < ?", (oldest,))
            count = deletion.rowcount
            if most_bytes is not None:
                count += connection.execute(_DROP_THE_OLDEST, (most_bytes,)).rowcount
            connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")
        return count

    def delete_older_than(self, seconds: float) -> None:
        """Delete old entries; later ones reuse their space."""
        with self._open() as connection:
            connection.execute("create index if not exists by_age on entries (stored_at)")
            connection.execute("delete from entries where stored_at < ?", (time.time() - seconds,))

    def close(self) -> None:
        """Close the connection; the next use reopens it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with (
            self._lock,
            database_errors(f"cache {self.path}", "delete this file; it will be rebuilt"),
        ):
            if self._connection is None:
                self._connection = open_wal(self.path, _CREATE)
            yield self._connection

    def __enter__(self) -> "KeyedStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type["KeyedStore"], tuple[Path]]:
        return KeyedStore, (self.path,)


def json_entry(entry: bytes | None) -> Any:
    """Return an entry parsed as JSON; None if missing or invalid."""
    try:
        return None if entry is None else json.loads(entry)
    except (ValueError, RecursionError):
        return None


def _compress(value: bytes) -> bytes:
    """Compress a value if that makes it smaller, or if it looks compressed."""
    looks_compressed = value.startswith(_ZSTD_MAGIC)
    if len(value) < _LEAST_COMPRESSED_BYTES and not looks_compressed:
        return value
    compressed_value = zstandard.ZstdCompressor(level=3).compress(value)
    return compressed_value if len(compressed_value) < len(value) or looks_compressed else value


def _decompress(value: bytes) -> bytes:
    if not value.startswith(_ZSTD_MAGIC):
        return value
    try:
        # The header states the size, which is the memory that decompression takes.
        if not 0 <= zstandard.frame_content_size(value) <= _MOST_ENTRY_BYTES:
            raise zstandard.ZstdError("an entry is too large")
        return zstandard.ZstdDecompressor().decompress(value)
    except zstandard.ZstdError as error:
        raise sqlite3.DatabaseError(str(error)) from error


_DAY_SECONDS = 86_400.0
_MOST_DAYS = 365


class TrimmedCache(Noun):
    name: str
    entries_dropped: int = Field(ge=0)
    bytes_before: int = Field(ge=0)
    bytes_after: int = Field(ge=0)


def trim_caches(layout: Layout, settings: CacheSettings) -> tuple[TrimmedCache, ...]:
    """Drop expired entries, then the oldest until each cache fits.

    Raises:
        ConfigurationError, TransientError: as `KeyedStore`.
    """
    oldest = time.time() - _MOST_DAYS * _DAY_SECONDS
    most_bytes = settings.maximum_megabytes * 1_000_000
    caches = []
    for path in sorted(layout.cache.glob("*.sqlite")):
        size_before = _size(path)
        with KeyedStore(path) as store:
            count = store.drop_until(oldest=oldest, most_bytes=most_bytes)
        sizes = {"bytes_before": size_before, "bytes_after": _size(path)}
        caches.append(TrimmedCache(name=path.stem, entries_dropped=count, **sizes))
    return tuple(caches)


def _size(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(each.stat().st_size for each in files if each.exists())
