"""Surveys the questions of a shard and lands each as it ends.

A question that landed whole is not surveyed again.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from schemas.identifiers import IdeaId
from schemas.literature.survey import Survey
from schemas.literature.survey_run import SurveyQuestion, SurveyRequest
from schemas.run import UnitReceipt
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.documents.sections import AbstractLibrary, DocumentLibrary
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import EngineOf, open_judging, traced
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.shards.work import Shard, each_unit, land_once, or_failure
from tasks.sources.requests import SourceContext
from tasks.sources.unpaywall import open_full_texts
from tasks.survey.survey import survey, unsurveyed
from tasks.web.client import Client, open_client
from warehouse.kinds.surveys import SURVEY_RECORD
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore

QUESTIONS_IN_FLIGHT = 2


class SurveyJob(Shard):
    """Some questions of one run, for one worker."""

    request: SurveyRequest
    questions: tuple[SurveyQuestion, ...]
    gateway_url: str

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(asked.question_id for asked in self.questions)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse


@dataclass(frozen=True, slots=True)
class _Resources:
    """Shared by the questions of one shard; lives in one event loop."""

    job: SurveyJob
    settings: Settings
    layout: Layout
    http: Client
    sources_http: Client
    embedder: SentenceEmbedder
    budget: SharedBudget
    engine_of: EngineOf
    texts: KeyedStore
    slots: asyncio.Semaphore

    async def surveyed(self, asked: SurveyQuestion, ledger: Ledger) -> Survey:
        """One question; a failure of Assay's own ends it."""
        request = self.job.request

        def count_request() -> None:
            if ledger.is_new_request():
                self.budget.count_request(ledger.idea_id)

        client = SemanticScholarClient(
            self.job.gateway_url,
            ledger,
            self.http,
            self.settings.literature,
            count_request,
            unlimited=request.literature.unlimited,
        )
        return await survey(
            asked,
            request.parameters,
            request.cutoff_date,
            engine=traced(self.engine_of(ledger)),
            literature=client,
            embedder=self.embedder,
            ledger=ledger,
            documents=self._documents(ledger),
        )

    def _documents(self, ledger: Ledger) -> DocumentLibrary:
        if not self.job.request.full_text:
            return AbstractLibrary()
        limits = self.settings.home / "limits"
        context = SourceContext(self.sources_http, ledger, limits)
        return open_full_texts(self.settings, context, self.texts, self.slots)

    async def landed(self, asked: SurveyQuestion) -> UnitReceipt:
        """The receipt of one question, which is surveyed unless it landed whole."""
        unit = SURVEY_RECORD.kind.unit_path(self.layout, self.job.run_id, asked.question_id)
        ledger = Ledger(IdeaId(asked.question_id), unit)

        def work() -> Awaitable[Survey]:
            return or_failure(
                self.surveyed(asked, ledger),
                f"the survey of {asked.question!r}",
                lambda cause: unsurveyed(asked, self.job.request.cutoff_date, *cause, ledger),
            )

        run_id = self.job.run_id
        return await land_once(self.layout, SURVEY_RECORD, run_id, asked.question_id, work)


async def survey_job(job: SurveyJob, settings: Settings) -> tuple[UnitReceipt, ...]:
    """Survey and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
    """
    request, layout = job.request, Layout(job.request.warehouse)
    async with AsyncExitStack() as stack:
        judging = open_judging(request, settings, layout, job.run_id, stack)
        literature, sources = settings.literature, settings.sources
        resources = _Resources(
            job=job,
            settings=settings,
            layout=layout,
            http=await stack.enter_async_context(open_client(literature.timeout_seconds)),
            sources_http=await stack.enter_async_context(open_client(sources.timeout_seconds)),
            embedder=judging.embedder,
            budget=judging.budget,
            engine_of=judging.engine_of,
            texts=KeyedStore(layout.cache / "documents.sqlite"),
            slots=asyncio.Semaphore(settings.documents.concurrency),
        )
        return tuple(await each_unit(job.questions, QUESTIONS_IN_FLIGHT, resources.landed))
