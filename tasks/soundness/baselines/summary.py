"""Extractive answer to `soundness_summary`: the leading sentence for and against of the methods where each weighs most."""

from collections.abc import Callable

from schemas.patterns import bounded
from tasks.judging.step import BaselineTools
from tasks.soundness.answers import SummaryReply
from tasks.soundness.baselines.wording import SILENT, label_of
from tasks.soundness.questions import ReviewShown, SummaryInput
from tasks.text.words import overlap_0_to_1, sentences

_KEY = bounded(r"\[P\d{1,6}\]")
_MOST = 3
_REPEATED = 0.5


async def summarise_reviews(inputs: SummaryInput, _tools: BaselineTools) -> SummaryReply:
    """Up to three of each: strengths of well-scored methods, weaknesses and suggestions of badly scored ones, important methods first."""
    return SummaryReply(
        strengths=_chosen(inputs, lambda review: review.support, lambda review: review.score_0_to_10),
        weaknesses=_chosen(inputs, lambda review: review.contradictions, lambda review: 10 - review.score_0_to_10),
        suggestions=_chosen(inputs, lambda review: review.suggestions, lambda review: 10 - review.score_0_to_10),
    )


def _chosen(inputs: SummaryInput, part: Callable[[ReviewShown], str], weight: Callable[[ReviewShown], float]) -> tuple[str, ...]:
    """One statement per method in order of weight times importance, then further ones; no paper and no wording twice."""
    order = sorted(inputs.reviews, key=lambda review: (-(weight(review) + 0.5) / (1 + 0.15 * (review.rank - 1)), review.rank))
    offered = [(review, _statements(part(review))) for review in order]
    depth = max(len(found) for _, found in offered)
    chosen: list[str] = []
    cited: set[str] = set()
    for place in range(depth):
        for review, found in offered:
            if place >= len(found) or len(chosen) == _MOST:
                continue
            keys = set(_KEY.findall(found[place]))
            if keys & cited or any(overlap_0_to_1(found[place], other) > _REPEATED for other in chosen):
                continue
            cited |= keys
            chosen.append(f"Method {review.rank} ({label_of(review.method)}): {found[place]}")
    return tuple(chosen)


def _statements(text: str) -> list[str]:
    """The sentences of a review that say something of one paper; those that only list related ones are left out."""
    return [sentence for sentence in sentences(text) if _KEY.search(sentence) and not sentence.endswith(SILENT)]
