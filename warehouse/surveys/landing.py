"""Surveys of questions: their declaration, and how a surveyed question is landed.

landing/survey=<run>/question=<id>/<table>.parquet, receipt.json
landing/survey=<run>/survey.json
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.ledger import Artefact
from schemas.reasons import Reason, first_that_may_pass
from schemas.survey import Survey
from schemas.survey_run import SurveyHead, SurveyReceipt
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import landing
from warehouse.units.kind import Given, Kind

SURVEYS = Kind(
    folders={"survey": "run_id"},
    unit=("question", "question_id"),
    receipt=SurveyReceipt,
    head=SurveyHead,
    head_table="survey_runs",
    has_head_file=True,
    tables=(
        *("surveys", "survey_queries", "survey_layers", "survey_papers"),
        *("survey_clusters", "survey_quotes", "survey_sections"),
        *("survey_removed_sentences", "survey_joins", "citation_edges"),
        *("llm_calls", "api_calls", "failures"),
    ),
    checks=("survey_checks", "survey_papers"),
    artefact=(Artefact.SURVEY, "question_id"),
    given=Given("question", "surveys", ("question",)),
    remedy="remove its folder to survey anew",
    publish_again="survey again",
)


def land_survey(
    layout: Layout,
    run_id: RunId,
    survey: Survey,
    started_at: datetime,
    finished_at: datetime,
) -> SurveyReceipt:
    """Write all that one question gave. Afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    receipt = SurveyReceipt(
        run_id=run_id,
        question_id=survey.question_id,
        incomplete_reason=first_that_may_pass(_reasons(survey)),
        started_at=started_at,
        finished_at=finished_at,
    )
    return landing.land(layout, SURVEYS, rows_of_survey(run_id, survey), receipt)


def _reasons(survey: Survey) -> Iterator[Reason | None]:
    yield survey.unscored_reason
    yield from (paper.unscored_reason for paper in survey.papers)
    yield from (section.unscored_reason for section in survey.sections)
    yield from (failure.reason for failure in survey.failures if not failure.is_of_a_document)


def rows_of_survey(run_id: RunId, survey: Survey) -> Rows:
    """Every row of a survey by table name; tables without rows are left out."""
    texts = {text.paper_id: text for text in survey.texts}
    known: Row = {
        "run_id": run_id,
        "question_id": survey.question_id,
        "idea_id": survey.question_id,
        "recorded_by": "survey",
    }
    beside: dict[str, list[Row]] = {
        "survey_papers": [texts[paper.paper_id].model_dump() for paper in survey.papers]
    }
    return {
        name: [
            row_of(TABLE[name], noun, known | more | {"position": position})
            for position, (noun, more) in enumerate(
                zip(nouns, beside.get(name, [{}] * len(nouns)), strict=True)
            )
        ]
        for name, nouns in _nouns(survey).items()
        if nouns
    }


def _nouns(survey: Survey) -> dict[str, Sequence[Noun]]:
    return {
        "surveys": (survey,),
        "survey_queries": survey.queries,
        "survey_layers": survey.layers,
        "survey_papers": survey.papers,
        "survey_clusters": survey.clusters,
        "survey_quotes": survey.quotes,
        "survey_sections": survey.sections,
        "survey_removed_sentences": survey.removed,
        "survey_joins": survey.joins,
        "citation_edges": survey.links,
        "llm_calls": survey.llm_calls,
        "api_calls": survey.api_calls,
        "failures": survey.failures,
    }
