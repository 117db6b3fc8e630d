"""The papers one idea has met, and their reference lists: look-ups packed, each identifier once."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.patterns import bounded
from schemas.reasons import Reason
from schemas.retrieval import Answer, SourceFailure
from tasks.literature.api_shapes import FIELDS, NESTED_FIELDS, parse_paper
from tasks.literature.gateway.messages import LARGEST_BATCH
from tasks.literature.gateway_requests import GatewayRequests

_PAPER_ID = bounded(r"[0-9a-f]{40}")

Failures = tuple[SourceFailure, ...]


class KnownPapers:
    """By any identifier that led to them.

    An identifier the source does not know is remembered too.
    """

    def __init__(self, requests: GatewayRequests) -> None:
        self._requests = requests
        self._papers: dict[str, Paper | None] = {}
        self._in_flight: dict[str, asyncio.Task[Failures]] = {}

    def remember(self, papers: Iterable[Paper]) -> None:
        """Keep whole papers; what is there already stays."""
        for paper in papers:
            for name in (paper.paper_id, f"CorpusId:{paper.corpus_id}"):
                if self._papers.get(name) is None:
                    self._papers[name] = paper

    def get(self, identifier: str) -> Paper | None:
        return self._papers.get(identifier)

    async def by_identifier(self, identifiers: Sequence[str]) -> tuple[list[Paper], Failures]:
        """The known papers among those asked for, in order and once each, and the look-ups that
        failed.

        A merged paper comes back under another identifier; it keeps the one it was asked for by, so
        that the asker finds it.
        """
        wanted = list(dict.fromkeys(identifiers))
        failures = await self._fetch(wanted)
        found: dict[str, Paper] = {}
        for identifier in wanted:
            paper = self._papers.get(identifier)
            if paper is not None:
                named = (
                    paper if not _PAPER_ID.fullmatch(identifier) else _renamed(paper, identifier)
                )
                found.setdefault(named.paper_id, named)
        return list(found.values()), failures

    async def by_corpus_id(self, corpus_ids: Iterable[int]) -> tuple[dict[int, Paper], Failures]:
        """Papers by corpus id, as far as the source knows them."""
        names = {corpus_id: f"CorpusId:{corpus_id}" for corpus_id in corpus_ids}
        failures = await self._fetch(list(names.values()))
        found = {corpus_id: self._papers.get(name) for corpus_id, name in names.items()}
        return {
            corpus_id: paper for corpus_id, paper in found.items() if paper is not None
        }, failures

    async def _fetch(self, identifiers: Sequence[str]) -> Failures:
        """Ask for what is unknown and not being asked for; wait for what is."""
        unknown = [each for each in identifiers if each not in self._papers]
        new = [each for each in unknown if each not in self._in_flight]
        for start in range(0, len(new), LARGEST_BATCH):
            part = new[start : start + LARGEST_BATCH]
            task = asyncio.create_task(self._ask(part))
            self._in_flight.update(dict.fromkeys(part, task))
        tasks = list(
            dict.fromkeys(self._in_flight[each] for each in unknown if each in self._in_flight)
        )
        failures: dict[SourceFailure, None] = {}
        for task in tasks:
            # Shielded: one who gives up must not take the answer from the others.
            failures.update(dict.fromkeys(await asyncio.shield(task)))
        return tuple(failures)

    async def _ask(self, identifiers: list[str]) -> Failures:
        try:
            fetched = await self._requests.batch(FIELDS, identifiers)
            if fetched.failure is not None:
                return (fetched.failure,)
            for identifier, row in zip(identifiers, fetched.body, strict=True):
                paper = parse_paper(row)
                self._papers[identifier] = paper
                if paper is not None:
                    self.remember([paper])
            return ()
        finally:
            # Also after a failure: then the next who asks tries again.
            for identifier in identifiers:
                self._in_flight.pop(identifier, None)


def _renamed(paper: Paper, paper_id: str) -> Paper:
    return paper if paper.paper_id == paper_id else replace(paper, paper_id=PaperId(paper_id))


MOST_ROWS_PER_REQUEST = 9_000
"""Below the 9,999 nested rows at which the API cuts a batch off in silence."""

# More would fit by the number of rows, but the API answers such batches with 504.
MOST_SEEDS_PER_REQUEST = 100
# For a seed whose count is unknown: most papers have 40 to 60.
_USUAL_REFERENCES = 60
_ENDPOINT = "paper/batch"


class ReferenceLists:
    """What the seeds cite.

    Lists are remembered; abstracts a list withholds are looked up packed.
    """

    def __init__(self, requests: GatewayRequests, known: KnownPapers) -> None:
        self._requests = requests
        self._known = known
        self._lists: dict[PaperId, tuple[Paper, ...] | None] = {}

    async def of(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[PaperId, Paper]]:
        """(seed, cited paper), by seed in the order asked and at most `limit_per_seed` each in the
        order of its list.
        """
        wanted = list(dict.fromkeys(seeds))
        failures: list[SourceFailure] = []
        for part in self._packs([seed for seed in wanted if seed not in self._lists]):
            failures.extend(await self._ask(part))
        withheld = [seed for seed in wanted if seed in self._lists and self._lists[seed] is None]
        if withheld:
            failures.append(self._withheld(withheld, len(wanted)))
        pairs: list[tuple[PaperId, Paper]] = []
        inadmissible: set[PaperId] = set()
        for seed in wanted:
            papers = self._lists.get(seed) or ()
            admissible = [paper for paper in papers if paper.admissible(cutoff)]
            inadmissible.update(paper.paper_id for paper in papers if not paper.admissible(cutoff))
            pairs.extend((seed, paper) for paper in admissible[:limit_per_seed])
        completed, more = await self._with_abstracts(pairs)
        return Answer(tuple(completed), (*failures, *more), len(inadmissible))

    def _packs(self, seeds: Sequence[PaperId]) -> list[list[PaperId]]:
        packs: list[list[PaperId]] = []
        rows = 0
        for seed in seeds:
            known = self._known.get(seed)
            count = (
                known.reference_count
                if known is not None and known.reference_count is not None
                else _USUAL_REFERENCES
            )
            if (
                not packs
                or rows + count > MOST_ROWS_PER_REQUEST
                or len(packs[-1]) == MOST_SEEDS_PER_REQUEST
            ):
                packs.append([])
                rows = 0
            packs[-1].append(seed)
            rows += count
        return packs

    async def _ask(self, seeds: list[PaperId]) -> list[SourceFailure]:
        fetched = await self._requests.batch(NESTED_FIELDS, seeds)
        if fetched.failure is not None:
            return [fetched.failure]
        for seed, row in zip(seeds, fetched.body, strict=True):
            self._lists[seed] = _references(row)
        return []

    async def _with_abstracts(
        self, pairs: list[tuple[PaperId, Paper]]
    ) -> tuple[list[tuple[PaperId, Paper]], tuple[SourceFailure, ...]]:
        """A reference row lacks its abstract far more often than the paper itself does (API:
        section 1.6).
        """
        if self._requests.source == "snapshot":
            self._known.remember(paper for _, paper in pairs)
            return pairs, ()
        self._known.remember(paper for _, paper in pairs if paper.abstract is not None)
        lacking = [paper.paper_id for _, paper in pairs if paper.abstract is None]
        _, failures = await self._known.by_identifier(lacking)
        return [(seed, self._known.get(paper.paper_id) or paper) for seed, paper in pairs], failures

    def _withheld(self, seeds: Sequence[PaperId], asked: int) -> SourceFailure:
        detail = (
            f"the references of {len(seeds)} of {asked} papers are withheld by their publishers or"
            " unknown to the source"
        )
        return SourceFailure(
            source=self._requests.source, endpoint=_ENDPOINT, reason=Reason.WITHHELD, detail=detail
        )


def _references(row: Any) -> tuple[Paper, ...] | None:
    """The matched references of a batch row, each once; None where the list is withheld.

    An unknown paper has none.
    """
    if not isinstance(row, dict):
        return ()
    rows = row.get("references")
    if not isinstance(rows, list):
        return None
    papers = {paper.paper_id: paper for paper in map(parse_paper, rows) if paper is not None}
    return tuple(papers.values())
