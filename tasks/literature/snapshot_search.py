"""Searches of a snapshot without a gateway process."""

from datetime import date
from pathlib import Path

from schemas.failure import Answer, SourceFailure
from schemas.identifiers import IdeaId
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.literature.admission import Admission
from tasks.literature.api_shapes import FIELDS, cutoff_filter, parse_paper, plain_query
from tasks.literature.gateway.messages import Request
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.gateway_requests import SNAPSHOT_SOURCE
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.literature.versions import each_once
from tasks.web.decoding import json_of


class SnapshotSearch:
    """Searches of a snapshot in this process, for code that must not use the network.

    Raises (from the constructor):
        SnapshotError: the snapshot is missing or damaged.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        snapshot = open_snapshot(folder)
        embedder = SentenceEmbedder(settings.embeddings, None) if snapshot.has_vectors else None
        self._upstream = SnapshotUpstream(snapshot, embedder)

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        """Search like `LiteratureClient.search_papers`, for at most 100 papers."""
        parameters = {"query": plain_query(query), "fields": FIELDS, "limit": str(limit)}
        pairs = tuple({**parameters, **cutoff_filter(cutoff)}.items())
        request = Request("GET", "/graph/v1/paper/search", pairs)
        reply = await self._upstream.answer(request)
        if reply.status != 200:
            failure = SourceFailure(
                source=SNAPSHOT_SOURCE,
                endpoint=request.endpoint,
                reason=Reason.BAD_REQUEST,
                detail=f"status {reply.status}",
            )
            return Answer((), (failure,))
        rows = json_of(reply.body).get("data") or ()
        papers = [paper for paper in map(parse_paper, rows) if paper is not None]
        admission = Admission(Ledger(IdeaId("search")))
        return Answer(tuple(each_once(admission.admit(papers, cutoff))[:limit]))

    async def close(self) -> None:
        await self._upstream.close()
