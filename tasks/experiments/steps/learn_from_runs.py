"""`learn_from_runs`: one instruction per change that failed or did not help.

Baseline: the instruction not to try the same again.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.reasons import Reason
from tasks.judging.reply_fields import KeyedEntry, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step

_SHOWN_CHARACTERS = 200


class Attempt(Noun):
    """A change that failed or did not help."""

    key: str = Field(min_length=1)
    rationale: str
    patch: str
    fared: str


class LessonsInput(Noun):
    """Input of `learn_from_runs`."""

    question: str = Field(min_length=1)
    measured: str
    attempts: tuple[Attempt, ...]


class Lesson(KeyedEntry):
    """Lesson of one attempt."""

    key: str = Field(min_length=1, description="The key of the attempt, exactly as shown.")
    lesson: Text = Field(description="One instruction of at most 30 words.")


class LessonsReply(Reply):
    """Reply to `learn_from_runs`."""

    lessons: Annotated[tuple[Lesson, ...], SoundEntries]


async def baseline_lessons(inputs: LessonsInput, tools: BaselineTools) -> LessonsReply | NoAnswer:
    """Make one lesson per attempt; NoAnswer(nothing_to_judge) without attempts."""
    del tools
    if not inputs.attempts:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "there is no attempt")
    lessons = (
        Lesson(key=each.key, lesson=f"Do not try again what {each.fared[:_SHOWN_CHARACTERS]}")
        for each in inputs.attempts
    )
    return LessonsReply(lessons=tuple(lessons))


LEARN_FROM_RUNS = Step(
    name="learn_from_runs",
    version=2,
    package="tasks.experiments",
    input_model=LessonsInput,
    output_model=LessonsReply,
    baseline=baseline_lessons,
)
