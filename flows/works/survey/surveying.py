"""Questions followed through the literature: surveyed or answered, published and reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboards.views.write_survey import survey_page
from flows.run.campaign import Campaign, Plan, Summary
from flows.run.gateway import OpenGateway, open_gateway
from schemas.identifiers import RunId
from schemas.literature.survey_review import Written
from schemas.literature.survey_run import SurveyHead, SurveyQuestion, SurveyRequest
from schemas.settings import Settings
from tasks.judging.identity import (
    documents_identity,
    model_identity,
    prompts_of,
    run_id_of,
    sampling_identity,
    search_identity,
)
from tasks.shards.work import ShardWork
from tasks.survey.expected import steps_of
from tasks.survey.survey_shard import SurveyJob, survey_job
from tasks.telemetry.reporting import traceparent
from warehouse.kinds.surveys import SURVEYS
from warehouse.units.landing import begun_head

SurveySummary = Summary[SurveyHead]


class Surveying(Campaign[Plan[SurveyHead], SurveyHead]):
    """Surveys of questions. Their name is known once the literature is, which a gateway tells."""

    kind = SURVEYS
    name = "survey"
    artifact_key = "survey"
    verb, nouns = "surveyed", "questions"
    work = ShardWork(SurveyJob, survey_job, "survey shard", "questions")

    gateway: OpenGateway

    def __init__(self, request: SurveyRequest) -> None:
        super().__init__(request, request.warehouse, engine=request.engine.text)
        self.request = request

    @contextmanager
    def open(self) -> Iterator[None]:
        place = self.request.scheduler_address
        with open_gateway(self.request.literature, self.warehouse, place) as self.gateway:
            yield

    @property
    def run_id(self) -> RunId:
        return survey_run_id(self.request, self.gateway.literature, self.warehouse.settings)

    def plan(self) -> Plan[SurveyHead]:
        questions = {asked.question_id: asked for asked in self.request.questions}
        return Plan(
            head=begun_head(self.warehouse, SURVEYS, self._head()),
            unit_names=tuple(questions),
            shards=self.shards_of(questions, self._job),
        )

    def _head(self) -> SurveyHead:
        request = self.request
        return SurveyHead(
            run_id=self.run_id,
            engine=request.engine.text,
            profile=request.profile.name,
            literature=self.gateway.literature,
            depth=request.parameters.depth,
            maximum_papers=request.parameters.maximum_papers,
            maximum_judged=request.parameters.maximum_judged,
            papers_read=request.parameters.papers_read if self._reads else 0,
            written=request.parameters.written,
            cutoff_date=request.cutoff_date,
            question_count=len(request.questions),
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    @property
    def _reads(self) -> bool:
        """Whether works are read at all: for a review only an engine that writes reads them."""
        engine, parameters = self.request.engine, self.request.parameters
        return parameters.written is Written.ANSWER or not engine.is_baseline

    def _job(self, questions: tuple[SurveyQuestion, ...]) -> SurveyJob:
        return SurveyJob(
            run_id=self.run_id,
            request=self.request,
            questions=questions,
            gateway_url=self.gateway.url,
            trace_parent=traceparent(),
        )

    def write_reports(self, head: SurveyHead) -> tuple[Path, ...]:
        page = survey_page(self.warehouse, head.run_id)
        return page.write(self.warehouse.reports / head.run_id)

    def describe(self, head: SurveyHead) -> str:
        return f"{head.question_count} questions; engine {head.engine}, depth {head.depth}."


class Asking(Surveying):
    """Questions to be answered."""

    name = "ask"
    artifact_key = "ask"
    verb = "answered"


def survey_run_id(request: SurveyRequest, literature: str, settings: Settings) -> RunId:
    """The identity of a survey, or of an answer."""
    return run_id_of(
        "ask" if request.parameters.written is Written.ANSWER else "survey",
        request.model_dump_json(include={"questions", "parameters", "cutoff_date", "full_text"}),
        *model_identity(request.engine, settings, request.api_base),
        sampling_identity(request.profile),
        *search_identity(literature, settings),
        documents_identity(settings) if request.full_text else "",
        *prompts_of(steps_of(request.parameters)),
    )
