"""Transcripts of model calls: prompt and reply by content hash, compressed.

They are stored in `state/transcripts.sqlite`, and expire after some days: on the next model call
and by `assay warehouse compact`.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from schemas.base import Noun
from schemas.identifiers import content_hash
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore, json_entry

_SECONDS_PER_DAY = 86_400.0


class Transcript(Noun):
    messages: tuple[tuple[str, str], ...]
    reply: str


class Transcripts:
    """Transcripts by their hash.

    Raises (every method): as `KeyedStore`.
    """

    def __init__(self, path: Path) -> None:
        self._store = KeyedStore(path)

    def keep(self, messages: Sequence[Mapping[str, str]], reply: str) -> str:
        """Store prompt and reply with known secrets masked, and return their hash."""
        pairs = [[message["role"], message["content"]] for message in messages]
        content = orjson.dumps([pairs, reply])
        key = content_hash(content.hex())
        self._store.put_many({key: content})
        return key

    def read(self, key: str) -> Transcript | None:
        """Return the transcript with this hash; None if missing or expired."""
        entry = json_entry(self._store.get_many([key]).get(key))
        try:
            pairs, reply = entry
            return Transcript(messages=tuple((role, text) for role, text in pairs), reply=reply)
        except (TypeError, ValueError):  # missing, or not a transcript
            return None

    def forget_older_than(self, days: float) -> None:
        self._store.delete_older_than(days * _SECONDS_PER_DAY)

    def close(self) -> None:
        self._store.close()


def forget_expired(layout: Layout, days: float) -> int:
    """Delete transcripts older than `days` (0: all), and return their number."""
    path = transcripts_path(layout)
    if not path.exists():
        return 0
    with KeyedStore(path) as store:
        return store.drop_until(oldest=time.time() - days * _SECONDS_PER_DAY)


def transcripts_path(layout: Layout) -> Path:
    return layout.state / "transcripts.sqlite"


def open_transcripts(layout: Layout, days: float) -> Transcripts | None:
    """Open the transcripts of a warehouse, and delete expired ones.

    Returns None if `days` is 0: none are stored, and existing ones are deleted.
    """
    path = transcripts_path(layout)
    if days <= 0 and not path.exists():
        return None
    transcripts = Transcripts(path)
    transcripts.forget_older_than(days)
    if days > 0:
        return transcripts
    transcripts.close()
    return None
