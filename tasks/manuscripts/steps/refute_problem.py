"""`refute_problem`: a second look at one problem, which puts the strongest innocent explanation
first, and then says whether the text rules it out.

Baseline: wrong where its quotation stands in the text, else refuted.
"""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Percent
from tasks.judging.step import BaselineTools, Step
from tasks.manuscripts.steps.reading import Words
from tasks.text.quotations import stands_in

_CONFIDENCE_PERCENT = 70
"""Of the baseline: calculations hold more often than not, but it looks at the words alone."""


class Verdict(StrEnum):
    """What a second look finds: the text is wrong, the point is refuted, or nothing decides:
    open.
    """

    WRONG = "wrong"
    REFUTED = "refuted"
    OPEN = "open"


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
    innocent_explanation: Words = Field(
        default="", description="The reading under which the authors are right."
    )
    quote: Words = Field(
        default="", description="The sentence that decides, word for word; empty without one."
    )
    reason: Words = Field(description="What decides, in at most three sentences.")
    verdict: Verdict
    confidence_percent: Percent = Field(
        ge=0, le=100, description="How sure the verdict is, in percent."
    )


async def baseline_refute(inputs: RefuteInput, _: BaselineTools) -> RefuteReply:
    """It understands nothing: a quotation is there or it is not."""
    there = not inputs.quote or stands_in(inputs.quote, inputs.passages, least_characters=1)
    return RefuteReply(
        reason=(
            "The sentence stands in the text; nothing more was looked at."
            if there
            else "The sentence it points at does not stand in the text."
        ),
        verdict=Verdict.WRONG if there else Verdict.REFUTED,
        confidence_percent=_CONFIDENCE_PERCENT,
    )


REFUTE_PROBLEM = Step(
    name="refute_problem",
    version=6,
    package="tasks.manuscripts",
    input_model=RefuteInput,
    output_model=RefuteReply,
    baseline=baseline_refute,
    kind=StepKind.JUDGEMENT,
)
