"""Steps of a search by models (OmniScientist, section 4.3): changes, and lessons from their runs."""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from schemas.reasons import Reason
from schemas.works.experiment import Aim, KnownWork
from tasks.judging.reply_fields import KeyedEntry, Prose, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step, no_baseline, steps_in

_SHOWN_CHARACTERS = 200


class ShownProgram(Noun):
    """A program with how it fared."""

    name: str
    fared: str
    source: str


class ProposalInput(Noun):
    """Input of `propose_program`; the texts are bounded by whoever makes them."""

    question: str = Field(min_length=1)
    measured: str = Field(description="Metric, direction and limits, in words.")
    idea: str = Field(description="What is tried; empty: the task names no idea.")
    concerns: tuple[str, ...]
    works: tuple[KnownWork, ...]
    aim: Aim
    number: int = Field(ge=1, description="Of the proposal.")
    program: ShownProgram = Field(description="What is to be changed.")
    regions: tuple[str, ...] = Field(description="What of it may be changed.")
    other: ShownProgram | None = Field(description="What it is to be combined with.")
    tries: tuple[str, ...] = Field(description="What was tried and how it fared, a line each.")
    lessons: tuple[str, ...] = Field(description="Of the program's line of descent.")


class ProposedChange(Reply):
    """One change of one region."""

    region: str = Field(description="Name of the region, as shown.")
    find: str = Field(
        description="Text of the region that is replaced, copied character by character; it must"
        " stand there exactly once. Empty: the whole region is replaced."
    )
    replace: str = Field(description="What stands there afterwards.")


class ProposalReply(Reply):
    """Reply to `propose_program`."""

    rationale: Prose = Field(
        description="What is changed and why that should help, in two sentences."
    )
    borrowed_from: Annotated[str | None, Field(max_length=200)] = Field(
        default=None, description="Key of the work shown that it borrows from; null: of none."
    )
    changes: tuple[ProposedChange, ...] = Field(description="Applied one after the other.")


# One change of a program that should improve its metric.
PROPOSE_PROGRAM = Step(
    name="propose_program",
    version=2,
    package="tasks.experiments",
    input_model=ProposalInput,
    output_model=ProposalReply,
    baseline=no_baseline("offline, other values of what a program declares as tunable are tried"),
    kind=StepKind.JUDGEMENT,
    answer_tokens=2 * LONG_ANSWER_TOKENS,
)


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
    """Make one lesson per attempt: not to try the same again."""
    del tools
    if not inputs.attempts:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "there is no attempt")
    lessons = (
        Lesson(key=each.key, lesson=f"Do not try again what {each.fared[:_SHOWN_CHARACTERS]}")
        for each in inputs.attempts
    )
    return LessonsReply(lessons=tuple(lessons))


# One instruction for each change that failed or did not help.
LEARN_FROM_RUNS = Step(
    name="learn_from_runs",
    version=2,
    package="tasks.experiments",
    input_model=LessonsInput,
    output_model=LessonsReply,
    baseline=baseline_lessons,
)

STEPS = steps_in(__name__)
