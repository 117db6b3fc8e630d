"""`judge_answer`: which criteria of an expert an answer to a question about literature meets.

Baseline: none. Whether an answer meets a criterion cannot be told by its wording.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.judging.reply_fields import Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step


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


async def baseline_answer(
    _inputs: JudgedAnswerInput, _tools: BaselineTools
) -> JudgedAnswerReply | NoAnswer:
    """NoAnswer(offline_engine), whatever the answer."""
    return NoAnswer(
        Reason.OFFLINE_ENGINE, "an answer is judged with --engine litellm:MODEL, not by its wording"
    )


JUDGE_ANSWER = Step(
    name="judge_answer",
    version=1,
    package="tasks.benchmarks",
    input_model=JudgedAnswerInput,
    output_model=JudgedAnswerReply,
    baseline=baseline_answer,
    kind=StepKind.JUDGEMENT,
)
