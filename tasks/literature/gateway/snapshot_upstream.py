"""A snapshot behind the gateway, with the paths, shapes and refusals of the live API."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import astuple, replace
from functools import partial
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from schemas.errors import RequestRejectedError
from tasks.embeddings import Embedder
from tasks.literature.gateway.messages import (
    NONE_KNOWN,
    UNDATED_MARK,
    Reply,
    Request,
    error_reply,
    json_reply,
    no_such_route,
)
from tasks.literature.gateway.parameters import (
    EDGE_FIELDS,
    NESTED,
    Json,
    batch_identifiers,
    days_of,
    edge_view,
    fields_of,
    nested_fields,
    view,
    window_of,
)
from tasks.literature.snapshot.folder import snapshot_identity
from tasks.literature.snapshot.records import UNKNOWN_DAY, PaperRecord
from tasks.literature.snapshot.snapshot import Edges, Found, Snapshot
from tasks.literature.snapshot.text_index import EVER, DayRange

_OF_ONE_PAPER = {"paper": None, "paper/references": "references", "paper/citations": "citations"}
# Rows of one page; like the API, `limit` is ignored here.
_BULK_PAGE = 1_000
_MOST_LEFT_OUT = 100
"""Papers of one search listed in a header."""
# The API truncates nested lists here.
_MOST_NESTED = 9_999
_WITHHELD_NOTICE = (
    "Notice: The following paper fields have been elided by the publisher: {'references'}"
)
_NESTED_FIELDS = frozenset(NESTED)


class SnapshotUpstream:
    """An upstream that answers from a `Snapshot`.

    With an `embedder` and embeddings in the snapshot, searches are hybrid.
    """

    name = "snapshot"

    def __init__(self, snapshot: Snapshot, embedder: Embedder | None = None) -> None:
        self._snapshot = snapshot
        self._embedder = embedder if snapshot.has_vectors else None
        self._counts: Counter[str] = Counter()
        self._by_year: dict[int, str] = {}
        self._searches: dict[str, Callable[[Request], Awaitable[Reply]]] = {
            "paper/search": self._search,
            "paper/search/bulk": self._bulk,
            "paper/search/match": self._match,
            "snippet/search": self._snippets,
            "paper/batch": self._batch,
            "papers": self._recommend_from_lists,
        }

    @property
    def identity(self) -> str:
        return snapshot_identity(self._snapshot.fingerprint)

    async def answer(self, request: Request) -> Reply:
        try:
            return await self._answer(request)
        except RequestRejectedError as error:
            return error_reply(400, str(error))

    async def _answer(self, request: Request) -> Reply:
        route = request.route
        if route is None:
            return no_such_route(request)
        self._counts[route.endpoint] += 1
        if route.endpoint in self._searches:
            reply = await self._searches[route.endpoint](request)
            return replace(reply, known_by_year=self._known_by_year(days_of(request).last))
        if route.identifier is not None and route.endpoint == "papers/forpaper":
            return await self._recommend(request, [route.identifier], [])
        if route.identifier is not None and route.endpoint in _OF_ONE_PAPER:
            return self._paper(request, route.identifier, _OF_ONE_PAPER[route.endpoint])
        return error_reply(404, f"{request.method} {route.endpoint} is not served from a snapshot")

    def _known_by_year(self, last_day: int) -> str:
        """Return the year-only counts of a cutoff, cached; empty without a cutoff."""
        if last_day == EVER.last:
            return ""
        if last_day not in self._by_year:
            counts = self._snapshot.year_only_counts(last_day)
            self._by_year[last_day] = " ".join(map(str, astuple(counts)))
        return self._by_year[last_day]

    async def _search(self, request: Request) -> Reply:
        window = window_of(request, default=100, largest=100)
        if window.end >= 1000:
            return error_reply(
                400, "Relevance search offset + limit must be < 1000. Consider '/paper/search/bulk'"
            )
        query, fields, days = _query_parameters(request)
        results = self._snapshot.search(
            query, window.end, days, await self._vector(query), min(window.end, _MOST_LEFT_OUT)
        )
        body: Json = {"total": results.total, "offset": window.offset}
        if window.end < results.total:
            body["next"] = window.end
        if results.total:
            body["data"] = [view(paper, fields) for paper in results.papers[window.offset :]]
        return replace(json_reply(body), left_out=_left_out_header(results))

    async def _bulk(self, request: Request) -> Reply:
        fields, days = fields_of(request.parameter("fields")), days_of(request)
        token = request.parameter("token", "0")
        if not (token.isascii() and token.isdigit() and len(token) < 9):
            return error_reply(400, f"Unacceptable query params: [token={token}]")
        start = int(token)
        results = self._snapshot.search_bulk(request.parameter("query"), start + _BULK_PAGE, days)
        page = results.papers[start:]
        next_token = str(start + _BULK_PAGE) if start + len(page) < results.total and page else None
        data = [view(paper, fields) for paper in page]
        return json_reply({"total": results.total, "token": next_token, "data": data})

    async def _match(self, request: Request) -> Reply:
        query, fields, days = _query_parameters(request)
        results = self._snapshot.match_title(query, days)
        if not results.papers:
            return error_reply(404, "Title match not found")
        row = {**view(results.papers[0], fields), "matchScore": results.scores[0]}
        return json_reply({"data": [row]})

    async def _snippets(self, request: Request) -> Reply:
        window = window_of(request, default=10, largest=1000)
        query, _, days = _query_parameters(request.replacing(fields=None))
        only_ids = request.parameter("paperIds")
        limit, vector = _BULK_PAGE if only_ids else window.limit, await self._vector(query)
        most_left_out = min(window.limit, _MOST_LEFT_OUT)
        results = self._snapshot.search(query, limit, days, vector, most_left_out)
        wanted_ids = {
            paper.paper_id for paper in self._snapshot.papers(only_ids.split(",")) if paper
        }
        data = [
            _snippet(paper, score)
            for paper, score in zip(results.papers, results.scores, strict=True)
            if not only_ids or paper.paper_id in wanted_ids
        ]
        reply = json_reply({"data": data[: window.limit], "retrievalVersion": self.identity})
        return replace(reply, left_out=_left_out_header(results))

    async def _batch(self, request: Request) -> Reply:
        identifiers = batch_identifiers(request.body)
        fields = fields_of(request.parameter("fields"), _NESTED_FIELDS)
        papers = self._snapshot.papers(identifiers)
        if not any(papers):
            return error_reply(400, NONE_KNOWN)
        rows = [self._with_nested(paper, fields) if paper else None for paper in papers]
        return replace(json_reply(rows), packed=len(identifiers))

    def _paper(self, request: Request, identifier: str, edges: str | None) -> Reply:
        fields = fields_of(request.parameter("fields"), EDGE_FIELDS if edges else _NESTED_FIELDS)
        (paper,) = self._snapshot.papers([identifier])
        if paper is None:
            return error_reply(404, f"Paper with id {identifier} not found")
        if edges:
            return self._edges(request, paper, edges, fields)
        return json_reply(self._with_nested(paper, fields))

    def _edges(
        self, request: Request, paper: PaperRecord, kind: str, fields: tuple[str, ...]
    ) -> Reply:
        window = window_of(request, default=100, largest=1000)
        if window.end >= 10_000:
            return error_reply(400, "offset + limit must be < 10000")
        rows = slice(window.offset, window.end)
        edges = self._neighbours(paper, kind, rows, days_of(request))
        page_fields: Json = {"offset": window.offset}
        if kind == "references":
            page_fields["citingPaperInfo"] = view(paper, ("title", "openAccessPdf"))
        if edges is None:
            elided_fields = {"openAccessPdf": {"disclaimer": _WITHHELD_NOTICE}}
            page_fields["citingPaperInfo"] = {**view(paper, ("title",)), **elided_fields}
            return json_reply({**page_fields, "data": None})
        if window.end < edges.total:
            page_fields["next"] = window.end
        inner = "citedPaper" if kind == "references" else "citingPaper"
        data = [
            {**edge_view(contexts, fields), inner: view(each, fields)}
            for each, contexts in zip(edges.papers, edges.contexts, strict=True)
        ]
        return json_reply({**page_fields, "data": data})

    def _neighbours(
        self, paper: PaperRecord, kind: str, window: slice, days: DayRange = EVER
    ) -> Edges | None:
        """Return references or citations; like in the API, `days` filters citations alone."""
        if kind == "references":
            return self._snapshot.references(paper.paper_id, window)
        return self._snapshot.citations(paper.paper_id, window, days)

    def _with_nested(self, paper: PaperRecord, fields: tuple[str, ...]) -> Json:
        values = view(paper, fields)
        for kind in NESTED:
            inner = nested_fields(fields, kind)
            if inner is None:
                continue
            edges = self._neighbours(paper, kind, slice(_MOST_NESTED))
            values[kind] = edges and [
                {**edge_view(contexts, inner), **view(each, inner)}
                for each, contexts in zip(edges.papers, edges.contexts, strict=True)
            ]
        return values

    async def _recommend_from_lists(self, request: Request) -> Reply:
        try:
            lists = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            return error_reply(400, "Request body is not valid JSON")
        positive, negative = (
            lists.get(name) or [] if isinstance(lists, dict) else []
            for name in ("positivePaperIds", "negativePaperIds")
        )
        if not positive or not all(isinstance(each, str) for each in (*positive, *negative)):
            return error_reply(400, "No positive paper examples given")
        return await self._recommend(request, positive, negative)

    async def _recommend(self, request: Request, positive: list[str], negative: list[str]) -> Reply:
        window = window_of(request, default=100, largest=500)
        fields, days = fields_of(request.parameter("fields")), days_of(request)
        # Comparing all vectors takes long: in a thread, it does not block other requests.
        recommend = partial(self._snapshot.recommend, positive, window.limit + len(negative), days)
        results = await asyncio.to_thread(recommend) if self._snapshot.has_vectors else recommend()
        if results is None:
            return error_reply(404, "Input papers not found")
        unwanted_ids = {paper.paper_id for paper in self._snapshot.papers(negative) if paper}
        papers = [paper for paper in results.papers if paper.paper_id not in unwanted_ids]
        rows = [view(paper, fields) for paper in papers[: window.limit]]
        return json_reply({"recommendedPapers": rows})

    async def _vector(self, query: str) -> NDArray[np.float32] | None:
        return (await self._embedder.embed([query]))[0] if self._embedder is not None else None

    def statistics(self) -> dict[str, Any]:
        manifest = self._snapshot.manifest
        return {
            "identity": self.identity,
            "papers": manifest.paper_count,
            "references": manifest.citation_count,
            "contexts": manifest.has_contexts,
            "embeddings": manifest.embedding_dimensions is not None,
            "answered": dict(self._counts),
        }

    async def close(self) -> None:
        self._snapshot.close()


def _left_out_header(results: Found) -> str:
    return " ".join(
        f"{UNDATED_MARK if paper.last_day == UNKNOWN_DAY else ''}{paper.paper_id[:12]}"
        for paper in results.late
    )


def _query_parameters(request: Request) -> tuple[str, tuple[str, ...], DayRange]:
    query = request.parameter("query")
    if not query.strip():
        raise RequestRejectedError("Missing required parameter: 'query'")
    return query, fields_of(request.parameter("fields")), days_of(request)


def _snippet(paper: PaperRecord, score: float) -> Json:
    """Return the passage of a paper in a snapshot: its abstract, else its title."""
    text = paper.abstract or paper.title
    return {
        "score": score,
        "paper": {
            "corpusId": str(paper.corpus_id),
            "title": paper.title,
            "authors": list(paper.authors),
            "openAccessInfo": {
                "license": None,
                "status": "GREEN" if paper.pdf_url else None,
                "disclaimer": None,
            },
        },
        "snippet": {
            "text": text,
            "snippetKind": "abstract" if paper.abstract else "title",
            "section": None,
            "snippetOffset": {"start": 0, "end": len(text)},
            "annotations": {"refMentions": None, "sentences": None},
        },
    }
