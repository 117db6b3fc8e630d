"""`propose_program`: one change of a program that should make it better by a metric.

Baseline: none. Without a model other values of what a program declares as tunable are tried.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from schemas.works.experiment import Aim, KnownWork
from tasks.judging.reply_fields import Prose
from tasks.judging.step import Step, no_baseline


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
