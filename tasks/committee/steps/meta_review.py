"""`meta_review`: a summary of the reviews, and a decision.

Baseline: the figures, the reviews that score highest and lowest, and a decision by thresholds.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import Decision
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, NoAnswer, Step


class ReviewShown(Noun):
    """One scored review, with citation keys that hold across the whole committee."""

    reviewer: str
    dimension: str
    score_0_to_10: float = Field(ge=0, le=10)
    review: str


class DimensionFigures(Noun):
    """The scored reviews of one dimension in figures."""

    name: str
    mean: float = Field(ge=0, le=10)
    spread: float | None = Field(
        description="Standard deviation over reviewers; None with a single one."
    )
    scored_count: int = Field(ge=1)


class MetaInput(Noun):
    """Input of `meta_review`. The total is computed, not asked for."""

    idea: str = Field(min_length=1)
    total_score_0_to_10: float = Field(ge=0, le=10)
    figures: tuple[DimensionFigures, ...] = Field(min_length=1)
    unscored_count: int = Field(ge=0)
    reviews: tuple[ReviewShown, ...] = Field(min_length=1)


def _decided(value: object) -> object:
    """`reject.`, `SPOTLIGHT`, `Accept (Poster)` as models write them; anything else is left for the
    closed list to refuse.
    """
    if not isinstance(value, str):
        return value
    named = [
        decision.value for decision in Decision if decision.value.casefold() in value.casefold()
    ]
    return named[0] if len(named) == 1 else value


class MetaReply(Reply):
    """Reply to `meta_review`."""

    summary: Prose
    strengths: Prose
    weaknesses: Prose
    decision: Annotated[Decision, BeforeValidator(_decided)]


THRESHOLDS = ((7.8, Decision.ORAL), (7.4, Decision.SPOTLIGHT), (7.2, Decision.POSTER))
"""Least totals of the decisions, as InnoEval's released prompt has them; below all of them: Reject.
"""
_VOICES = 2


async def baseline_conclusion(inputs: MetaInput, tools: BaselineTools) -> MetaReply | NoAnswer:
    """The figures, the reviews that score highest and lowest, and the decision by `THRESHOLDS`."""
    del tools
    ordered = sorted(inputs.figures, key=lambda figure: (-figure.mean, figure.name))
    return MetaReply(
        summary=_figures(inputs, ordered),
        strengths=_voices(inputs, ordered[:_VOICES], best=True),
        weaknesses=_voices(inputs, ordered[::-1][:_VOICES], best=False),
        decision=decision_by_total(inputs.total_score_0_to_10),
    )


def decision_by_total(total_score_0_to_10: float) -> Decision:
    return next(
        (decision for least, decision in THRESHOLDS if total_score_0_to_10 >= least),
        Decision.REJECT,
    )


def _figures(inputs: MetaInput, ordered: list[DimensionFigures]) -> str:
    means = ", ".join(f"{_named(figure)} {figure.mean:.1f}" for figure in ordered)
    return (
        f"Baseline total: {inputs.total_score_0_to_10:.1f} of 10; means: {means}; reviews scored:"
        f" {len(inputs.reviews)}; not scored: {inputs.unscored_count}"
    )


def _voices(inputs: MetaInput, figures: list[DimensionFigures], *, best: bool) -> str:
    """Of each dimension the review that scores highest, or lowest."""
    chosen = [
        _extreme([each for each in inputs.reviews if each.dimension == figure.name], best=best)
        for figure in figures
    ]
    return "\n\n".join(
        f"{each.dimension.replace('_', ' ').capitalize()}: {each.review}" for each in chosen
    )


def _extreme(reviews: list[ReviewShown], *, best: bool) -> ReviewShown:
    return sorted(
        reviews,
        key=lambda each: (-each.score_0_to_10 if best else each.score_0_to_10, each.reviewer),
    )[0]


def _named(figure: DimensionFigures) -> str:
    return figure.name.replace("_", " ")


META_REVIEW = Step(
    name="meta_review",
    version=2,
    package="tasks.committee",
    input_model=MetaInput,
    output_model=MetaReply,
    baseline=baseline_conclusion,
    kind=StepKind.JUDGEMENT,
)
