"""Resources shared by the ideas of a shard: connections, caches, limits, budget and models."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from schemas.judgement.evaluation import Receipt
from schemas.run import Module
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.committee.knowledge.tools import KnowledgeTools, open_knowledge_tools
from tasks.documents.document import DOCUMENTS_AT_ONCE, AbstractLibrary, DocumentLibrary
from tasks.embeddings import Embedder
from tasks.embeddings.sentence_embedder import SentenceEmbedder, bundled_settings
from tasks.evaluation.evaluate_shard import Attempts, evaluate_shard
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import ShardJob
from tasks.judging.batches.batched_model import open_batches
from tasks.judging.opening import EngineOf, open_judging, with_spans
from tasks.literature.client import LiteratureClient
from tasks.sources.requests import SourceContext
from tasks.sources.unpaywall import open_full_texts
from tasks.web.client import Client, open_client
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore


@dataclass(frozen=True, slots=True)
class ShardResources:
    """Resources of one shard, for one event loop."""

    job: ShardJob
    settings: Settings
    http: Client
    embedder: Embedder
    field_embedder: Embedder
    documents: KeyedStore
    document_slots: asyncio.Semaphore
    budget: SharedBudget
    engine_of: EngineOf
    sources_http: Client
    source_answers: KeyedStore

    @asynccontextmanager
    async def tools(self, ledger: Ledger) -> AsyncIterator[IdeaTools]:
        """Open the tools of one idea."""
        literature = LiteratureClient(
            self.job.gateway_url,
            ledger,
            self.http,
            self.settings.literature,
            lambda: self._count_request(ledger),
            unlimited=self.job.request.literature.unlimited,
            with_references=self.job.knows_references,
        )
        documents = self._documents(ledger)
        yield IdeaTools(
            engine=with_spans(self.engine_of(ledger)),
            literature=literature,
            documents=documents,
            embedder=self.embedder,
            ledger=ledger,
            knowledge=self._knowledge(ledger, literature, documents),
            engine_of_repetition=lambda number: with_spans(
                self.engine_of(ledger, repetition=number)
            ),
            field_embedder=self.field_embedder,
        )

    def _count_request(self, ledger: Ledger) -> None:
        if ledger.is_new_request():
            self.budget.count_request(ledger.idea_id)

    def _knowledge(
        self, ledger: Ledger, literature: LiteratureClient, documents: DocumentLibrary
    ) -> KnowledgeTools | None:
        if Module.COMMITTEE not in self.job.request.parameters.modules:
            return None
        return open_knowledge_tools(
            self.settings,
            self.job.request.profile.committee,
            literature=literature,
            documents=documents,
            embedder=self.embedder,
            source_context=self._source_context(ledger, lambda: self._count_request(ledger)),
            store=self.documents,
            slots=self.document_slots,
            read_in_full=self.job.request.full_text,
        )

    def _source_context(
        self, ledger: Ledger, on_request: Callable[[], None] | None = None
    ) -> SourceContext:
        """Return the context of sources other than the gateway: connections, limits and cache."""
        limits = self.settings.home / "limits"
        return SourceContext(self.sources_http, ledger, limits, on_request, self.source_answers)

    def _documents(self, ledger: Ledger) -> DocumentLibrary:
        if not self.job.request.full_text:
            return AbstractLibrary()
        return open_full_texts(
            self.settings, self._source_context(ledger), self.documents, self.document_slots
        )


async def evaluate_job(job: ShardJob, settings: Settings) -> tuple[Receipt, ...]:
    """Evaluate and land the ideas of a shard that have no complete receipt yet; return the shard's
    receipts.
    """
    layout = Layout(job.request.warehouse)
    attempts = Attempts(layout.state / "runs" / job.run_id / "attempts")
    async with AsyncExitStack() as stack:
        request, batches = job.request, None
        if request.parameters.batch:
            batches = open_batches(
                layout.batches(job.run_id), request.parameters.batch_failures, stack
            )
        judging = open_judging(request, settings, layout, job.run_id, stack, batches=batches)
        resources = ShardResources(
            job=job,
            settings=settings,
            http=await stack.enter_async_context(open_client(settings.literature.timeout_seconds)),
            embedder=judging.embedder,
            field_embedder=_field_embedder(judging.embedder, settings, layout),
            documents=KeyedStore(layout.cache / "documents.sqlite"),
            document_slots=asyncio.Semaphore(DOCUMENTS_AT_ONCE),
            budget=judging.budget,
            engine_of=judging.engine_of,
            sources_http=await stack.enter_async_context(
                open_client(settings.sources.timeout_seconds)
            ),
            source_answers=KeyedStore(layout.cache / "sources.sqlite"),
        )
        return await evaluate_shard(job, layout, attempts, resources.tools)


def _field_embedder(embedder: Embedder, settings: Settings, layout: Layout) -> Embedder:
    """Return the bundled model, on whose vectors the rule of field coverage was fitted."""
    model_settings = bundled_settings(settings.embeddings)
    if model_settings == settings.embeddings:
        return embedder
    return SentenceEmbedder(model_settings, KeyedStore(layout.cache / "embeddings.sqlite"))
