"""`write_review`: summary, strengths, questions and ratings; weaknesses are standing problems.

Baseline: the first sentences of the abstract, and no rating.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.manuscripts.steps.reading import Rating, Words
from tasks.text.words import sentences

_SUMMARY_SENTENCES = 3


def _as_list(value: object) -> object:
    """Accept null for an empty list, and a text for a list of one."""
    return [] if value is None else [value] if isinstance(value, str) else value


class ReviewInput(Noun):
    """What a reading to the end has left.

    Attributes:
        abstract: empty where none is marked off.
        notes: of the last section's reading.
        problems: those that stand, the gravest first.
        open_questions: what was raised and could be neither confirmed nor refuted.
        not_read: empty where all was.
    """

    title: str
    abstract: str
    notes: str
    problems: tuple[str, ...]
    open_questions: tuple[str, ...]
    not_read: str


class ReviewReply(Reply):
    summary: Words = Field(min_length=1, description="Three to five sentences.")
    strengths: Annotated[list[Words], BeforeValidator(_as_list)] = Field(
        default_factory=list, description="At most five, each in a sentence."
    )
    questions: Annotated[list[Words], BeforeValidator(_as_list)] = Field(
        default_factory=list, description="At most five, to the authors."
    )
    soundness_1_to_5: Rating = Field(default=None, description="1 poor, 5 excellent.")
    clarity_1_to_5: Rating = Field(default=None, description="1 poor, 5 excellent.")
    confidence_1_to_5: Rating = Field(
        default=None, description="How sure the ratings are: 1 hardly, 5 quite."
    )


async def baseline_review(inputs: ReviewInput, _: BaselineTools) -> ReviewReply | NoAnswer:
    """Summarize by the abstract without ratings: rules do not understand text."""
    summary = sentences(inputs.abstract)[:_SUMMARY_SENTENCES]
    if not summary:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "no abstract is marked off to be summed up")
    return ReviewReply(summary=" ".join(summary))


WRITE_REVIEW = Step(
    name="write_review",
    version=4,
    package="tasks.manuscripts",
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)
