"""Curates the papers of a shard and lands each as it ends.

A paper that landed whole is not curated again.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from schemas.identifiers import IdeaId
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.works.curation import Curation, ReviewedAt
from schemas.works.curation_run import PaperSource
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.curation.collect import CurationJob
from tasks.curation.curate import curate, uncurated
from tasks.curation.openreview import OpenReview
from tasks.curation.read import Reader
from tasks.curation.submission import Unread
from tasks.judging.opening import EngineOf, open_judging, traced
from tasks.shards.work import each_unit, land_once, or_failure
from tasks.sources.requests import SourceContext
from tasks.web.client import Client, open_client
from warehouse.kinds.curations.landing import CURATION_RECORD
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore

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

    async def landed(self, source: PaperSource) -> UnitReceipt:
        """The receipt of one paper, which is curated unless it landed whole."""
        unit = CURATION_RECORD.kind.unit_path(self.layout, self.job.run_id, source.paper_id)
        ledger, parameters = Ledger(IdeaId(source.paper_id), unit), self.job.request.parameters

        def work() -> Awaitable[Curation]:
            return or_failure(
                self.curated(source, ledger),
                f"the curation of paper {source.paper_id!r}",
                lambda cause: uncurated(source, parameters, Unread(*cause), ledger),
            )

        run_id = self.job.run_id
        return await land_once(self.layout, CURATION_RECORD, run_id, source.paper_id, work)


async def curation_job(job: CurationJob, settings: Settings) -> tuple[UnitReceipt, ...]:
    """Curate and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
    """
    request, layout = job.request, Layout(job.request.warehouse)
    async with AsyncExitStack() as stack:
        judging = open_judging(request, settings, layout, job.run_id, stack)
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
            budget=judging.budget,
            engine_of=judging.engine_of,
        )
        return tuple(await each_unit(job.sources, PAPERS_IN_FLIGHT, resources.landed))
