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
from warehouse.units.kind import Kind


def _reasons(survey: Survey) -> Iterator[Reason | None]:
    yield survey.unscored_reason
    yield from (paper.unscored_reason for paper in survey.papers)
    yield from (section.unscored_reason for section in survey.sections)
    yield from (failure.reason for failure in survey.failures if not failure.is_of_a_document)


SURVEYS = Kind(
    folders={"survey": "run_id"},
    unit=("question", "question_id"),
    noun=Survey,
    head=SurveyHead,
    receipt=UnitReceipt,
    tables=(
        *("surveys", "survey_queries", "survey_layers", "survey_papers"),
        *("survey_clusters", "survey_quotes", "survey_sections"),
        *("survey_removed_sentences", "survey_joins", "citation_edges"),
        *("llm_calls", "api_calls", "failures"),
    ),
    artefact=Artefact.SURVEY,
    given=("question",),
    reasons=_reasons,
)
