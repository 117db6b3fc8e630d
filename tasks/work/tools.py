"""What one unit of any kind of work is worked on with: engine, literature, documents, sources, and
the ledger of what it asks.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.work import Request
from tasks.accounting.ledger import Ledger
from tasks.documents.sections import AbstractLibrary, DocumentLibrary
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import Judging, open_judging, traced
from tasks.judging.step import Engine
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.sources.requests import SourceContext
from tasks.sources.unpaywall import open_full_texts
from tasks.web.client import Client, open_client
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore


@dataclass(frozen=True, slots=True)
class Shared:
    """What the units of a shard share; lives in one event loop."""

    request: Request[Any, Any]
    settings: Settings
    gateway_url: str | None
    judging: Judging
    http: Client
    sources_http: Client
    texts: KeyedStore
    answers: KeyedStore
    document_slots: asyncio.Semaphore


async def open_shared(
    request: Request[Any, Any],
    settings: Settings,
    layout: Layout,
    run_id: RunId,
    gateway_url: str | None,
    stack: AsyncExitStack,
) -> Shared:
    """Open what the units of a shard share; closed with `stack`."""
    return Shared(
        request=request,
        settings=settings,
        gateway_url=gateway_url,
        judging=open_judging(request, settings, layout, run_id, stack),
        http=await stack.enter_async_context(open_client(settings.literature.timeout_seconds)),
        sources_http=await stack.enter_async_context(open_client(settings.sources.timeout_seconds)),
        texts=KeyedStore(layout.cache / "documents.sqlite"),
        answers=KeyedStore(layout.cache / "sources.sqlite"),
        document_slots=asyncio.Semaphore(settings.documents.concurrency),
    )


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one unit.

    Attributes:
        ledger: keeps what the unit asks, and what failed.
    """

    shared: Shared
    ledger: Ledger

    @property
    def request(self) -> Any:
        """What was asked for."""
        return self.shared.request

    @property
    def settings(self) -> Settings:
        return self.shared.settings

    @property
    def document_slots(self) -> asyncio.Semaphore:
        """Bounds the documents in work."""
        return self.shared.document_slots

    @property
    def embedder(self) -> SentenceEmbedder:
        return self.shared.judging.embedder

    @property
    def engine(self) -> Engine:
        """Answers steps, and books its calls in the ledger."""
        return traced(self.shared.judging.engine_of(self.ledger))

    @property
    def literature(self) -> SemanticScholarClient:
        """Papers, through the gateway; each request counts for the budget."""
        assert self.shared.gateway_url is not None
        literature = self.shared.request.literature
        return SemanticScholarClient(
            self.shared.gateway_url,
            self.ledger,
            self.shared.http,
            self.settings.literature,
            self._count_request,
            unlimited=literature is not None and literature.unlimited,
        )

    @property
    def full_texts(self) -> DocumentLibrary:
        """Works in full where the request wants them, else their abstracts."""
        if not self.shared.request.full_text:
            return AbstractLibrary()
        context = SourceContext(self.shared.sources_http, self.ledger, self._limits)
        return open_full_texts(self.settings, context, self.shared.texts, self.document_slots)

    @property
    def sources(self) -> SourceContext:
        """Where a source other than the literature is asked; each request counts."""
        http, answers = self.shared.sources_http, self.shared.answers
        return SourceContext(http, self.ledger, self._limits, self._count_request, answers)

    @property
    def _limits(self) -> Path:
        return self.settings.home / "limits"

    def _count_request(self) -> None:
        if self.ledger.is_new_request():
            self.shared.judging.budget.count_request(self.ledger.idea_id)
