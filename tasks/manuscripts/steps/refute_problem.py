"""`refute_problem`: a second look at one problem, which tries to refute it from the text.

Baseline: refuted where its quotation does not stand in the text; else as sure as it was raised.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Percent
from tasks.judging.step import BaselineTools, Step
from tasks.manuscripts.steps.reading import Words
from tasks.text.quotations import stands_in

_CONFIDENCE_PERCENT = 50
"""Of the baseline, which looks at the words alone."""


class RefuteInput(Noun):
    """A problem that was raised, and the passages it is held against.

    Attributes:
        works: what was looked up, each under its key; empty: nothing.
        before: what reviewers and the person who asks to look again said of it; empty: nobody did.
    """

    problem: str
    location: str
    quote: str
    explanation: str
    passages: str
    works: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


class RefuteReply(Reply):
    reason: Words = Field(description="Why it stands or is refuted, at most three sentences.")
    quote: Words = Field(
        default="", description="The sentence that refutes it, word for word; empty without one."
    )
    refuted: bool = Field(description="Whether the point is wrong.")
    confidence_percent: Percent = Field(
        ge=0, le=100, description="How sure this answer is, in percent."
    )


async def baseline_refute(inputs: RefuteInput, _: BaselineTools) -> RefuteReply:
    """It understands nothing: a quotation is there or it is not."""
    there = stands_in(inputs.quote, inputs.passages) or not inputs.quote
    return RefuteReply(
        reason=(
            "The sentence stands in the text; nothing more was looked at."
            if there
            else "The sentence it points at does not stand in the text."
        ),
        refuted=not there,
        confidence_percent=_CONFIDENCE_PERCENT,
    )


REFUTE_PROBLEM = Step(
    name="refute_problem",
    version=3,
    package="tasks.manuscripts",
    input_model=RefuteInput,
    output_model=RefuteReply,
    baseline=baseline_refute,
    kind=StepKind.JUDGEMENT,
)
