"""`judge_survey`: how good a written survey is, along five dimensions.

Baseline: none. What a survey is worth cannot be told by its wording.
"""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose
from tasks.judging.step import Step, no_baseline


class SurveyDimension(StrEnum):
    """What a survey is judged by."""

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
        """The mark along one dimension."""
        found = getattr(self, dimension.value)
        assert isinstance(found, Mark)
        return found


JUDGE_SURVEY = Step(
    name="judge_survey",
    version=2,
    package="tasks.benchmarks",
    input_model=SurveyInput,
    output_model=SurveyReply,
    baseline=no_baseline("a survey is judged with --engine litellm:MODEL, not by its wording"),
    kind=StepKind.JUDGEMENT,
)
