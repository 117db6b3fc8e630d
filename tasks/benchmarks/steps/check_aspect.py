"""`check_aspect`: whether texts bear an argument out.

Baseline: an argument counts as borne out where a text comes close to it.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import SoundEntries
from tasks.judging.step import BaselineTools, Step
from tasks.novelty.closeness import closeness_of


class SourceShown(Noun):
    """A text that may bear an argument out: a justification, the idea, or a related work."""

    name: str
    text: str = Field(min_length=1)


class CheckInput(Noun):
    """Input of `check_aspect`: arguments are numbered from 1 in the order given."""

    sources: tuple[SourceShown, ...] = Field(min_length=1)
    arguments: tuple[str, ...] = Field(min_length=1)


class CheckedArgument(Reply):
    number: int = Field(ge=1, description="The number of the argument, as shown.")
    supported: bool


class CheckReply(Reply):
    arguments: Annotated[list[CheckedArgument], Field(min_length=1), SoundEntries]


SUPPORTED = 0.45
"""Closeness from which an argument counts as borne out: below that of a covered statement, for
arguments name what texts spell out.

Set by hand, held against no judge's answers.
"""


async def baseline_check(inputs: CheckInput, tools: BaselineTools) -> CheckReply:
    """Closeness of each argument to its closest text (see `tasks.novelty.closeness`), cut at
    `SUPPORTED`.
    """
    texts = [("", source.text) for source in inputs.sources]
    closeness = await closeness_of(inputs.arguments, texts, tools.embedder)
    return CheckReply(
        arguments=[
            CheckedArgument(number=number, supported=value >= SUPPORTED)
            for number, value in enumerate(closeness.values, start=1)
        ]
    )


CHECK_ASPECT = Step(
    name="check_aspect",
    version=2,
    package="tasks.benchmarks",
    input_model=CheckInput,
    output_model=CheckReply,
    baseline=baseline_check,
    kind=StepKind.JUDGEMENT,
)
