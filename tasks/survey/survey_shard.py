"""Surveys the questions of a shard and lands each as it ends.

A question that landed whole is not surveyed again.
"""

from contextlib import AsyncExitStack
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
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import open_engines, traced
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.shards.work import Shard, cause_of, each_unit
from tasks.survey.survey import survey, unsurveyed
from tasks.web.client import open_client
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
        http = await stack.enter_async_context(open_client(settings.literature.timeout_seconds))
        engine_of = open_engines(
            request.engine,
            request.profile,
            settings,
            layout,
            api_base=request.api_base,
            embedder=embedder,
            budget=budget,
            stack=stack,
        )

        async def surveyed(asked: SurveyQuestion, ledger: Ledger) -> Survey:
            def count_request() -> None:
                if ledger.is_new_request():
                    budget.count_request(ledger.idea_id)

            client = SemanticScholarClient(
                job.gateway_url,
                ledger,
                http,
                settings.literature,
                count_request,
                unlimited=request.literature.unlimited,
            )
            return await survey(
                asked,
                request.parameters,
                request.cutoff_date,
                engine=traced(engine_of(ledger)),
                literature=client,
                embedder=embedder,
                ledger=ledger,
            )

        async def at_least_a_reason(asked: SurveyQuestion, ledger: Ledger) -> Survey:
            """Of a question over which Assay itself failed, one that says so."""
            boundary = ErrorBoundary()
            with boundary:
                return await surveyed(asked, ledger)
            assert boundary.error is not None
            if isinstance(boundary.error, AssayError | OSError):
                raise boundary.error
            cause = cause_of(boundary.error, f"the survey of {asked.question!r}")
            return unsurveyed(asked, request.cutoff_date, *cause, ledger)

        async def one(asked: SurveyQuestion) -> SurveyReceipt:
            done = complete_receipt(layout, SURVEYS, job.run_id, asked.question_id)
            if done is not None:
                return done
            started_at, ledger = datetime.now(UTC), Ledger(IdeaId(asked.question_id))
            found = await at_least_a_reason(asked, ledger)
            return land_survey(layout, job.run_id, found, started_at, datetime.now(UTC))

        return tuple(await each_unit(job.questions, QUESTIONS_IN_FLIGHT, one))
