"""Answers of sources kept on disk, and a question that several ask at once asked by one of them, over all processes."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from schemas.errors import AssayError
from schemas.identifiers import content_hash
from tasks.sources.upstream import Question, Upstream
from tasks.web.locks import alone
from warehouse.keyed_store import KeyedStore

_LOG = logging.getLogger("assay.sources")
_STRIPE_LENGTH = 3


class KeptAnswers:
    """One source's part of the store. What is kept is the body of a good answer; its key holds no secret."""

    def __init__(self, store: KeyedStore, upstream: Upstream, locks_folder: Path) -> None:
        self._store = store
        self._upstream = upstream
        self._locks_folder = locks_folder

    def get(self, question: Question) -> bytes | None:
        """The kept body, unless it is too old. A store that cannot be read costs requests, not answers."""
        key = self._key(question)
        try:
            return self._store.get_many([key], self._upstream.kept_seconds).get(key)
        except AssayError as error:
            _LOG.warning("kept answers are out of reach: %s", error)
            return None

    def put(self, question: Question, body: bytes) -> None:
        try:
            self._store.put_many({self._key(question): body})
        except AssayError as error:
            _LOG.warning("an answer could not be kept: %s", error)

    @asynccontextmanager
    async def asking(self, question: Question) -> AsyncIterator[None]:
        """Nobody else on this machine asks the same at the same time; whoever comes next finds the answer kept."""
        async with alone(self._locks_folder / f"{self._key(question)[:_STRIPE_LENGTH]}.question"):
            yield

    def _key(self, question: Question) -> str:
        parameters = [part for pair in question.parameters for part in pair]
        body = (question.body or b"").decode("utf-8", "replace")
        return content_hash("answer", self._upstream.source, self._upstream.base_url, question.path, body, *parameters)
