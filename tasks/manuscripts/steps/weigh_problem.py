"""`weigh_problem`: readings of a disputed problem for and against the authors.

A person decides. Baseline: both sides in their own words.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.step import BaselineTools, Step
from tasks.manuscripts.steps.reading import Words


class WeighInput(Noun):
    """A problem over which reviewers disagree, and the passages it is held against.

    Attributes:
        dispute: in what they disagree.
        works: what was looked up, each under its key; empty: nothing.
    """

    problem: str
    location: str
    quote: str
    explanation: str
    second_look: str
    dispute: str
    passages: str
    works: tuple[str, ...] = ()


class WeighReply(Reply):
    optimistic: Words = Field(
        min_length=1, description="For the authors, in at most three sentences."
    )
    sceptical: Words = Field(min_length=1, description="Against them, in at most three sentences.")
    would_decide: Words = Field(
        default="", description="The check that would settle it, in at most three sentences."
    )


async def baseline_weigh(inputs: WeighInput, _: BaselineTools) -> WeighReply:
    """Return both sides without weighing them."""
    return WeighReply(
        optimistic=inputs.second_look or inputs.dispute,
        sceptical=inputs.explanation or inputs.problem,
    )


WEIGH_PROBLEM = Step(
    name="weigh_problem",
    version=2,
    package="tasks.manuscripts",
    input_model=WeighInput,
    output_model=WeighReply,
    baseline=baseline_weigh,
    kind=StepKind.JUDGEMENT,
)
