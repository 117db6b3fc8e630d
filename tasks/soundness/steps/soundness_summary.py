"""`soundness_summary`: the idea's main strengths, weaknesses and suggestions over all methods.

Baseline: the leading sentence for and against of the methods where each weighs most.
"""

from collections.abc import Callable

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.patterns import bounded
from tasks.judging.step import BaselineTools, Step
from tasks.soundness.steps.wording import SILENT, label_of
from tasks.text.words import overlap_0_to_1, sentences


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
    """Input of `soundness_summary`."""

    idea: str
    reviews: tuple[ReviewShown, ...] = Field(
        min_length=1, description="In order of the methods' importance."
    )
    unreviewed: tuple[str, ...] = Field(
        default=(), description="Methods without a scored review, in order of importance."
    )


class SummaryReply(Reply):
    """Reply to `soundness_summary`: up to three of each, most important first."""

    strengths: tuple[str, ...] = Field(max_length=12)
    weaknesses: tuple[str, ...] = Field(max_length=12)
    suggestions: tuple[str, ...] = Field(max_length=12)


_KEY = bounded(r"\[P\d{1,6}\]")
_MOST = 3
_REPEATED = 0.5


async def baseline_summary(inputs: SummaryInput, _tools: BaselineTools) -> SummaryReply:
    """Up to three of each: strengths of well-scored methods, weaknesses and suggestions of badly
    scored ones, important methods first.
    """
    return SummaryReply(
        strengths=_chosen(
            inputs, lambda review: review.support, lambda review: review.score_0_to_10
        ),
        weaknesses=_chosen(
            inputs, lambda review: review.contradictions, lambda review: 10 - review.score_0_to_10
        ),
        suggestions=_chosen(
            inputs, lambda review: review.suggestions, lambda review: 10 - review.score_0_to_10
        ),
    )


def _chosen(
    inputs: SummaryInput, part: Callable[[ReviewShown], str], weight: Callable[[ReviewShown], float]
) -> tuple[str, ...]:
    """One statement per method in order of weight times importance, then further ones; no paper and
    no wording twice.
    """
    order = sorted(
        inputs.reviews,
        key=lambda review: (-(weight(review) + 0.5) / (1 + 0.15 * (review.rank - 1)), review.rank),
    )
    offered = [(review, _statements(part(review))) for review in order]
    depth = max(len(found) for _, found in offered)
    chosen: list[str] = []
    cited: set[str] = set()
    for place in range(depth):
        for review, found in offered:
            if place >= len(found) or len(chosen) == _MOST:
                continue
            keys = set(_KEY.findall(found[place]))
            if keys & cited or any(
                overlap_0_to_1(found[place], other) > _REPEATED for other in chosen
            ):
                continue
            cited |= keys
            chosen.append(f"Method {review.rank} ({label_of(review.method)}): {found[place]}")
    return tuple(chosen)


def _statements(text: str) -> list[str]:
    """The sentences of a review that say something of one paper; those that only list related ones
    are left out.
    """
    return [
        sentence
        for sentence in sentences(text)
        if _KEY.search(sentence) and not sentence.endswith(SILENT)
    ]


SOUNDNESS_SUMMARY = Step(
    name="soundness_summary",
    version=2,
    package="tasks.soundness",
    input_model=SummaryInput,
    output_model=SummaryReply,
    baseline=baseline_summary,
    kind=StepKind.JUDGEMENT,
)
