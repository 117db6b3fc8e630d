"""The committee in figures: total, means, spreads and agreement. Computed from scored reviews, never asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from schemas.committee import PersonaReview, ReviewDimension
from tasks.metrics.krippendorff import krippendorff_alpha

_NO_INTERVAL_RESAMPLES = 2


@dataclass(frozen=True, slots=True)
class Figures:
    """Over scored reviews only.

    Attributes:
        total_0_to_10: mean over personas and dimensions; None without a scored review.
        means, spreads: by dimension; a spread is the standard deviation over personas and needs two of them.
        alpha: Krippendorff's, interval scale: units are dimensions, raters are personas. None where it is undefined, or where
            fewer than two dimensions have two scores: over a single unit it is 0 whatever the scores.
    """

    total_0_to_10: float | None
    means: dict[str, float]
    spreads: dict[str, float]
    alpha: float | None
    scored_count: int
    unscored_count: int


def figures_of(reviews: Sequence[PersonaReview], dimensions: Sequence[ReviewDimension]) -> Figures:
    by_dimension = {each.name: [review for review in reviews if review.dimension == each.name] for each in dimensions}
    scored = {name: [review.score_0_to_10 for review in found if review.score_0_to_10 is not None] for name, found in by_dimension.items()}
    every = [score for scores in scored.values() for score in scores]
    alpha = krippendorff_alpha(
        [[review.score_0_to_10 for review in found] for found in by_dimension.values()], "interval", resamples=_NO_INTERVAL_RESAMPLES
    )
    return Figures(
        total_0_to_10=fmean(every) if every else None,
        means={name: fmean(scores) for name, scores in scored.items() if scores},
        spreads={name: stdev(scores) for name, scores in scored.items() if len(scores) > 1},
        alpha=alpha.value if alpha.defined and alpha.count > 1 else None,
        scored_count=len(every),
        unscored_count=len(reviews) - len(every),
    )
