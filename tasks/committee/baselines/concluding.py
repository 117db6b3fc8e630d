"""Baseline of `meta_review`: the clearest voices for and against, and a decision by thresholds on the total."""

from schemas.committee import Decision
from tasks.committee.answers import MetaReply
from tasks.committee.questions import DimensionFigures, MetaQuestion, ReviewShown
from tasks.judging.step import BaselineTools, NoAnswer

THRESHOLDS = ((7.8, Decision.ORAL), (7.4, Decision.SPOTLIGHT), (7.2, Decision.POSTER))
"""Least totals of the decisions, as InnoEval's released prompt has them; below all of them: Reject."""
WIDE_SPREAD = 1.5
_VOICES = 2


async def conclude(question: MetaQuestion, tools: BaselineTools) -> MetaReply | NoAnswer:
    """Sentences of the reviews, chosen by their scores; nothing is added to them."""
    del tools
    ordered = sorted(question.figures, key=lambda figure: (-figure.mean, figure.name))
    return MetaReply(
        summary=_summary(question, ordered),
        strengths=_voices(question, ordered[:_VOICES], best=True),
        weaknesses=_voices(question, ordered[::-1][:_VOICES], best=False),
        decision=decision_by_total(question.total_score_0_to_10),
    )


def decision_by_total(total_score_0_to_10: float) -> Decision:
    return next((decision for least, decision in THRESHOLDS if total_score_0_to_10 >= least), Decision.REJECT)


def _summary(question: MetaQuestion, ordered: list[DimensionFigures]) -> str:
    parts = [f"The committee gives {question.total_score_0_to_10:.1f} of 10 over {len(question.reviews)} scored reviews."]
    best, worst = ordered[0], ordered[-1]
    if best is not worst:
        parts.append(f"It thinks most of its {_named(best)} ({best.mean:.1f}) and least of its {_named(worst)} ({worst.mean:.1f}).")
    apart = [_named(figure) for figure in ordered if figure.spread is not None and figure.spread >= WIDE_SPREAD]
    if apart:
        parts.append(f"Members are far apart on {', '.join(apart)}.")
    if question.unscored_count:
        parts.append(f"{question.unscored_count} reviews could not be had and are not part of the total.")
    return " ".join(parts)


def _voices(question: MetaQuestion, figures: list[DimensionFigures], *, best: bool) -> str:
    """Of each dimension the review that scores highest, or lowest."""
    chosen = [_extreme([each for each in question.reviews if each.dimension == figure.name], best=best) for figure in figures]
    return "\n\n".join(f"{each.dimension.replace('_', ' ').capitalize()}: {each.review}" for each in chosen)


def _extreme(reviews: list[ReviewShown], *, best: bool) -> ReviewShown:
    return sorted(reviews, key=lambda each: (-each.score_0_to_10 if best else each.score_0_to_10, each.reviewer))[0]


def _named(figure: DimensionFigures) -> str:
    return figure.name.replace("_", " ")
