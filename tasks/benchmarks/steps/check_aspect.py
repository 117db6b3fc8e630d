"""Step `check_aspect`: support of arguments by texts.

Baseline: an argument is supported if its closeness to a text reaches a threshold.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import SoundEntries
from tasks.judging.step import BaselineTools, Step
from tasks.novelty.closeness import closeness_of


class SourceShown(Noun):
    """Text that may support an argument: justification, idea, or related work."""

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
"""Closeness from which an argument is supported.

Lower than for covered statements, because arguments are shorter than the texts. Set by hand, not
calibrated on a judge's answers.
"""


async def baseline_check(inputs: CheckInput, tools: BaselineTools) -> CheckReply:
    """Compare each argument's closeness to its closest text with `SUPPORTED`."""
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
