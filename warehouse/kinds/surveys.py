"""Surveys of questions: their declaration, and how a surveyed question is landed.

landing/survey=<run>/question=<id>/<table>.parquet, receipt.json
landing/survey=<run>/survey.json
"""

from collections.abc import Iterator

from schemas.literature.survey import Survey
from schemas.literature.survey_run import SurveyHead
from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from warehouse.units.kind import Given, Kind
from warehouse.units.record import UnitRecord

SURVEYS = Kind(
    folders={"survey": "run_id"},
    unit=("question", "question_id"),
    receipt=UnitReceipt,
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
)


def _reasons(survey: Survey) -> Iterator[Reason | None]:
    yield survey.unscored_reason
    yield from (paper.unscored_reason for paper in survey.papers)
    yield from (section.unscored_reason for section in survey.sections)
    yield from (failure.reason for failure in survey.failures if not failure.is_of_a_document)


SURVEY_RECORD = UnitRecord(
    kind=SURVEYS,
    noun=Survey,
    recorded_by="survey",
    reasons=_reasons,
)
