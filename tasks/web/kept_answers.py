"""Answers kept on disk. A store that cannot be used costs requests, not answers."""

import logging
from collections.abc import Mapping, Sequence

from schemas.errors import AssayError
from warehouse.keyed_store import KeyedStore

_LOG = logging.getLogger("assay.web")


class KeptAnswers:
    """Entries of a store that are not older than `maximum_age_seconds`."""

    def __init__(self, store: KeyedStore, maximum_age_seconds: float) -> None:
        self._store = store
        self._maximum_age_seconds = maximum_age_seconds

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Those of `keys` that are kept."""
        try:
            return self._store.get_many(keys, self._maximum_age_seconds)
        except AssayError as error:
            _LOG.warning("kept answers are out of reach: %s", error)
            return {}

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep them."""
        try:
            self._store.put_many(entries)
        except AssayError as error:
            _LOG.warning("an answer could not be kept: %s", error)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()
