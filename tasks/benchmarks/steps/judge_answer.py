"""Step `judge_answer`: an expert's criteria that an answer about the literature meets.

No baseline: word matching cannot decide whether an answer meets a criterion.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose, SoundEntries, word_of
from tasks.judging.step import Step, no_baseline


class Met(StrEnum):
    """How far an answer meets a criterion."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


WORTH = {Met.YES: 1.0, Met.PARTLY: 0.5, Met.NO: 0.0}


class JudgedAnswerInput(Noun):
    """Input of `judge_answer`."""

    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    criteria: tuple[str, ...] = Field(min_length=1)


class CriterionEntry(Reply):
    """The verdict on one criterion; None: a word outside the list."""

    criterion: int = Field(ge=1, description="Its number as shown.")
    reason: Prose = ""
    met: Annotated[Met | None, word_of(Met)]


class JudgedAnswerReply(Reply):
    """Reply to `judge_answer`: one entry for every criterion."""

    criteria: Annotated[list[CriterionEntry], Field(min_length=1), SoundEntries]


JUDGE_ANSWER = Step(
    name="judge_answer",
    version=2,
    package="tasks.benchmarks",
    input_model=JudgedAnswerInput,
    output_model=JudgedAnswerReply,
    baseline=no_baseline("an answer is judged with --engine litellm:MODEL, not by its wording"),
    kind=StepKind.JUDGEMENT,
)
