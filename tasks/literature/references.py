"""Reference lists of many seeds in few requests."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.reasons import Reason
from schemas.retrieval import Answer, SourceFailure
from tasks.literature.gateway_requests import GatewayRequests
from tasks.literature.known_papers import KnownPapers
from tasks.literature.parsing import NESTED_FIELDS, parse_paper

MOST_ROWS_PER_REQUEST = 9_000
"""Below the 9,999 nested rows at which the API cuts a batch off in silence."""

MOST_SEEDS_PER_REQUEST = 100
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
