"""References and citations of papers, fetched in batches and cached."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal
from urllib.parse import quote

from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.reasons import Reason
from tasks.literature.api_shapes import cutoff_filter, edge_of, parse_paper
from tasks.literature.gateway_requests import FetchResult, GatewayRequests, PaperCache
from tasks.text.phrases import specific_stems
from tasks.text.words import shorten_words

EDGE_FIELDS = "contextsWithIntent,isInfluential"
"""Fields of a reference or citation, in addition to its paper."""

MOST_ROWS_PER_REQUEST = 9_000
"""Limit of nested rows, below the 9,999 at which the API silently truncates a batch."""

# More would fit by the number of rows, but the API answers such batches with 504.
MOST_SEEDS_PER_REQUEST = 100
# For a seed whose count is unknown: most papers have 40 to 60.
_USUAL_REFERENCES = 60
_MOST_NESTED_CITATIONS = 1_000
"""Limit of citations in a batch; longer lists are fetched by pages, as far as needed."""
FEWEST_COUNTED = 3
"""Limit of papers with an unknown citation count whose citations are paged directly."""
_PAGE = 1_000
# The API's window: offset and limit together stay below 10,000.
_LAST_ROW = 9_999

PASSAGE_WORDS = 30
"""Length of a citing passage: about a sentence."""

Kind = Literal["references", "citations"]
Neighbour = tuple[CitationEdge, Paper]
"""An edge, and the paper at its other end."""


@dataclass(frozen=True, slots=True)
class _List:
    """The known part of one seed's list, without repetitions.

    Attributes:
        complete: whether `neighbours` is the whole list.
        until: the list is limited to papers published by this day; None: not limited.
    """

    neighbours: tuple[Neighbour, ...]
    complete: bool = True
    until: date | None = None

    def serves(self, cutoff: date | None) -> bool:
        """Return whether the list covers papers up to `cutoff`."""
        return self.until is None or (cutoff is not None and cutoff <= self.until)


def nested_rows(row: Any, kind: Kind) -> list[Any] | None:
    """Return the list of a batch row.

    It is None if withheld, and empty for an unknown paper.
    """
    rows = row.get(kind) if isinstance(row, dict) else []
    return rows if isinstance(rows, list) else None


class EdgeLists:
    """The papers that seeds cite, or those that cite them.

    Lists are cached, and missing abstracts are looked up in batches. Contexts are included where
    they need no further request: from a snapshot, and in pages.
    """

    def __init__(self, requests: GatewayRequests, cache: PaperCache, kind: Kind) -> None:
        self._requests = requests
        self._cache = cache
        self._kind = kind
        self._lists: dict[PaperId, _List | None] = {}

    async def of(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[Neighbour]:
        """Return the neighbours by seed, at most `limit_per_seed` each, in list order."""
        unique_seeds = list(dict.fromkeys(seeds))
        failures: list[SourceFailure] = []
        await self._count_together(unique_seeds)
        large = [seed for seed in unique_seeds if self._is_large(seed)]
        small = [seed for seed in unique_seeds if seed not in self._lists and seed not in large]
        for part in self._packs(small):
            failures.extend(await self._ask(part))
        for seed in large:
            failures.extend(await self._page_through(seed, limit_per_seed, cutoff))
        withheld = [
            seed for seed in unique_seeds if seed in self._lists and self._lists[seed] is None
        ]
        if withheld:
            detail = (
                f"the {self._kind} of {len(withheld)} of {len(unique_seeds)} papers are withheld by"
                " their publishers or unknown to the source"
            )
            failures.append(self._requests.refusal("paper/batch", Reason.WITHHELD, detail))
        admitted_edges: list[Neighbour] = []
        late_ids: set[PaperId] = set()
        for seed in unique_seeds:
            entry = self._lists.get(seed)
            neighbours = entry.neighbours if entry else ()
            papers = [paper for _, paper in neighbours]
            late_ids.update(paper.paper_id for paper in papers if not paper.admissible(cutoff))
            admitted_ids = {one.paper_id for one in self._requests.admission.admit(papers, cutoff)}
            admissible = [each for each in neighbours if each[1].paper_id in admitted_ids]
            admitted_edges.extend(admissible[:limit_per_seed])
        self._requests.ledger.meet(edge for edge, _ in admitted_edges)
        complete_edges, further_failures = await self._with_abstracts(admitted_edges)
        return Answer(tuple(complete_edges), (*failures, *further_failures), len(late_ids))

    async def _count_together(self, seeds: Sequence[PaperId]) -> None:
        """Look up unknown citation counts, so that most lists fit into one batch.

        If that fails, each list is fetched by pages, which report the failure.
        """
        if self._kind == "references" or self._requests.of_snapshot:
            return
        unseen = [seed for seed in seeds if seed not in self._lists and not self._cache.get(seed)]
        if len(unseen) >= FEWEST_COUNTED:
            await self._cache.by_identifier(unseen)

    def _is_large(self, seed: PaperId) -> bool:
        """Return whether the list needs pages: it would truncate the others of a batch."""
        if self._kind == "references":
            return False
        paper = self._cache.get(seed)
        count = paper.citation_count if paper is not None else None
        return count is None or count > _MOST_NESTED_CITATIONS

    def _packs(self, seeds: Sequence[PaperId]) -> list[list[PaperId]]:
        packs: list[list[PaperId]] = []
        rows = 0
        for seed in seeds:
            paper = self._cache.get(seed)
            known_count = None
            if paper is not None:
                of_references = self._kind == "references"
                known_count = paper.reference_count if of_references else paper.citation_count
            count = _USUAL_REFERENCES if known_count is None else known_count
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
        # The live API returns contexts only for one list at a time.
        inner = self._requests.paper_fields
        if self._requests.of_snapshot:
            inner += f",{EDGE_FIELDS}"
        nested_fields = ",".join(f"{self._kind}.{name}" for name in inner.split(","))
        count_field = self._kind.removesuffix("s") + "Count"
        result = await self._requests.batch(f"{count_field},{nested_fields}", seeds)
        if result.failure is not None:
            return [result.failure]
        for seed, row in zip(seeds, result.body, strict=True):
            rows = nested_rows(row, self._kind)
            pairs = [(each, each) for each in rows or ()]
            self._lists[seed] = None if rows is None else _List(self._neighbours(seed, pairs))
        return []

    def _neighbours(self, seed: PaperId, rows: Sequence[tuple[Any, Any]]) -> tuple[Neighbour, ...]:
        """Parse (edge, paper) rows; repetitions and self-citations are skipped."""
        neighbours: dict[PaperId, Neighbour] = {}
        for edge, row in rows:
            paper = parse_paper(row)
            if paper is None or paper.paper_id == seed or paper.paper_id in neighbours:
                continue
            ends = (seed, paper.paper_id)
            citing_id, cited_id = ends if self._kind == "references" else ends[::-1]
            citation = edge_of(edge, citing_id, cited_id, empty_is_none=self._requests.of_snapshot)
            neighbours[paper.paper_id] = (citation, paper)
        return tuple(neighbours.values())

    async def _page_through(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> list[SourceFailure]:
        """Fetch pages until `limit` admissible papers are known or the list ends.

        API: GET /graph/v1/paper/{id}/citations, newest first.
        """
        entry = self._lists.get(seed)
        rows: list[Any] = []
        while not self._enough(entry, limit, cutoff) and len(rows) < _LAST_ROW:
            result = await self._page(seed, len(rows), limit, cutoff)
            if result.failure is not None:
                return [result.failure]
            page = result.body.get("data") if isinstance(result.body, dict) else None
            if not isinstance(page, list):
                self._lists[seed] = None
                return []
            rows += [row for row in page if isinstance(row, dict)]
            complete = not page or "next" not in result.body
            neighbours = self._neighbours(seed, [(row, row.get("citingPaper")) for row in rows])
            entry = self._lists[seed] = _List(neighbours, complete, cutoff)
        if self._enough(entry, limit, cutoff):
            return []
        detail = f"{seed} is cited so often that the source lists no more than {len(rows):,} of it"
        return [self._requests.refusal("paper/citations", Reason.TOO_LARGE, detail)]

    def _enough(self, entry: _List | None, limit: int, cutoff: date | None) -> bool:
        if entry is None or not entry.serves(cutoff):
            return False
        admissible = sum(
            paper.admissible(cutoff) and self._requests.admission.admits_state(paper)
            for _, paper in entry.neighbours
        )
        return entry.complete or admissible >= limit

    async def _page(
        self, seed: PaperId, offset: int, limit: int, cutoff: date | None
    ) -> FetchResult:
        # Papers dated by year alone may be inadmissible, so whole pages follow the first.
        size = min(limit if offset == 0 else _PAGE, _PAGE, _LAST_ROW - offset)
        parameters = {
            "fields": f"{self._requests.paper_fields},{EDGE_FIELDS}",
            "offset": str(offset),
            "limit": str(max(size, 1)),
            **cutoff_filter(cutoff),
        }
        path = f"/graph/v1/paper/{quote(seed, safe=':')}/citations"
        return await self._requests.get(path, parameters)

    async def _with_abstracts(
        self, neighbours: list[Neighbour]
    ) -> tuple[list[Neighbour], tuple[SourceFailure, ...]]:
        """Look up missing abstracts: rows lack them more often than papers (API: section 1.6)."""
        if self._requests.of_snapshot:
            self._cache.remember(paper for _, paper in neighbours)
            return neighbours, ()
        self._cache.remember(paper for _, paper in neighbours if paper.abstract is not None)
        without_abstract = [paper.paper_id for _, paper in neighbours if paper.abstract is None]
        _, failures = await self._cache.by_identifier(without_abstract)
        return [
            (edge, self._cache.get(paper.paper_id) or paper) for edge, paper in neighbours
        ], failures


def relevant_passages(idea: str, edges: Iterable[CitationEdge]) -> dict[PaperId, str]:
    """Return for each cited paper the passage nearest to the idea, in `PASSAGE_WORDS`."""
    idea_stems = specific_stems(idea)
    best: dict[PaperId, tuple[int, str]] = {}
    for edge in edges:
        for passage in edge.contexts or ():
            shared_count = len(idea_stems & specific_stems(passage))
            if edge.cited_paper_id not in best or shared_count > best[edge.cited_paper_id][0]:
                best[edge.cited_paper_id] = (shared_count, passage)
    return {
        paper_id: shorten_words(passage, PASSAGE_WORDS)[0]
        for paper_id, (_, passage) in best.items()
    }
