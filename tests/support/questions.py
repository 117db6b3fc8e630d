"""Answers to live questions, without the jobs that would give them."""

from datetime import UTC, datetime

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.literature.survey import Survey
from schemas.literature.survey_review import Aspect, Written
from schemas.people.job import JobState, JobStatus
from schemas.people.live_question import LiveQuestion, QuestionKind
from schemas.settings import Settings
from schemas.works.survey_run import SURVEYS
from tests.support.lakes import publish_units
from tests.support.survey_lake import make_survey, make_survey_head, with_answer
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import read_job, write_status
from warehouse.app.questions import ask, draw_sides
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

QUESTION = "How do bats hunt?"
ENDED = datetime(2026, 3, 2, 13, tzinfo=UTC)


def asked_by(
    warehouse: Warehouse,
    database: ServiceDatabase,
    voter: str,
    text: str = QUESTION,
    asked: QuestionKind = QuestionKind.QUESTION,
    settings: Settings | None = None,
) -> LiveQuestion:
    """A question as the page has it asked."""
    settings = settings or Settings()
    sides = draw_sides(database, voter, asked, text, settings)
    return ask(Warehouse(warehouse.root, settings), database, voter, asked, text, sides)


def publish_answer(warehouse: Warehouse, run_id: str, text: str, **head: object) -> RunId:
    """An answer to QUESTION; without a text passages are all there is."""
    survey: Survey = make_survey(question=QUESTION)
    if text:
        survey = with_answer(survey, text)
    else:
        read = tuple(replace(quote, aspect=Aspect.ANSWER) for quote in survey.quotes)
        survey = replace(survey, quotes=read)
    told = {"run_id": RunId(run_id), "written": Written.ANSWER, "profile": "economy"} | head
    made = make_survey_head().model_copy(update=told)
    return publish_units(warehouse, kind_of(SURVEYS), made, survey)


def end_job(
    warehouse: Warehouse,
    job_id: str,
    run_id: str | None,
    state: JobState = JobState.DONE,
    exit_code: int = 0,
) -> None:
    """As the job runner ends it."""
    job = read_job(warehouse, job_id)
    assert job is not None
    told = RunId(run_id) if run_id is not None else None
    write_status(job, JobStatus(state=state, exit_code=exit_code, run_id=told, finished_at=ENDED))


def end_both(
    warehouse: Warehouse, question: LiveQuestion, runs: tuple[str | None, str | None]
) -> None:
    for job_id, run_id in zip(question.job_ids, runs, strict=True):
        end_job(warehouse, job_id, run_id)
