"""Intervals by resampling whole units: items, or clusters of items that share a cause (rubrics of
one idea).
"""

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import LEVEL, Interval

RESAMPLES = 2000
FEWEST_DEFINED_SHARE = 0.9
"""Below this share of resamples in which the statistic exists, the rest no longer stands for all of
them.
"""

Indices = NDArray[np.intp]
Statistic = Callable[[Indices], float]
"""Takes positions of items (repeats allowed), gives the statistic of those items, NaN where it does
not exist.
"""


def bootstrap_interval(
    statistic: Statistic,
    count: int,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
) -> Interval:
    """95 % percentile bootstrap interval of any statistic over `count` items.

    Without `clusters`, items are drawn with replacement; with them (one label per item), whole
    clusters are: items of one
    cluster are not independent, and drawing them apart makes intervals too narrow. The same seed
    gives the same interval.
    Pairs stay pairs: let `statistic` read both systems at the positions it is given.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, §13.3; clusters: Davison &
        Hinkley, Bootstrap
    Methods and their Application, 1997, §3.8 (strategy 1: whole clusters, nothing resampled
    within).

    Bad input: fewer than two items or clusters, or a statistic that is undefined in more than a
        tenth of the resamples
    (a rare class that is seldom drawn), give no interval, with the reason.
    """
    members = _members(count, clusters)
    if len(members) < 2:
        return Interval(
            missing_reason=(
                f"resampling needs two {'clusters' if clusters is not None else 'items'}, there are"
                f" {len(members)}"
            )
        )
    generator = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    for number in range(resamples):
        chosen = generator.integers(0, len(members), len(members))
        drawn[number] = statistic(
            chosen if clusters is None else np.concatenate([members[unit] for unit in chosen])
        )
    method = "bootstrap" if clusters is None else "clustered bootstrap"
    return percentile_interval(drawn, method)


def clustered_mean_interval(
    values: Sequence[float], clusters: Sequence[Hashable], seed: int, resamples: int = RESAMPLES
) -> Interval:
    """As `bootstrap_interval` for the mean over all items, at the price of one matrix product.

    The mean is over items, not over clusters: sum of the drawn clusters' sums / sum of their sizes.
    """
    members = _members(len(values), clusters)
    if len(members) < 2:
        return Interval(missing_reason=f"resampling needs two clusters, there are {len(members)}")
    numbers = np.asarray(values, dtype=np.float64)
    sums = np.array([numbers[positions].sum() for positions in members])
    sizes = np.array([len(positions) for positions in members], dtype=np.float64)
    chosen = np.random.default_rng(seed).integers(0, len(members), (resamples, len(members)))
    return percentile_interval(
        sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1), "clustered bootstrap"
    )


def percentile_interval(drawn: NDArray[np.float64], method: str) -> Interval:
    """The middle 95 % of what a statistic was over the resamples."""
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < FEWEST_DEFINED_SHARE * len(drawn) or not len(defined):
        share = len(defined) / len(drawn) if len(drawn) else 0.0
        return Interval(missing_reason=f"the statistic exists in only {share:.0%} of the resamples")
    tail = (1 - LEVEL) / 2
    lower, upper = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(lower), float(upper), method)


def _members(count: int, clusters: Sequence[Hashable] | None) -> list[Indices]:
    """Positions of the items of each unit, units in order of first appearance."""
    if clusters is None:
        return [np.array([position], dtype=np.intp) for position in range(count)]
    assert len(clusters) == count, "one cluster per item"
    found: dict[Hashable, list[int]] = {}
    for position, cluster in enumerate(clusters):
        found.setdefault(cluster, []).append(position)
    return [np.array(positions, dtype=np.intp) for positions in found.values()]


def no_interval_reason(values: Sequence[float]) -> str | None:
    """Why an interval of a mean cannot be had from these values; None when it can."""
    if len(values) < 2:
        return "an interval needs two values"
    return (
        "all values are equal"
        if math.isclose(min(values), max(values), rel_tol=0, abs_tol=0)
        else None
    )
