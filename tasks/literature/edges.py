"""Who cites whom around some papers, and how: look-ups packed, each list asked for once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal
from urllib.parse import quote

from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.reasons import Reason
from tasks.literature.api_shapes import edge_of, parse_paper, until
from tasks.literature.gateway_requests import Fetched, GatewayRequests
from tasks.literature.known_papers import KnownPapers
from tasks.text.phrases import specific_stems
from tasks.text.words import shorten_words

EDGE_FIELDS = "contextsWithIntent,isInfluential"
"""Of a reference or citation, beside the paper at its other end."""

MOST_ROWS_PER_REQUEST = 9_000
"""Below the 9,999 nested rows at which the API cuts a batch off in silence."""

# More would fit by the number of rows, but the API answers such batches with 504.
MOST_SEEDS_PER_REQUEST = 100
# For a seed whose count is unknown: most papers have 40 to 60.
_USUAL_REFERENCES = 60
_MOST_NESTED_CITATIONS = 1_000
"""Papers cited more often are asked for page by page, as far as they are wanted."""
FEWEST_COUNTED = 3
"""Of papers whose citations nobody has counted: fewer are asked for page by page at once."""
_PAGE = 1_000
# The API's window: offset and limit together stay below 10,000.
_LAST_ROW = 9_999

PASSAGE_WORDS = 30
"""Of the passage in which one paper cites another: about a sentence."""

Kind = Literal["references", "citations"]
Neighbour = tuple[CitationEdge, Paper]
"""An edge, and the paper at its other end."""


@dataclass(frozen=True, slots=True)
class _List:
    """The known part of one seed's list, once each.

    Attributes:
        complete: whether there is no more of it than `neighbours`.
        until: the list is one of papers that can have appeared by then; None: of all.
    """

    neighbours: tuple[Neighbour, ...]
    complete: bool = True
    until: date | None = None

    def serves(self, cutoff: date | None) -> bool:
        """Return whether it was read for as late a day as this."""
        return self.until is None or (cutoff is not None and cutoff <= self.until)


def nested_rows(row: Any, kind: Kind) -> list[Any] | None:
    """The list of a batch row; None where it is withheld. An unknown paper has none."""
    if not isinstance(row, dict):
        return []
    rows = row.get(kind)
    return rows if isinstance(rows, list) else None


class EdgeLists:
    """The papers that seeds cite, or those that cite them.

    Lists are remembered; abstracts a list withholds are looked up packed. How one cites the other
    comes along wherever it costs no further request: with a snapshot, and page by page.
    """

    def __init__(self, requests: GatewayRequests, known: KnownPapers, kind: Kind) -> None:
        self._requests = requests
        self._known = known
        self._kind = kind
        self._lists: dict[PaperId, _List | None] = {}

    async def of(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[Neighbour]:
        """By seed in the order asked, at most `limit_per_seed` each in the order of its list."""
        wanted = list(dict.fromkeys(seeds))
        failures: list[SourceFailure] = []
        await self._count_together(wanted)
        large = [seed for seed in wanted if self._is_large(seed)]
        packed = [seed for seed in wanted if seed not in self._lists and seed not in large]
        for part in self._packs(packed):
            failures.extend(await self._ask(part))
        for seed in large:
            failures.extend(await self._page_through(seed, limit_per_seed, cutoff))
        withheld = [seed for seed in wanted if seed in self._lists and self._lists[seed] is None]
        if withheld:
            detail = (
                f"the {self._kind} of {len(withheld)} of {len(wanted)} papers are withheld by their"
                " publishers or unknown to the source"
            )
            failures.append(self._failure("paper/batch", Reason.WITHHELD, detail))
        found: list[Neighbour] = []
        late: set[PaperId] = set()
        for seed in wanted:
            listed = self._lists.get(seed)
            neighbours = listed.neighbours if listed else ()
            papers = [paper for _, paper in neighbours]
            late.update(paper.paper_id for paper in papers if not paper.admissible(cutoff))
            admitted = {one.paper_id for one in self._requests.admission.admitted(papers, cutoff)}
            admissible = [each for each in neighbours if each[1].paper_id in admitted]
            found.extend(admissible[:limit_per_seed])
        self._requests.ledger.meet(edge for edge, _ in found)
        completed, more = await self._with_abstracts(found)
        return Answer(tuple(completed), (*failures, *more), len(late))

    async def _count_together(self, seeds: Sequence[PaperId]) -> None:
        """Look the unknown counts up in one request, so that most lists fit into another.

        Where that fails, each list is read by pages, which says what failed.
        """
        if self._kind == "references" or self._requests.of_snapshot:
            return
        unmet = [seed for seed in seeds if seed not in self._lists and not self._known.get(seed)]
        if len(unmet) >= FEWEST_COUNTED:
            await self._known.by_identifier(unmet)

    def _is_large(self, seed: PaperId) -> bool:
        """Return whether the list is to be read by pages: others of a batch would be cut off for
        it.
        """
        if self._kind == "references":
            return False
        known = self._known.get(seed)
        count = known.citation_count if known is not None else None
        return count is None or count > _MOST_NESTED_CITATIONS

    def _packs(self, seeds: Sequence[PaperId]) -> list[list[PaperId]]:
        packs: list[list[PaperId]] = []
        rows = 0
        for seed in seeds:
            known = self._known.get(seed)
            counted = None
            if known is not None:
                of_references = self._kind == "references"
                counted = known.reference_count if of_references else known.citation_count
            count = _USUAL_REFERENCES if counted is None else counted
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
        # The API knows how papers cite each other only of one list at a time.
        inner = self._requests.paper_fields
        if self._requests.of_snapshot:
            inner += f",{EDGE_FIELDS}"
        nested = ",".join(f"{self._kind}.{name}" for name in inner.split(","))
        counted = self._kind.removesuffix("s") + "Count"
        fetched = await self._requests.batch(f"{counted},{nested}", seeds)
        if fetched.failure is not None:
            return [fetched.failure]
        for seed, row in zip(seeds, fetched.body, strict=True):
            rows = nested_rows(row, self._kind)
            pairs = [(each, each) for each in rows or ()]
            self._lists[seed] = None if rows is None else _List(self._neighbours(seed, pairs))
        return []

    def _neighbours(self, seed: PaperId, rows: Sequence[tuple[Any, Any]]) -> tuple[Neighbour, ...]:
        """Of (edge, paper) as the API gives them; a paper that cites itself is no edge."""
        found: dict[PaperId, Neighbour] = {}
        for edge, row in rows:
            paper = parse_paper(row)
            if paper is None or paper.paper_id == seed or paper.paper_id in found:
                continue
            ends = (seed, paper.paper_id)
            citing, cited = ends if self._kind == "references" else ends[::-1]
            told = edge_of(edge, citing, cited, empty_is_none=self._requests.of_snapshot)
            found[paper.paper_id] = (told, paper)
        return tuple(found.values())

    async def _page_through(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> list[SourceFailure]:
        """Pages until `limit` admissible papers are known or the list has no more.

        API: GET /graph/v1/paper/{id}/citations, newest first.
        """
        listed = self._lists.get(seed)
        rows: list[Any] = []
        while not self._enough(listed, limit, cutoff) and len(rows) < _LAST_ROW:
            fetched = await self._page(seed, len(rows), limit, cutoff)
            if fetched.failure is not None:
                return [fetched.failure]
            page = fetched.body.get("data") if isinstance(fetched.body, dict) else None
            if not isinstance(page, list):
                self._lists[seed] = None
                return []
            rows += [row for row in page if isinstance(row, dict)]
            complete = not page or "next" not in fetched.body
            neighbours = self._neighbours(seed, [(row, row.get("citingPaper")) for row in rows])
            listed = self._lists[seed] = _List(neighbours, complete, cutoff)
        if self._enough(listed, limit, cutoff):
            return []
        detail = f"{seed} is cited so often that the source lists no more than {len(rows):,} of it"
        return [self._failure("paper/citations", Reason.TOO_LARGE, detail)]

    def _enough(self, listed: _List | None, limit: int, cutoff: date | None) -> bool:
        if listed is None or not listed.serves(cutoff):
            return False
        admissible = sum(
            paper.admissible(cutoff) and self._requests.admission.stands(paper)
            for _, paper in listed.neighbours
        )
        return listed.complete or admissible >= limit

    async def _page(self, seed: PaperId, offset: int, limit: int, cutoff: date | None) -> Fetched:
        # Of papers known by year alone not all are admissible: whole pages follow the first.
        size = min(limit if offset == 0 else _PAGE, _PAGE, _LAST_ROW - offset)
        asked = {
            "fields": f"{self._requests.paper_fields},{EDGE_FIELDS}",
            "offset": str(offset),
            "limit": str(max(size, 1)),
            **until(cutoff),
        }
        path = f"/graph/v1/paper/{quote(seed, safe=':')}/citations"
        return await self._requests.get(path, asked)

    async def _with_abstracts(
        self, found: list[Neighbour]
    ) -> tuple[list[Neighbour], tuple[SourceFailure, ...]]:
        """A reference row lacks its abstract more often than its paper does (API: section 1.6)."""
        if self._requests.of_snapshot:
            self._known.remember(paper for _, paper in found)
            return found, ()
        self._known.remember(paper for _, paper in found if paper.abstract is not None)
        lacking = [paper.paper_id for _, paper in found if paper.abstract is None]
        _, failures = await self._known.by_identifier(lacking)
        return [(edge, self._known.get(paper.paper_id) or paper) for edge, paper in found], failures

    def _failure(self, endpoint: str, reason: Reason, detail: str) -> SourceFailure:
        return SourceFailure(
            source=self._requests.source, endpoint=endpoint, reason=reason, detail=detail
        )


def telling_passages(idea: str, edges: Iterable[CitationEdge]) -> dict[PaperId, str]:
    """For each cited paper the passage that shares most with the idea, in `PASSAGE_WORDS`."""
    wanted = specific_stems(idea)
    best: dict[PaperId, tuple[int, str]] = {}
    for edge in edges:
        for passage in edge.contexts or ():
            shared = len(wanted & specific_stems(passage))
            if edge.cited_paper_id not in best or shared > best[edge.cited_paper_id][0]:
                best[edge.cited_paper_id] = (shared, passage)
    return {
        paper_id: shorten_words(passage, PASSAGE_WORDS)[0]
        for paper_id, (_, passage) in best.items()
    }
