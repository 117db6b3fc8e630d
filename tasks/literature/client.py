"""Literature look-ups of one idea through the gateway."""

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
    cutoff_filter,
    packed_queries,
    parse_paper,
    passage_rows,
    passages_of,
    plain_query,
)
from tasks.literature.edges import EdgeLists
from tasks.literature.gateway_requests import (
    DEFAULT_SOURCE,
    SNAPSHOT_SOURCE,
    GatewayRequests,
    PaperCache,
)
from tasks.literature.versions import each_once, named_by
from tasks.text.titles import Work, is_own_work
from tasks.web.client import Client

ItemT = TypeVar("ItemT")
ArgumentsT = ParamSpec("ArgumentsT")
Ask = Callable[Concatenate["LiteratureClient", ArgumentsT], Coroutine[Any, Any, Answer[ItemT]]]


# Limits of the API: rows of a page, offset plus limit, snippets, and recommendations per request.
_SEARCH_PAGE = 100
_MOST_SEARCHED = 999
_MOST_SNIPPETS = 1_000
_MOST_RECOMMENDED = 500
# Words of a query that may be missing. The looser query returns more noise, so it is sent only if
# the strict one returns too few rows.
_WORDS_MISSING = (1, 2)
_SUFFICIENT_ROWS = 500


def _share_answers(ask: Ask[ArgumentsT, ItemT]) -> Ask[ArgumentsT, ItemT]:
    """Share the answers to equal calls.

    After an incomplete answer the call is repeated.
    """

    @wraps(ask)
    async def look_up(
        self: "LiteratureClient", /, *arguments: ArgumentsT.args, **options: ArgumentsT.kwargs
    ) -> Answer[ItemT]:
        parts = (tuple(part) if isinstance(part, list) else part for part in arguments)
        key = (ask.__name__, *parts, *options.items())
        task: asyncio.Task[Answer[ItemT]] | None = self.tasks.get(key)
        if task is None or (
            task.done()
            and (task.cancelled() or task.exception() is not None or not task.result().complete)
        ):
            task = self.tasks[key] = asyncio.create_task(ask(self, *arguments, **options))
        return await asyncio.shield(task)

    return look_up


