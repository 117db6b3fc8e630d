"""Cache of the papers of one idea, with batched look-ups."""

import asyncio
from collections.abc import Iterable, Sequence

from schemas.base import replace
from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.literature.api_shapes import parse_paper
from tasks.literature.gateway.messages import LARGEST_BATCH
from tasks.literature.gateway_requests import GatewayRequests
from tasks.literature.snapshot.records import is_paper_id

Failures = tuple[SourceFailure, ...]


class PaperCache:
    """Papers by any identifier that was looked up; unknown identifiers are cached too."""

    def __init__(self, requests: GatewayRequests) -> None:
        self._requests = requests
        self._papers: dict[str, Paper | None] = {}
        self._in_flight: dict[str, asyncio.Task[Failures]] = {}

    def remember(self, papers: Iterable[Paper]) -> None:
        """Cache papers with all fields; papers already cached are not replaced."""
        for paper in papers:
            for name in (paper.paper_id, f"CorpusId:{paper.corpus_id}"):
                if self._papers.get(name) is None:
                    self._papers[name] = paper

    def get(self, identifier: str) -> Paper | None:
        return self._papers.get(identifier)

    async def by_identifier(self, identifiers: Sequence[str]) -> tuple[list[Paper], Failures]:
        """Return the distinct known papers in order, and the failed look-ups.

        The source may return a merged paper under another identifier; it keeps the requested one.
        """
        unique_identifiers = list(dict.fromkeys(identifiers))
        failures = await self._fetch(unique_identifiers)
        papers: dict[str, Paper] = {}
        for identifier in unique_identifiers:
            paper = self._papers.get(identifier)
            if paper is not None:
                if is_paper_id(identifier) and identifier != paper.paper_id:
                    paper = replace(paper, paper_id=PaperId(identifier))
                papers.setdefault(paper.paper_id, paper)
        return list(papers.values()), failures

    async def by_corpus_id(self, corpus_ids: Iterable[int]) -> tuple[dict[int, Paper], Failures]:
        names = {corpus_id: f"CorpusId:{corpus_id}" for corpus_id in corpus_ids}
        failures = await self._fetch(list(names.values()))
        papers = {
            corpus_id: paper
            for corpus_id, name in names.items()
            if (paper := self._papers.get(name)) is not None
        }
        return papers, failures

    async def _fetch(self, identifiers: Sequence[str]) -> Failures:
        """Request unknown identifiers, and wait for those in flight."""
        unknown = [each for each in identifiers if each not in self._papers]
        new = [each for each in unknown if each not in self._in_flight]
        for start in range(0, len(new), LARGEST_BATCH):
            part = new[start : start + LARGEST_BATCH]
            task = asyncio.create_task(self._ask(part))
            self._in_flight.update(dict.fromkeys(part, task))
        tasks = dict.fromkeys(self._in_flight[each] for each in unknown if each in self._in_flight)
        failures: dict[SourceFailure, None] = {}
        for task in tasks:
            # Shielded: a cancelled caller must not cancel the request for the others.
            failures.update(dict.fromkeys(await asyncio.shield(task)))
        return tuple(failures)

    async def _ask(self, identifiers: list[str]) -> Failures:
        try:
            result = await self._requests.batch(self._requests.paper_fields, identifiers)
            if result.failure is not None:
                return (result.failure,)
            for identifier, row in zip(identifiers, result.body, strict=True):
                paper = parse_paper(row)
                self._papers[identifier] = paper
                if paper is not None:
                    self.remember([paper])
            return ()
        finally:
            # Also after a failure, so that the next call retries.
            for identifier in identifiers:
                self._in_flight.pop(identifier, None)
