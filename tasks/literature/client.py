"""The literature of one idea, through the gateway: cutoffs enforced, failures typed, nothing asked
for twice.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from schemas.errors import RequestRejectedError
from schemas.failure import Answer, SourceFailure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.source_text import plain_text
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
from tasks.literature.versions import each_once, named_by
from tasks.text.titles import Work, is_own_work
from tasks.web.client import Client

ItemT = TypeVar("ItemT")
AskedT = ParamSpec("AskedT")
Ask = Callable[Concatenate["LiteratureClient", AskedT], Coroutine[Any, Any, Answer[ItemT]]]

# Bounds of the API: of a page, of offset and limit together, of snippets, and of
# recommendations in one request.
_SEARCH_PAGE = 100
_MOST_SEARCHED = 999
_MOST_SNIPPETS = 1_000
_MOST_RECOMMENDED = 500
# Words of a query that may be missing. A looser question brings more noise; it is asked only where
# the strict one brings less.
_WORDS_MISSING = (1, 2)
_ENOUGH_ROWS = 500


def _asked_once(ask: Ask[AskedT, ItemT]) -> Ask[AskedT, ItemT]:
    """Share the answer to the same question; an incomplete answer is asked for again."""

    @wraps(ask)
    async def answered(
        self: "LiteratureClient", /, *asked: AskedT.args, **named: AskedT.kwargs
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


class LiteratureClient:
    """Look-ups for one idea.

    No method raises for what a source does: failures travel in the answer. Papers seen in any
    answer are remembered, and the same question is asked once.

    `cutoff` is enforced twice: sent with the query where the endpoint takes a date, and again on
    what comes back. Papers after it are removed and counted in `inadmissible_count`. Works that were
    retracted or withdrawn, or are under an expression of concern, are removed too.

    Args:
        http: owned by the caller.
        on_request: called before every request; may raise `BudgetExhaustedError`, and the look-up
            then fails with reason `budget_exhausted`.
        unlimited: the gateway answers from a snapshot alone, so there is no allowance to protect.
        knows_references: without, none are asked for and none are found, which is for whoever says
            so of the whole run.
        with_retracted: works that do not stand are returned, for those who show their state.
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
        """Papers by relevance to a short query. API: GET /graph/v1/paper/search."""
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return self._refused("paper/search", error)
        limit = min(limit, _MOST_SEARCHED)
        asked = {"query": words, "fields": self._requests.paper_fields, **until(cutoff)}
        rows: list[Any] = []
        failure: SourceFailure | None = None
        while len(rows) < limit and failure is None:
            size = min(limit - len(rows), _SEARCH_PAGE)
            window = {"offset": str(len(rows)), "limit": str(size)}
            fetched = await self._requests.get("/graph/v1/paper/search", {**asked, **window})
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
        """Papers with all but one word of one of `queries`, or where those are few all but two,
        packed in at most `maximum_requests` requests of 1,000 rows, in no order of relevance.

        API: GET /graph/v1/paper/search/bulk.
        """
        asked = {"fields": self._requests.paper_fields, **until(cutoff)}
        rows: list[Any] = []
        failures: list[SourceFailure] = []
        sent = 0
        for missing in _WORDS_MISSING:
            if len(rows) >= _ENOUGH_ROWS:
                break
            for packed in packed_queries(queries, missing):
                page: dict[str, str] | None = {}
                while page is not None and sent < maximum_requests:
                    sent += 1
                    fetched = await self._requests.get(
                        "/graph/v1/paper/search/bulk", {"query": packed, **asked, **page}
                    )
                    if fetched.failure is not None:
                        failures.append(fetched.failure)
                    found = fetched.rows("data")
                    rows.extend(found)
                    token = fetched.body.get("token") if found else None
                    page = {"token": token} if token else None
        answer = self._admitted(rows, len(rows), cutoff, None)
        return replace(answer, failures=tuple(failures))

    @_asked_once
    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        """Passages by relevance to a natural-language query, best first.

        Their papers and those they mention are fetched in one batch and remembered: `papers` gives
        them without a request. API: GET /graph/v1/snippet/search.
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
        """Papers by identifier, in one or few packed requests; unknown ones are left out.

        API: POST /graph/v1/paper/batch.
        """
        found, failures = await self._known.by_identifier(paper_ids)
        admitted, late_count = self._partition(found, cutoff)
        return Answer(tuple(admitted), failures, late_count)

    @_asked_once
    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Papers like `seed`; the gateway fills the places of papers outside the date range with
        further ones. API: GET /recommendations/v1/papers/forpaper/{id}?from=all-cs.
        """
        parameters = {
            "from": "all-cs",
            "limit": str(min(limit, _MOST_RECOMMENDED)),
            "fields": self._requests.paper_fields,
            **until(cutoff),
        }
        path = f"/recommendations/v1/papers/forpaper/{quote(seed, safe=':')}"
        fetched = await self._requests.get(path, parameters)
        rows = fetched.rows("recommendedPapers")
        return self._admitted(rows, limit, cutoff, fetched.failure, without=frozenset([seed]))

    @_asked_once
    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Papers like `seeds` taken together, in one request; the seeds are left out.

        The gateway keeps to the date range, which the API does not. API: POST
        /recommendations/v1/papers.
        """
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
        """Papers that the seeds cite, and how. API: POST /graph/v1/paper/batch.

        References a publisher withholds count as a failure with reason `withheld`, not as none. How
        a seed cites is known where it takes no further request: with a snapshot that has contexts.
        """
        if not self._knows_references:
            return Answer(())
        return await self._references.of(seeds, limit_per_seed, cutoff)

    async def citations(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """Papers that cite the seeds, and how. API: POST /graph/v1/paper/batch?fields=citations.…,
        GET /graph/v1/paper/{id}/citations.

        Of a paper that is cited more often than the source lists, those it lists; a failure with
        reason `too_large` says so where less than `limit_per_seed` came of it.
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
        failure = SourceFailure(
            source=self.source, endpoint=endpoint, reason=error.reason, detail=str(error)
        )
        return Answer((), (failure,))


def own_publications(idea: Idea, papers: Iterable[Paper]) -> list[Paper]:
    """Those of `papers` that are possibly the idea's own publication: by an identifier given with
    the idea, or as `is_own_work` tells.
    """
    papers = list(papers)
    this = Work(plain_text(idea.title), idea.text, idea.authors)
    named = named_by(idea.publications, papers)
    return [
        paper
        for paper in papers
        if paper.paper_id in named
        or is_own_work(this, Work(paper.title, paper.abstract, paper.authors))
    ]
