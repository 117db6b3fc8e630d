"""Means, shares and paired differences, with intervals by resampling whole units: items, or
clusters of items that share a cause (rubrics of one idea).
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import LEVEL, Estimate, Interval, answered, undefined

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
    clusters are: items of one cluster are not independent, and drawing them apart makes intervals
    too narrow. The same seed gives the same interval. Pairs stay pairs: let `statistic` read both
    systems at the positions it is given.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, §13.3; clusters: Davison &
    Hinkley, Bootstrap Methods and their Application, 1997, §3.8 (strategy 1: whole clusters,
    nothing resampled within).

    Bad input: fewer than two items or clusters, or a statistic that is undefined in more than a
    tenth of the resamples (a rare class that is seldom drawn), give no interval, with the reason.
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
    members: dict[Hashable, list[int]] = {}
    for position, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(position)
    return [np.array(positions, dtype=np.intp) for positions in members.values()]


def no_interval_reason(values: Sequence[float]) -> str | None:
    """Why an interval of a mean cannot be had from these values; None when it can."""
    if len(values) < 2:
        return "an interval needs two values"
    return (
        "all values are equal"
        if math.isclose(min(values), max(values), rel_tol=0, abs_tol=0)
        else None
    )


def mean(
    values: Sequence[float | None], seed: int = 0, clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """Arithmetic mean of what is there, in the unit of the values.

    Interval: BCa bootstrap over items (`scipy.stats.bootstrap`; Efron, JASA 1987), or the
    percentile bootstrap over whole clusters where `clusters` names one per value.

    Bad input: None and NaN are counted as unscored and are no part of the mean; no value at all is
    undefined; fewer than two values, one cluster, or values all equal have a mean and no interval.
    """
    there, missing = answered(values)
    if not there:
        return undefined(_nothing(missing), unscored_count=missing)
    reason = no_interval_reason(there)
    if reason is not None:
        interval = Interval(missing_reason=reason)
    elif clusters is None:
        interval = _bca(there, seed)
    else:
        assert len(clusters) == len(values), "one cluster per value"
        value_clusters = [
            cluster
            for cluster, value in zip(clusters, values, strict=True)
            if value is not None and value == value
        ]
        interval = clustered_mean_interval(there, value_clusters, seed)
    return Estimate(float(np.mean(there)), len(there), interval, missing)


def share(hits: int, count: int, unscored_count: int = 0) -> Estimate:
    """hits / count, from 0 to 1, with Wilson's score interval (Wilson, JASA 1927; `statsmodels`).

    Wilson's interval keeps within 0 and 1 and covers at 0 and at 1, where the bootstrap has nothing
    to draw from.

    Bad input: of no item there is no share.
    """
    assert 0 <= hits <= count or count == 0
    if count == 0:
        return undefined(_nothing(unscored_count), unscored_count=unscored_count)
    from statsmodels.stats.proportion import proportion_confint  # takes a second, as in `_bca`

    lower, upper = proportion_confint(hits, count, alpha=1 - LEVEL, method="wilson")
    ends = min(float(lower), hits / count), max(float(upper), hits / count)
    return Estimate(hits / count, count, Interval(*ends, "wilson"), unscored_count)


def share_of(
    outcomes: Sequence[bool | None], seed: int = 0, clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """Share of True among the outcomes that are there; None is unscored.

    Interval: Wilson's, or where `clusters` names one per outcome the bootstrap over whole clusters.
    Outcomes that are all alike leave nothing to draw from: Wilson's, with clusters for items.
    """
    there = [outcome for outcome in outcomes if outcome is not None]
    estimate = share(sum(there), len(there), len(outcomes) - len(there))
    if clusters is None or not there:
        return estimate
    if 0 < sum(there) < len(there):
        return mean(
            [None if outcome is None else float(outcome) for outcome in outcomes], seed, clusters
        )
    outcome_clusters = {
        cluster for cluster, outcome in zip(clusters, outcomes, strict=True) if outcome is not None
    }
    interval = share(len(outcome_clusters) if there[0] else 0, len(outcome_clusters)).interval
    return replace(estimate, interval=replace(interval, method="wilson over clusters"))


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Mean of first - second over the items both have; its interval draws items (or whole
    clusters), pairs kept together.

    An interval without 0 tells the two apart at 5 %. Source: as `mean`, on the differences.

    Bad input: an item that either lacks is unscored; sequences of different lengths are a
    programming error.
    """
    assert len(first) == len(second), "one value of each for every item"
    differences = [
        None if one is None or other is None else one - other
        for one, other in zip(first, second, strict=True)
    ]
    return mean(differences, seed, clusters)


def _nothing(unscored_count: int) -> str:
    return (
        f"none of the {unscored_count} items has a value" if unscored_count else "there is no item"
    )


def _bca(values: Sequence[float], seed: int) -> Interval:
    from scipy.stats import bootstrap  # takes a second; the list of steps leads here

    ends = bootstrap(
        (np.asarray(values),),
        np.mean,
        confidence_level=LEVEL,
        n_resamples=RESAMPLES,
        batch=200,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    lower, upper = float(ends.low), float(ends.high)
    if np.isnan(lower) or np.isnan(upper):
        return Interval(missing_reason="too few different values for the BCa bootstrap")
    return Interval(lower, upper, "bca bootstrap")
