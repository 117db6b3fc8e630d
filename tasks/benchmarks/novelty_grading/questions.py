"""What the grading steps are asked: every field is shown in the step's prompt."""

from pydantic import Field

from schemas.base import Noun


class AspectsQuestion(Noun):
    """Input of `extract_aspects`."""

    justification: str = Field(min_length=1)


class AlignmentQuestion(Noun):
    """Input of `judge_alignment`."""

    expected: str = Field(min_length=1, description="The expert's justification.")
    actual: str = Field(min_length=1, description="The justification to be graded.")


class SourceShown(Noun):
    """A text that may bear an argument out: a justification, the idea, or a related work."""

    name: str
    text: str = Field(min_length=1)


class CheckQuestion(Noun):
    """Input of `check_aspect`: arguments are numbered from 1 in the order given."""

    sources: tuple[SourceShown, ...] = Field(min_length=1)
    arguments: tuple[str, ...] = Field(min_length=1)
