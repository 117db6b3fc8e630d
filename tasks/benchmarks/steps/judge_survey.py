"""Step `judge_survey`: quality of a survey along five dimensions.

No baseline: word matching cannot grade a survey.
"""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose
from tasks.judging.step import Step, no_baseline


class SurveyDimension(StrEnum):
    """Dimension of the quality of a survey."""

    COVERAGE = "coverage"
    STRUCTURE = "structure"
    RELEVANCE = "relevance"
    SYNTHESIS = "synthesis"
    CRITICAL_ANALYSIS = "critical_analysis"


class SurveyInput(Noun):
    """Input of `judge_survey`."""

    question: str = Field(min_length=1)
    survey: str = Field(min_length=1)


class Mark(Reply):
    """A mark, and why."""

    reason: Prose = ""
    score: int = Field(ge=1, le=5)


class SurveyReply(Reply):
    """A mark for each dimension."""

    coverage: Mark
    structure: Mark
    relevance: Mark
    synthesis: Mark
    critical_analysis: Mark

    def mark(self, dimension: SurveyDimension) -> Mark:
        """Return the mark along one dimension."""
        mark = getattr(self, dimension.value)
        assert isinstance(mark, Mark)
        return mark


JUDGE_SURVEY = Step(
    name="judge_survey",
    version=2,
    package="tasks.benchmarks",
    input_model=SurveyInput,
    output_model=SurveyReply,
    baseline=no_baseline("a survey is judged with --engine litellm:MODEL, not by its wording"),
    kind=StepKind.JUDGEMENT,
)
