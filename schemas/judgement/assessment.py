"""Nouns of the assessment: predicted preference of the field's reviewers for the whole plan."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.failure import Failure
from schemas.judgement.soundness import Concern
from schemas.literature.citation import RemovedCitationCount
from schemas.outcome import Confidence, Judged, Provenance, UnscoredDetail, UnscoredReason


class AssessmentCriterion(StrEnum):
    """Criterion of an assessment; `overall` is a separate judgement, not a mean of the others."""

    WORTH_ASKING = "worth_asking"
    NEW = "new"
    DECISIVE_TEST = "decisive_test"
    FEASIBLE = "feasible"
    OVERALL = "overall"


WEIGHTED_CRITERIA = tuple(
    criterion for criterion in AssessmentCriterion if criterion is not AssessmentCriterion.OVERALL
)
"""Criteria to which the weights of a profile apply."""


class Assessment(Judged):
    """Assessment of a plan by one criterion: the median over repetitions of one question."""

    JUDGEMENT = ("probability_0_to_1",)

    criterion: AssessmentCriterion = Field(description="Criterion of the judgement.")
    probability_0_to_1: float | None = Field(
        ge=0,
        le=1,
        description=(
            "Probability that reviewers of the field's usual venue prefer the plan, by the"
            " criterion, to the median plan submitted there; the median over the repetitions."
            " None when unscored."
        ),
    )
    lowest_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="Lowest of the repetitions; None when unscored."
    )
    highest_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="Highest of the repetitions; None when unscored."
    )
    repetition_count: int = Field(ge=0, description="Repetitions that gave a probability.")
    by_repetition: dict[str, float] = Field(
        default_factory=dict,
        description=(
            "Probability of each repetition that gave one, by its number from 1; empty when"
            " unscored."
        ),
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            "By the spread of the repetitions, highest less lowest: 3 up to 0.1, 2 up to 0.2,"
            " 1 up to 0.35, else 0; 0 also for a single repetition. None when unscored."
        ),
    )
    reasons: tuple[str, ...] = Field(
        default=(),
        description=(
            "Deciding reasons of the repetition nearest to the median, most important first;"
            " Markdown with citations."
        ),
    )
    venue: Prose = Field(
        default="",
        description=(
            "The field's usual venue and its median submitted plan, in that repetition's words;"
            " empty when unscored."
        ),
    )
    removed_citation_count: RemovedCitationCount = 0
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance


class AssessmentEvaluation(Noun):
    """Result of the assessment of one idea, with a row for each criterion.

    `concerns` is used only if soundness was not requested; otherwise the soundness evaluation has
    them.
    """

    assessments: tuple[Assessment, ...]
    concerns: tuple[Concern, ...] = ()
    failures: tuple[Failure, ...]

    def of(self, criterion: AssessmentCriterion) -> Assessment | None:
        """Return the assessment by `criterion`; None if there is none."""
        return next((each for each in self.assessments if each.criterion is criterion), None)
