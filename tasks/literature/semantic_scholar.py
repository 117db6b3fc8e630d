"""The literature of one idea, through the gateway: cutoffs enforced, failures typed, nothing asked
for twice.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from schemas.errors import RequestRejectedError
from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.settings import LiteratureSettings
from tasks.accounting.ledger import Ledger
from tasks.literature.api_shapes import (
    packed_queries,
    parse_paper,
    passage_rows,
    passages_of,
    plain_query,
    until,
)
from tasks.literature.edges import EdgeLists
from tasks.literature.gateway_requests import DEFAULT_SOURCE, SNAPSHOT_SOURCE, GatewayRequests
from tasks.literature.known_papers import KnownPapers
from tasks.literature.versions import each_once
from tasks.web.client import Client

# Many queries in few requests of bulk search: the strict question first, a looser one where it
# brings too little.

_PATH = "/graph/v1/paper/search/bulk"
# A looser question brings more noise; it is asked only where the strict one brings less.
_ENOUGH_ROWS = 500
_WORDS_MISSING = (1, 2)


@dataclass(slots=True)
class BulkSearch:
    """At most `maximum_requests` requests.

    API: GET /paper/search/bulk, 1,000 rows each in no order of relevance.

    Attributes:
        rows: as the API gave them.
        failures: of requests that were not answered.
    """

    requests: GatewayRequests
    maximum_requests: int
    cutoff: date | None
    rows: list[Any] = field(default_factory=list)
    failures: tuple[SourceFailure, ...] = ()
    _sent: int = 0

    async def ask(self, queries: Sequence[str]) -> None:
        """Rows that match all but one word of a query; where those are few, all but two; further
        pages as far as requests reach.
        """
        for missing in _WORDS_MISSING:
            if len(self.rows) < _ENOUGH_ROWS and self._sent < self.maximum_requests:
                for packed in packed_queries(queries, missing):
                    await self._pages(packed)

    async def _pages(self, packed: str) -> None:
        parameters = {"query": packed, "fields": self.requests.paper_fields, **until(self.cutoff)}
        while self._sent < self.maximum_requests:
            self._sent += 1
            fetched = await self.requests.get(_PATH, parameters)
            if fetched.failure is not None:
                self.failures += (fetched.failure,)
                return
            rows = fetched.rows("data")
            self.rows.extend(rows)
            token = fetched.body.get("token") if rows else None
            if not token:
                return
            parameters["token"] = token


ItemT = TypeVar("ItemT")
AskedT = ParamSpec("AskedT")
Ask = Callable[Concatenate["SemanticScholarClient", AskedT], Coroutine[Any, Any, Answer[ItemT]]]

# Bounds of the API: of a page, of offset and limit together, of snippets, and of
# recommendations in one request.
_SEARCH_PAGE = 100
_MOST_SEARCHED = 999
_MOST_SNIPPETS = 1_000
_MOST_RECOMMENDED = 500


def _asked_once(ask: Ask[AskedT, ItemT]) -> Ask[AskedT, ItemT]:
    """The answer to a question somebody may have asked already; an incomplete answer is asked for
    again.
    """

    @wraps(ask)
    async def answered(
        self: "SemanticScholarClient", /, *asked: AskedT.args, **named: AskedT.kwargs
    ) -> Answer[ItemT]:
        parts = (tuple(part) if isinstance(part, list) else part for part in asked)
        key = (ask.__name__, *parts, *named.items())
        task: asyncio.Task[Answer[ItemT]] | None = self.asked.get(key)
        if task is None or (
            task.done()
            and (task.cancelled() or task.exception() is not None or not task.result().complete)
        ):
            task = self.asked[key] = asyncio.create_task(ask(self, *asked, **named))
        return await asyncio.shield(task)

    return answered


class SemanticScholarClient:
    """`LiteratureClient` for one idea.

    Papers seen in any answer are remembered, and the same question is asked once.

    `on_request` is called before every request and may raise `BudgetExhaustedError`; the look-up
    then fails with reason `budget_exhausted`. The caller owns `http`. `unlimited`: the gateway
    answers from a snapshot alone. Without `knows_references` none are asked for and none are found,
    which is for whoever says so of the whole run. Works that do not stand are left out and counted,
    except for who asks for them `with_retracted` to show their state.
    """

    def __init__(
        self,
        base_url: str,
        idea_ledger: Ledger,
        http: Client,
        settings: LiteratureSettings,
        on_request: Callable[[], None] | None = None,
        *,
        unlimited: bool = False,
        knows_references: bool = True,
        with_retracted: bool = False,
    ) -> None:
        self.unlimited = unlimited
        self._knows_references = knows_references
        self._settings = settings
        self._requests = GatewayRequests(
            base_url,
            idea_ledger,
            http,
            on_request,
            restart_seconds=settings.restart_seconds,
            source=SNAPSHOT_SOURCE if unlimited else DEFAULT_SOURCE,
            with_retracted=with_retracted,
        )
        self._known = KnownPapers(self._requests)
        self._references = EdgeLists(self._requests, self._known, "references")
        self._citations = EdgeLists(self._requests, self._known, "citations")
        self.asked: dict[tuple[Any, ...], asyncio.Task[Any]] = {}

    @property
    def source(self) -> str:
        """`semantic_scholar` or `snapshot`, as the gateway says."""
        return self._requests.source

    @_asked_once
    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        """See `LiteratureClient`. API: GET /graph/v1/paper/search."""
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return self._refused("paper/search", error)
        limit = min(limit, _MOST_SEARCHED)
        rows: list[Any] = []
        failure: SourceFailure | None = None
        while len(rows) < limit and failure is None:
            size = min(limit - len(rows), _SEARCH_PAGE)
            window = {"offset": str(len(rows)), "limit": str(size)}
            fetched = await self._requests.get(
                "/graph/v1/paper/search",
                {"query": words, "fields": self._requests.paper_fields, **window, **until(cutoff)},
            )
            failure = fetched.failure
            page = fetched.rows("data")
            rows.extend(page)
            if "next" not in (fetched.body or {}) or not page:
                break
        return self._admitted(rows, limit, cutoff, failure)

    @_asked_once
    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        """See `LiteratureClient`. Stricter questions go first; see `BulkSearch`."""
        search = BulkSearch(self._requests, maximum_requests, cutoff)
        await search.ask(queries)
        answer = self._admitted(search.rows, len(search.rows), cutoff, None)
        return replace(answer, failures=search.failures)

    @_asked_once
    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        """See `LiteratureClient`.

        The papers of the passages and those they mention are fetched in one batch and remembered.
        """
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return self._refused("snippet/search", error)
        parameters = {"query": words, "limit": str(min(limit, _MOST_SNIPPETS)), **until(cutoff)}
        fetched = await self._requests.get("/graph/v1/snippet/search", parameters)
        if fetched.failure is not None:
            return Answer((), (fetched.failure,))
        rows = passage_rows(fetched.rows("data"))[:limit]
        papers, failures = await self._known.by_corpus_id(
            corpus_id for row in rows for corpus_id in row.corpus_ids
        )
        admitted, late_count = self._partition(papers.values(), cutoff)
        names = {paper.paper_id for paper in admitted}
        known = {number: paper for number, paper in papers.items() if paper.paper_id in names}
        return Answer(passages_of(rows, known), failures, late_count)

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        """See `LiteratureClient`. API: POST /graph/v1/paper/batch."""
        found, failures = await self._known.by_identifier(paper_ids)
        admitted, late_count = self._partition(found, cutoff)
        return Answer(tuple(admitted), failures, late_count)

    @_asked_once
    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """See `LiteratureClient`.

        The gateway fills the places of papers outside the date range with further ones.
        """
        parameters = {
            "from": "all-cs",
            "limit": str(min(limit, _MOST_RECOMMENDED)),
            "fields": self._requests.paper_fields,
            **until(cutoff),
        }
        fetched = await self._requests.get(
            f"/recommendations/v1/papers/forpaper/{quote(seed, safe=':')}", parameters
        )
        rows = fetched.rows("recommendedPapers")
        return self._admitted(rows, limit, cutoff, fetched.failure, without=frozenset([seed]))

    @_asked_once
    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """See `LiteratureClient`. The gateway keeps to the date range, which the API does not."""
        parameters = {
            "limit": str(min(limit + len(seeds), _MOST_RECOMMENDED)),
            "fields": self._requests.paper_fields,
            **until(cutoff),
        }
        body = {"positivePaperIds": list(seeds), "negativePaperIds": []}
        fetched = await self._requests.post(
            "/recommendations/v1/papers", parameters, body, len(seeds)
        )
        rows = fetched.rows("recommendedPapers")
        return self._admitted(rows, limit, cutoff, fetched.failure, without=frozenset(seeds))

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """See `LiteratureClient`. API: POST /graph/v1/paper/batch?fields=references.…"""
        if not self._knows_references:
            return Answer(())
        return await self._references.of(seeds, limit_per_seed, cutoff)

    async def citations(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """See `LiteratureClient`. API: the same with `citations.…`, and of papers that are cited
        often GET /graph/v1/paper/{id}/citations.
        """
        if not self._knows_references:
            return Answer(())
        return await self._citations.of(seeds, limit_per_seed, cutoff)

    def _admitted(
        self,
        rows: Iterable[Any],
        limit: int,
        cutoff: date | None,
        failure: SourceFailure | None,
        without: frozenset[PaperId] = frozenset(),
    ) -> Answer[Paper]:
        found = {
            paper.paper_id: paper
            for paper in map(parse_paper, rows)
            if paper is not None and paper.paper_id not in without
        }
        self._known.remember(found.values())
        admitted, late_count = self._partition(found.values(), cutoff)
        return Answer(tuple(each_once(admitted)[:limit]), (failure,) if failure else (), late_count)

    def _partition(self, papers: Collection[Paper], cutoff: date | None) -> tuple[list[Paper], int]:
        """The papers that may be judged by, and how many the cutoff forbids, whatever their state."""
        late_count = sum(not paper.admissible(cutoff) for paper in papers)
        return self._requests.admission.admitted(papers, cutoff), late_count

    def _refused(self, endpoint: str, error: RequestRejectedError) -> Answer[Any]:
        return Answer(
            (),
            (
                SourceFailure(
                    source=self.source, endpoint=endpoint, reason=error.reason, detail=str(error)
                ),
            ),
        )
