"""Tools for working on one unit: engine, literature, documents, sources and ledger."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.identifiers import RunId
from schemas.interpreter import processor_count
from schemas.settings import Settings
from schemas.work import Judge, Request
from tasks.accounting.ledger import Ledger
from tasks.documents.document import DOCUMENTS_AT_ONCE, AbstractLibrary, DocumentLibrary
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.messages import Attachment
from tasks.judging.opening import EngineOf, Judging, open_engines, open_judging, with_spans
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient
from tasks.sources.requests import TIMEOUT_SECONDS, SourceContext
from tasks.sources.unpaywall import open_full_texts
from tasks.web.client import Client, open_client
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore


@dataclass(frozen=True, slots=True)
class Shared:
    """Objects that the units of a shard share.

    They live in one event loop.
    """

    request: Request[Any, Any]
    settings: Settings
    run_id: RunId
    gateway_url: str | None
    judging: Judging
    judges: Mapping[EngineChoice, EngineOf]
    http: Client
    sources_http: Client
    texts: KeyedStore
    answers: KeyedStore
    document_slots: asyncio.Semaphore
    processor_slots: asyncio.Semaphore


async def open_shared(
    request: Request[Any, Any],
    settings: Settings,
    layout: Layout,
    run_id: RunId,
    gateway_url: str | None,
    stack: AsyncExitStack,
    batches_path: Path | None = None,
) -> Shared:
    """Open the objects that the units of a shard share.

    `stack` closes them.
    """
    judging = open_judging(request, settings, layout, run_id, stack, batches_path=batches_path)
    # A judge answers all steps itself, regardless of the models assigned in the profile.
    single_model_profile = replace(
        request.profile, judging=request.profile.judging.without_models()
    )
    _, *judges = request.engines
    return Shared(
        request=request,
        settings=settings,
        run_id=run_id,
        gateway_url=gateway_url,
        judging=judging,
        judges={
            judge.engine: open_engines(
                judge.engine,
                single_model_profile,
                settings,
                layout,
                api_base=judge.api_base,
                embedder=judging.embedder,
                budget=judging.budget,
                stack=stack,
            )
            for judge in judges
        },
        http=await stack.enter_async_context(open_client(settings.literature.timeout_seconds)),
        sources_http=await stack.enter_async_context(open_client(TIMEOUT_SECONDS)),
        texts=KeyedStore(layout.cache / "documents.sqlite"),
        answers=KeyedStore(layout.cache / "sources.sqlite"),
        document_slots=asyncio.Semaphore(DOCUMENTS_AT_ONCE),
        processor_slots=asyncio.Semaphore(processor_count()),
    )


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one unit.

    Attributes:
        ledger: records calls and failures of the unit.
    """

    shared: Shared
    ledger: Ledger

    @property
    def request(self) -> Any:
        """The request of the run."""
        return self.shared.request

    @property
    def settings(self) -> Settings:
        return self.shared.settings

    @property
    def run_id(self) -> RunId:
        return self.shared.run_id

    @property
    def processor_slots(self) -> asyncio.Semaphore:
        """Limits the programs that run concurrently."""
        return self.shared.processor_slots

    @property
    def document_slots(self) -> asyncio.Semaphore:
        """Limits the documents that are processed concurrently."""
        return self.shared.document_slots

    @property
    def embedder(self) -> SentenceEmbedder:
        return self.shared.judging.embedder

    @property
    def engine(self) -> Engine:
        """Engine that answers steps and records its calls in the ledger."""
        return self.engine_of()

    def engine_of(
        self, attachment: Attachment | None = None, repetition: int | None = None
    ) -> Engine:
        """Return `engine` with an attachment or for one repetition of its questions."""
        return with_spans(
            self.shared.judging.engine_of(self.ledger, attachment, repetition=repetition)
        )

    def judge(self, judge: Judge, repetition: int | None = None) -> Engine:
        """Return the engine of one of the request's judges."""
        return with_spans(self.shared.judges[judge.engine](self.ledger, repetition=repetition))

    def literature(
        self, *, with_references: bool = True, with_retracted: bool = False
    ) -> LiteratureClient:
        """Open a literature client of the gateway; the budget counts its requests."""
        assert self.shared.gateway_url is not None
        literature = self.shared.request.literature
        return LiteratureClient(
            self.shared.gateway_url,
            self.ledger,
            self.shared.http,
            self.settings.literature,
            self._count_request,
            unlimited=literature is not None and literature.unlimited,
            with_references=with_references,
            with_retracted=with_retracted,
        )

    @property
    def full_texts(self) -> DocumentLibrary:
        """Full texts if the request includes them, else abstracts.

        The budget does not count their requests.
        """
        if not self.shared.request.full_text:
            return AbstractLibrary()
        context = self._source_context(None)
        return open_full_texts(self.settings, context, self.shared.texts, self.document_slots)

    @property
    def sources(self) -> SourceContext:
        """Context of requests to other sources; the budget counts each request."""
        return self._source_context(self._count_request)

    def _source_context(self, on_request: Callable[[], None] | None) -> SourceContext:
        http, limits = self.shared.sources_http, self.settings.home / "limits"
        return SourceContext(http, self.ledger, limits, on_request, self.shared.answers)

    def _count_request(self) -> None:
        if self.ledger.is_new_request():
            self.shared.judging.budget.count_request(self.ledger.idea_id)
