"""The caches of a warehouse, bounded in age and size. What is dropped is asked or made again."""

import time
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.settings import CacheSettings
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore

_DAY_SECONDS = 86_400.0


class TrimmedCache(Noun):
    """What became of one cache."""

    name: str
    entries_dropped: int = Field(ge=0)
    bytes_before: int = Field(ge=0)
    bytes_after: int = Field(ge=0)


def trim_caches(layout: Layout, settings: CacheSettings) -> tuple[TrimmedCache, ...]:
    """Drop what is too old, then the oldest until each cache fits, and give the space back.

    Values that an earlier version kept as they were are compressed.

    Raises:
        ConfigurationError, TransientError: as `KeyedStore`.
    """
    return tuple(_trimmed(path, settings) for path in sorted(layout.cache.glob("*.sqlite")))


def _trimmed(path: Path, settings: CacheSettings) -> TrimmedCache:
    before = _size(path)
    with KeyedStore(path) as store:
        store.compress()
        dropped = store.drop_until(
            oldest=time.time() - settings.maximum_days * _DAY_SECONDS,
            most_bytes=settings.maximum_megabytes * 1_000_000,
        )
    return TrimmedCache(
        name=path.stem, entries_dropped=dropped, bytes_before=before, bytes_after=_size(path)
    )


def _size(path: Path) -> int:
    beside = (path, path.with_name(f"{path.name}-wal"))
    return sum(each.stat().st_size for each in beside if each.exists())
