"""`soundness_summary`: the idea's main strengths, weaknesses and suggestions over all methods.

Baseline: the first passage for and against, of the methods with the clearest scores.
"""

from collections.abc import Callable

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.step import BaselineTools, Step


class ReviewShown(Noun):
    """One method's review, with citation keys that hold across the whole idea."""

    rank: int = Field(ge=1)
    method: str
    score_0_to_10: float = Field(ge=0, le=10)
    evidence_count: int = Field(ge=1)
    support: str
    contradictions: str
    suggestions: str


class SummaryInput(Noun):
    idea: str
    reviews: tuple[ReviewShown, ...] = Field(
        min_length=1, description="In order of the methods' importance."
    )
    unreviewed: tuple[str, ...] = Field(
        default=(), description="Methods without a scored review, in order of importance."
    )


# No bound of the schema: a fourth entry would cost the whole reply.
_UP_TO_THREE = Field(description="Up to three, each of one or two sentences.")


class SummaryReply(Reply):
    """Reply to `soundness_summary`: most important first; what is beyond three is left out."""

    strengths: tuple[str, ...] = _UP_TO_THREE
    weaknesses: tuple[str, ...] = _UP_TO_THREE
    suggestions: tuple[str, ...] = _UP_TO_THREE


_MOST = 3


async def baseline_summary(inputs: SummaryInput, _tools: BaselineTools) -> SummaryReply:
    """Return the first supporting passages of high-scored methods, and contradicting ones of low-scored.

    Up to three of each, important methods first.
    """
    return SummaryReply(
        strengths=_choose_passages(
            inputs, lambda review: review.support, lambda review: review.score_0_to_10
        ),
        weaknesses=_choose_passages(
            inputs, lambda review: review.contradictions, lambda review: 10 - review.score_0_to_10
        ),
        suggestions=(),
    )


def _choose_passages(
    inputs: SummaryInput, part: Callable[[ReviewShown], str], weight: Callable[[ReviewShown], float]
) -> tuple[str, ...]:
    """Return passages by weight and importance, each once."""
    order = sorted(
        inputs.reviews,
        key=lambda review: (-(weight(review) + 0.5) / (1 + 0.15 * (review.rank - 1)), review.rank),
    )
    reviews_by_passage: dict[str, ReviewShown] = {}
    for review in order:
        texts = (text for text in part(review).split("\n\n") if text.startswith("“"))
        fresh = next((passage for passage in texts if passage not in reviews_by_passage), None)
        if fresh is not None:
            reviews_by_passage[fresh] = review
    return tuple(f"Method {review.rank}: {text}" for text, review in reviews_by_passage.items())[
        :_MOST
    ]


SOUNDNESS_SUMMARY = Step(
    name="soundness_summary",
    version=4,
    package="tasks.soundness",
    input_model=SummaryInput,
    output_model=SummaryReply,
    baseline=baseline_summary,
    kind=StepKind.JUDGEMENT,
)
