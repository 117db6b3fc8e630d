"""Step `judge_alignment`: agreement of a justification with an expert's.

Baseline: closeness of the texts, shared words, and agreement on the share of novel arguments.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.benchmarks.steps.extract_aspects import (
    AspectsInput,
    AspectsReply,
    baseline_aspects,
)
from tasks.judging.step import BaselineTools, Step
from tasks.novelty.closeness import measure
from tasks.text.words import overlap_0_to_1


class AlignmentInput(Noun):
    """Input of `judge_alignment`."""

    expected: str = Field(min_length=1, description="The expert's justification.")
    actual: str = Field(min_length=1, description="The justification to be graded.")


class AlignmentReply(Reply):
    reason: str = Field(default="", description="What agrees and what does not.")
    score: int = Field(
        ge=0,
        le=10,
        description="0 nothing in common, 10 the same arguments and the same conclusion.",
    )


CLOSENESS_WEIGHT = 0.5
OVERLAP_WEIGHT = 0.2
LEANING_WEIGHT = 0.3
"""The three weights were set by hand, not calibrated on a judge's scores."""


async def baseline_alignment(inputs: AlignmentInput, tools: BaselineTools) -> AlignmentReply:
    """Score by closeness, shared words and agreement of leaning.

    The score is ten times their weighted sum. Leaning is the share of novel arguments of a text;
    agreement is 1 minus the difference.
    """
    closeness = await measure(inputs.expected, [("", inputs.actual)], tools.embedder)
    overlap = overlap_0_to_1(inputs.expected, inputs.actual)
    mean_closeness = closeness.mean if closeness is not None else overlap
    theirs, ours = [
        _leaning(await baseline_aspects(AspectsInput(justification=text), tools))
        for text in (inputs.expected, inputs.actual)
    ]
    agreement = 1 - abs(theirs - ours)
    value = (
        CLOSENESS_WEIGHT * mean_closeness + OVERLAP_WEIGHT * overlap + LEANING_WEIGHT * agreement
    )
    reason = (
        f"closeness {mean_closeness:.2f}, shared words {overlap:.2f}, novel share of the arguments"
        f" {theirs:.2f} and {ours:.2f}"
    )
    return AlignmentReply(reason=reason, score=round(10 * min(value, 1.0)))


def _leaning(aspects: AspectsReply) -> float:
    total = len(aspects.known) + len(aspects.novel)
    return len(aspects.novel) / total if total else 0.5


JUDGE_ALIGNMENT = Step(
    name="judge_alignment",
    version=2,
    package="tasks.benchmarks",
    input_model=AlignmentInput,
    output_model=AlignmentReply,
    baseline=baseline_alignment,
    kind=StepKind.JUDGEMENT,
)