class LiteratureClient:
    """Look-ups for one idea.

    No method raises for what a source does: failures are part of the answer. The papers of all
    answers are cached, and equal calls share one request.

    `cutoff` is enforced twice: in the query where the endpoint takes a date, and on the answer.
    Papers after it are removed and counted in `inadmissible_count`. Works that were retracted or
    withdrawn, or are under an expression of concern, are removed too.

    Args:
        http: closed by the caller.
        on_request: called before every request. If it raises `BudgetExhaustedError`, the look-up
            fails with reason `budget_exhausted`.
        unlimited: the gateway answers from a snapshot alone, so there is no rate limit to respect.
        with_references: False if the literature has no references: none are requested or returned.
        with_retracted: also return retracted and withdrawn works, for callers that show their
            state.
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
        with_references: bool = True,
        with_retracted: bool = False,
    ) -> None:
        self.unlimited = unlimited
        self._with_references = with_references
        self._requests = GatewayRequests(
            base_url,
            idea_ledger,
            http,
            on_request,
            restart_seconds=settings.restart_seconds,
            source=SNAPSHOT_SOURCE if unlimited else DEFAULT_SOURCE,
            with_retracted=with_retracted,
        )
        self._cache = PaperCache(self._requests)
        self._references = EdgeLists(self._requests, self._cache, "references")
        self._citations = EdgeLists(self._requests, self._cache, "citations")
        self.tasks: dict[tuple[Any, ...], asyncio.Task[Any]] = {}

    @property
    def source(self) -> str:
        """`semantic_scholar` or `snapshot`, as reported by the gateway."""
        return self._requests.source

    @_share_answers
    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        """Return papers by relevance to a short query. API: GET /graph/v1/paper/search."""
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return Answer((), (self._requests.refusal("paper/search", error.reason, str(error)),))
        limit = min(limit, _MOST_SEARCHED)
        parameters = {
            "query": words,
            "fields": self._requests.paper_fields,
            **cutoff_filter(cutoff),
        }
        rows: list[Any] = []
        failure: SourceFailure | None = None
        while len(rows) < limit and failure is None:
            size = min(limit - len(rows), _SEARCH_PAGE)
            window = {"offset": str(len(rows)), "limit": str(size)}
            result = await self._requests.get("/graph/v1/paper/search", {**parameters, **window})
            failure = result.failure
            page = result.rows("data")
            rows.extend(page)
            if "next" not in (result.body or {}) or not page:
                break
        return self._admit(rows, limit, cutoff, failure)

    @_share_answers
    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Return papers that contain nearly all words of one of `queries`, unranked.

        One word may be missing, or two if too few papers match. At most `maximum_requests` requests
        of 1,000 rows are sent. API: GET /graph/v1/paper/search/bulk.
        """
        parameters = {"fields": self._requests.paper_fields, **cutoff_filter(cutoff)}
        rows: list[Any] = []
        failures: list[SourceFailure] = []
        request_count = 0
        for missing in _WORDS_MISSING:
            if len(rows) >= _SUFFICIENT_ROWS:
                break
            for boolean_query in packed_queries(queries, missing):
                page: dict[str, str] | None = {}
                while page is not None and request_count < maximum_requests:
                    request_count += 1
                    result = await self._requests.get(
                        "/graph/v1/paper/search/bulk",
                        {"query": boolean_query, **parameters, **page},
                    )
                    if result.failure is not None:
                        failures.append(result.failure)
                    page_rows = result.rows("data")
                    rows.extend(page_rows)
                    token = result.body.get("token") if page_rows else None
                    page = {"token": token} if token else None
        answer = self._admit(rows, len(rows), cutoff, None)
        return replace(answer, failures=tuple(failures))

    @_share_answers
    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        """Return passages by relevance to a natural-language query, best first.

        Their papers and those they mention are fetched in one batch and cached: `papers` then
        returns them without a request. API: GET /graph/v1/snippet/search.
        """
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return Answer((), (self._requests.refusal("snippet/search", error.reason, str(error)),))
        parameters = {
            "query": words,
            "limit": str(min(limit, _MOST_SNIPPETS)),
            **cutoff_filter(cutoff),
        }
        result = await self._requests.get("/graph/v1/snippet/search", parameters)
        if result.failure is not None:
            return Answer((), (result.failure,))
        rows = passage_rows(result.rows("data"))[:limit]
        papers, failures = await self._cache.by_corpus_id(
            corpus_id for row in rows for corpus_id in row.corpus_ids
        )
        evidence, late_count = self._partition(papers.values(), cutoff)
        evidence_ids = {paper.paper_id for paper in evidence}
        evidence_by_number = {
            number: paper for number, paper in papers.items() if paper.paper_id in evidence_ids
        }
        return Answer(passages_of(rows, evidence_by_number), failures, late_count)

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        """Return papers by identifier, in few batch requests; unknown ones are skipped.

        API: POST /graph/v1/paper/batch.
        """
        papers, failures = await self._cache.by_identifier(paper_ids)
        evidence, late_count = self._partition(papers, cutoff)
        return Answer(tuple(evidence), failures, late_count)

    @_share_answers
    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Return papers similar to `seed`; the gateway applies the date range.

        API: GET /recommendations/v1/papers/forpaper/{id}?from=all-cs.
        """
        parameters = {
            "from": "all-cs",
            "limit": str(min(limit, _MOST_RECOMMENDED)),
            "fields": self._requests.paper_fields,
            **cutoff_filter(cutoff),
        }
        path = f"/recommendations/v1/papers/forpaper/{quote(seed, safe=':')}"
        result = await self._requests.get(path, parameters)
        rows = result.rows("recommendedPapers")
        return self._admit(rows, limit, cutoff, result.failure, without=frozenset([seed]))

    @_share_answers
    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Return papers similar to all `seeds` together, without the seeds, in one request.

        The gateway applies the date range, which the API ignores. API: POST
        /recommendations/v1/papers.
        """
        parameters = {
            "limit": str(min(limit + len(seeds), _MOST_RECOMMENDED)),
            "fields": self._requests.paper_fields,
            **cutoff_filter(cutoff),
        }
        body = {"positivePaperIds": list(seeds), "negativePaperIds": []}
        result = await self._requests.post(
            "/recommendations/v1/papers", parameters, body, len(seeds)
        )
        rows = result.rows("recommendedPapers")
        return self._admit(rows, limit, cutoff, result.failure, without=frozenset(seeds))

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """Return the papers that the seeds cite, with the edges.

        References that a publisher withholds are a failure with reason `withheld`. Edges have
        contexts only where they need no further request: with a snapshot that has contexts. API:
        POST /graph/v1/paper/batch?fields=references.…
        """
        if not self._with_references:
            return Answer(())
        return await self._references.of(seeds, limit_per_seed, cutoff)

    async def citations(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """Return the papers that cite the seeds, with the edges.

        Where the source lists only part of the citations and fewer than `limit_per_seed` remain, a
        failure with reason `too_large` is added. API: POST
        /graph/v1/paper/batch?fields=citations.…, GET /graph/v1/paper/{id}/citations.
        """
        if not self._with_references:
            return Answer(())
        return await self._citations.of(seeds, limit_per_seed, cutoff)

    def _admit(
        self,
        rows: Iterable[Any],
        limit: int,
        cutoff: date | None,
        failure: SourceFailure | None,
        without: frozenset[PaperId] = frozenset(),
    ) -> Answer[Paper]:
        papers = {
            paper.paper_id: paper
            for paper in map(parse_paper, rows)
            if paper is not None and paper.paper_id not in without
        }
        self._cache.remember(papers.values())
        evidence, late_count = self._partition(papers.values(), cutoff)
        return Answer(tuple(each_once(evidence)[:limit]), (failure,) if failure else (), late_count)

    def _partition(self, papers: Collection[Paper], cutoff: date | None) -> tuple[list[Paper], int]:
        """Return the admitted papers, and the number after the cutoff, whatever their state."""
        late_count = sum(not paper.admissible(cutoff) for paper in papers)
        return self._requests.admission.admit(papers, cutoff), late_count


def own_publications(idea: Idea, papers: Iterable[Paper]) -> list[Paper]:
    """Return the papers that may be the idea's own publication.

    They match an identifier given with the idea, or `is_own_work`.
    """
    papers = list(papers)
    idea_work = Work(plain_text(idea.title), idea.text, idea.authors)
    named_ids = named_by(idea.publications, papers)
    return [
        paper
        for paper in papers
        if paper.paper_id in named_ids
        or is_own_work(idea_work, Work(paper.title, paper.abstract, paper.authors))
    ]
