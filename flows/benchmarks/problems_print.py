"""Where a release differs from what its paper prints, at the digits printed."""

from collections.abc import Sequence

from flows.benchmarks.published_figures import published_scores
from schemas.benchmark import BenchmarkScore

DIFFERENCE = "difference_from_print"
_DIGITS = {
    "mean_problems": 1,
    "first_quartile_problems": 0,
    "third_quartile_problems": 0,
    "mean_input_tokens": 0,
    "mean_thinking_tokens": 0,
    "mean_output_tokens": 0,
    "mean_cost_usd": 3,
    "hit_rate": 3,
    "nothing_found_share": 3,
}
"""Digits after the point as printed; shares are printed in percent with one digit."""


def against_print(suite: str, measured: Sequence[BenchmarkScore]) -> list[BenchmarkScore]:
    """A row for each figure that differs from its published one once rounded as that is: measured
    minus published, unrounded.

    Its `slice` names metric and slice of the figure. What agrees, and what has no published figure
    beside it, gives none.
    """
    printed = {(one.metric, one.slice, one.system): one.value for one in published_scores(suite)}
    found = []
    for score in measured:
        value = printed.get((score.metric, score.slice, score.system))
        if (
            value is None
            or score.value is None
            or round(score.value, _DIGITS[score.metric]) == value
        ):
            continue
        found.append(
            BenchmarkScore(
                suite=suite,
                metric=DIFFERENCE,
                slice=f"{score.metric}, {score.slice}",
                system=score.system,
                value=score.value - value,
                count=score.count,
                unscored_count=score.unscored_count,
            )
        )
    return found
