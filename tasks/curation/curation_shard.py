"""Curates the papers of a shard and lands each as it ends.

A paper that landed whole is not curated again.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.boundary import ErrorBoundary
from schemas.curation import Curation, ReviewedAt
from schemas.curation_run import CurationReceipt, PaperSource
from schemas.errors import AssayError
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.curation.collect import CurationJob
from tasks.curation.curate import curate, uncurated
from tasks.curation.openreview import OpenReview
from tasks.curation.read import Reader
from tasks.curation.submission import Unread
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import EngineOf, open_engines, traced
from tasks.shards.work import cause_of, each_unit
from tasks.sources.requests import SourceContext
from tasks.web.client import Client, open_client
from warehouse.curations.landing import CURATIONS, land_curation
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout
from warehouse.units.landing import complete_receipt

PAPERS_IN_FLIGHT = 4


@dataclass(frozen=True, slots=True)
class _Resources:
    """Shared by the papers of one shard; lives in one event loop."""

    job: CurationJob
    settings: Settings
    layout: Layout
    reader: Reader
    http: Client
    answers: KeyedStore
    budget: SharedBudget
    engine_of: EngineOf

    async def curated(self, source: PaperSource, ledger: Ledger) -> Curation:
        """One paper; a failure of Assay's own ends it."""
        parameters = self.job.request.parameters
        read = await self.reader.read(source, ledger, self._openreview(source, ledger))
        if isinstance(read, Unread):
            return uncurated(source, parameters, read, ledger)
        return await curate(source, read, parameters, traced(self.engine_of(ledger)), ledger)

    def _openreview(self, source: PaperSource, ledger: Ledger) -> OpenReview | None:
        if source.reviewed_at is not ReviewedAt.OPENREVIEW:
            return None

        def count_request() -> None:
            if ledger.is_new_request():
                self.budget.count_request(ledger.idea_id)

        limits = self.settings.home / "limits"
        context = SourceContext(self.http, ledger, limits, count_request, self.answers)
        return OpenReview(self.settings, context)

    async def at_least_a_reason(self, source: PaperSource, ledger: Ledger) -> Curation:
        """Of a paper over which Assay itself failed, one that says so."""
        boundary = ErrorBoundary()
        with boundary:
            return await self.curated(source, ledger)
        assert boundary.error is not None
        if isinstance(boundary.error, AssayError | OSError):
            raise boundary.error
        cause = cause_of(boundary.error, f"the curation of paper {source.paper_id!r}")
        return uncurated(source, self.job.request.parameters, Unread(*cause), ledger)

    async def landed(self, source: PaperSource) -> CurationReceipt:
        """The receipt of one paper, which is curated unless it landed whole."""
        run_id = self.job.run_id
        done = complete_receipt(self.layout, CURATIONS, run_id, source.paper_id)
        if done is not None:
            return done
        started_at, ledger = datetime.now(UTC), Ledger(IdeaId(source.paper_id))
        curation = await self.at_least_a_reason(source, ledger)
        return land_curation(self.layout, run_id, curation, started_at, datetime.now(UTC))


async def curation_job(job: CurationJob, settings: Settings) -> tuple[CurationReceipt, ...]:
    """Curate and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
    """
    request, layout = job.request, Layout(job.request.warehouse)
    async with AsyncExitStack() as stack:
        budget = SharedBudget(layout.state / "budgets.sqlite", job.run_id, request.budget)
        stack.callback(budget.close)
        embedder = SentenceEmbedder(
            settings.embeddings, KeyedStore(layout.cache / "embeddings.sqlite")
        )
        seconds = settings.sources.timeout_seconds
        resources = _Resources(
            job=job,
            settings=settings,
            layout=layout,
            reader=Reader(
                settings.documents,
                settings.grobid_url,
                asyncio.Semaphore(settings.documents.concurrency),
            ),
            http=await stack.enter_async_context(open_client(seconds)),
            answers=KeyedStore(layout.cache / "sources.sqlite"),
            budget=budget,
            engine_of=open_engines(
                request.engine,
                request.profile,
                settings,
                layout,
                api_base=request.api_base,
                embedder=embedder,
                budget=budget,
                stack=stack,
            ),
        )
        return tuple(await each_unit(job.sources, PAPERS_IN_FLIGHT, resources.landed))
