"""What the steps of the benchmarks are asked. Every field is shown in the step's prompt."""

from pydantic import Field

from schemas.base import Noun
from tasks.contribution.steps.shown import ShownPaper


class CoverageQuestion(Noun):
    """Does the review say what an expert said?"""

    review: str = Field(min_length=1)
    statement: str = Field(min_length=1, description="One statement of an expert's review.")


class PreferenceQuestion(Noun):
    """Which of two reviews of one idea is better, by each criterion?"""

    first: str = Field(min_length=1, description="Review A.")
    second: str = Field(min_length=1, description="Review B.")


class PromptOnlyQuestion(Noun):
    """Review an idea from memory."""

    idea: str = Field(min_length=1)
    cutoff: str = Field(description="YYYY-MM-DD; empty: no bound.")


class PromptWithSearchQuestion(Noun):
    """Review an idea beside what one search found."""

    idea: str = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)
