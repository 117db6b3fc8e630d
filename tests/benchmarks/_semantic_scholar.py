"""The Semantic Scholar API on loopback over a snapshot of real papers, its requests counted.

Real: titles, abstracts, dates, and what a search finds. Generated, always the same way, because the
papers come without a citation graph: a paper references its 20 to 49 nearest older ones by the text
index; every other reference row lacks its abstract, as the API's rows do; a passage is the paper's
abstract and mentions none to three of its references (ScholarEval's runs saw about 23 papers named
by 20 passages). As the API does it: bulk search gives pages of 1,000 in the order of identifiers,
not of relevance, and recommendations know no dates.
"""

import hashlib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import orjson
from starlette.applications import Starlette
from starlette.requests import Request as WebRequest
from starlette.responses import Response
from starlette.routing import Route

from tasks.literature.gateway.messages import Reply, Request, error_reply, json_reply
from tasks.literature.gateway.parameters import days_of, fields_of, view
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.snapshot.records import PaperRecord
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tasks.literature.snapshot.text_index import DayRange
from tests.support.loopback import ServedApplication

_BULK_PAGE = 1_000
_MOST_BULK_ROWS = 20_000


def _digit(text: str, place: int) -> int:
    return hashlib.sha256(text.encode()).digest()[place]


class Literature:
    """A snapshot with generated references."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.papers = snapshot.papers
        self.references = lru_cache(maxsize=200_000)(self._references)

    def _references(self, paper_id: str) -> tuple[PaperRecord, ...]:
        (paper,) = self.snapshot.papers([paper_id])
        if paper is None:
            return ()
        count = 20 + _digit(paper_id, 0) % 30
        older = DayRange(0, (paper.year or 0) * 10_000)
        found = self.snapshot.recommend([paper_id], count, older)
        return found.papers if found is not None else ()


class SemanticScholarOverSnapshot:
    """Use as a context manager; `counts` are the requests that came, by endpoint."""

    def __init__(self, folder: Path) -> None:
        self.literature = Literature(open_snapshot(folder))
        self._plain = SnapshotUpstream(self.literature.snapshot)
        self.counts: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._served.port}"

    def __enter__(self) -> Self:
        routes = [Route("/{rest:path}", self._serve, methods=["GET", "POST"])]
        self._served = ServedApplication(Starlette(routes=routes))
        return self

    def __exit__(self, *_: object) -> None:
        self._served.stop()

    async def _serve(self, web: WebRequest) -> Response:
        request = Request(
            web.method,
            web.url.path,
            tuple(sorted(web.query_params.multi_items())),
            await web.body(),
        )
        self.counts[_endpoint(request)] += 1
        reply = await self._answer(request)
        return Response(reply.body, reply.status, media_type="application/json")

    async def _answer(self, request: Request) -> Reply:
        if request.path.startswith("/recommendations/") and request.parameter(
            "publicationDateOrYear"
        ):
            return error_reply(400, "Unacceptable query params: [publicationDateOrYear]")
        if request.path.rstrip("/") == "/graph/v1/paper/search/bulk":
            return self._bulk(request)
        if request.path == "/graph/v1/paper/batch" and "references." in request.parameter("fields"):
            return self._with_references(request)
        reply = await self._plain.answer(request)
        return (
            self._with_mentions(reply)
            if request.path == "/graph/v1/snippet/search" and reply.status == 200
            else reply
        )

    def _bulk(self, request: Request) -> Reply:
        found = self.literature.snapshot.search_bulk(
            request.parameter("query"), _MOST_BULK_ROWS, days_of(request)
        )
        ordered = sorted(found.papers, key=lambda paper: paper.paper_id)
        if request.parameter("sort").startswith("citationCount"):
            ordered.sort(key=lambda paper: -(paper.citation_count or 0))
        start = int(request.parameter("token", "0"))
        following = str(start + _BULK_PAGE) if start + _BULK_PAGE < len(ordered) else None
        fields = fields_of(request.parameter("fields"))
        data = [view(paper, fields) for paper in ordered[start : start + _BULK_PAGE]]
        return json_reply({"total": found.total, "token": following, "data": data})

    def _with_references(self, request: Request) -> Reply:
        identifiers: list[str] = orjson.loads(request.body)["ids"]
        named = request.parameter("fields").split(",")
        inner = fields_of(
            ",".join(
                name.removeprefix("references.") for name in named if name.startswith("references.")
            )
        )
        own = fields_of(",".join(name for name in named if not name.startswith("references.")))
        rows: list[Any] = []
        for paper in self.literature.papers(identifiers):
            if paper is None:
                rows.append(None)
                continue
            cited = self.literature.references(paper.paper_id)
            row = {
                **view(paper, own),
                "references": [self._reference(each, inner) for each in cited],
            }
            rows.append({**row, "referenceCount": len(cited)})
        return (
            Reply(200, orjson.dumps(rows))
            if any(rows)
            else error_reply(400, "No valid paper ids given")
        )

    def _reference(self, paper: PaperRecord, fields: tuple[str, ...]) -> dict[str, Any]:
        row = view(paper, fields)
        return (
            {**row, "abstract": None}
            if "abstract" in row and _digit(paper.paper_id, 1) % 2
            else row
        )

    def _with_mentions(self, reply: Reply) -> Reply:
        body = orjson.loads(reply.body)
        for row in body["data"]:
            (paper,) = self.literature.papers([f"CorpusId:{row['paper']['corpusId']}"])
            assert paper is not None
            mentioned = self.literature.references(paper.paper_id)[: _digit(paper.paper_id, 2) % 4]
            mentions = [
                {"start": 0, "end": 1, "matchedPaperCorpusId": str(each.corpus_id)}
                for each in mentioned
            ]
            row["snippet"] |= {
                "snippetKind": "body",
                "section": "Introduction",
                "annotations": {"refMentions": mentions, "sentences": []},
            }
        return json_reply(body)


def _endpoint(request: Request) -> str:
    path = request.path.split("/v1/")[-1].strip("/")
    if path.startswith("papers/forpaper"):
        return "recommendations for one"
    if path == "papers":
        return "recommendations for many"
    if path == "paper/batch":
        return "batch with references" if "references." in request.parameter("fields") else "batch"
    return path
