"""Surveys the questions of a shard and lands each as it ends.

A question that landed whole is not surveyed again.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemas.boundary import ErrorBoundary
from schemas.errors import AssayError
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.survey import Survey
from schemas.survey_run import SurveyQuestion, SurveyReceipt, SurveyRequest
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.documents.sections import AbstractLibrary, DocumentLibrary
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import EngineOf, open_engines, traced
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.shards.work import Shard, cause_of, each_unit
from tasks.sources.full_texts import open_full_texts
from tasks.sources.requests import SourceContext
from tasks.survey.survey import survey, unsurveyed
from tasks.web.client import Client, open_client
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout
from warehouse.surveys.landing import SURVEYS, land_survey
from warehouse.units.landing import complete_receipt

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

    async def at_least_a_reason(self, asked: SurveyQuestion, ledger: Ledger) -> Survey:
        """Of a question over which Assay itself failed, one that says so."""
        boundary = ErrorBoundary()
        with boundary:
            return await self.surveyed(asked, ledger)
        assert boundary.error is not None
        if isinstance(boundary.error, AssayError | OSError):
            raise boundary.error
        cause = cause_of(boundary.error, f"the survey of {asked.question!r}")
        return unsurveyed(asked, self.job.request.cutoff_date, *cause, ledger)

    async def landed(self, asked: SurveyQuestion) -> SurveyReceipt:
        """The receipt of one question, which is surveyed unless it landed whole."""
        done = complete_receipt(self.layout, SURVEYS, self.job.run_id, asked.question_id)
        if done is not None:
            return done
        started_at, ledger = datetime.now(UTC), Ledger(IdeaId(asked.question_id))
        found = await self.at_least_a_reason(asked, ledger)
        return land_survey(self.layout, self.job.run_id, found, started_at, datetime.now(UTC))


async def survey_job(job: SurveyJob, settings: Settings) -> tuple[SurveyReceipt, ...]:
    """Survey and land what has no complete receipt yet; return the shard's receipts.

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
        literature, sources = settings.literature, settings.sources
        resources = _Resources(
            job=job,
            settings=settings,
            layout=layout,
            http=await stack.enter_async_context(open_client(literature.timeout_seconds)),
            sources_http=await stack.enter_async_context(open_client(sources.timeout_seconds)),
            embedder=embedder,
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
            texts=KeyedStore(layout.cache / "documents.sqlite"),
            slots=asyncio.Semaphore(settings.documents.concurrency),
        )
        return tuple(await each_unit(job.questions, QUESTIONS_IN_FLIGHT, resources.landed))
