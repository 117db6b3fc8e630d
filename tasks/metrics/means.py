"""Means, shares and paired differences, with bootstrap intervals over items or clusters."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import LEVEL, Estimate, Interval, split_missing, undefined

RESAMPLES = 2000
FEWEST_DEFINED_SHARE = 0.9
"""Least share of resamples with a defined statistic; with fewer, there is no interval."""

Indices = NDArray[np.intp]
Statistic = Callable[[Indices], float]
"""Maps positions of items (with repeats) to the statistic of those items; NaN where undefined."""


def bootstrap_interval(
    statistic: Statistic,
    count: int,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return a statistic's 95 % percentile bootstrap interval over `count` items.

    Resamples items, or whole `clusters` (one label per item): items of one cluster are not
    independent, and resampling them separately makes intervals too narrow. For paired data,
    `statistic` reads both systems at the same positions.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, §13.3; clusters: Davison &
    Hinkley, Bootstrap Methods and their Application, 1997, §3.8 (strategy 1: whole clusters,
    nothing resampled within).

    Bad input: with fewer than two items or clusters, or a statistic that is undefined in more than
    a tenth of the resamples (as with a rare class), the interval is missing.
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
    resampled_values = np.empty(resamples)
    for number in range(resamples):
        sample = generator.integers(0, len(members), len(members))
        resampled_values[number] = statistic(
            sample if clusters is None else np.concatenate([members[unit] for unit in sample])
        )
    method = "bootstrap" if clusters is None else "clustered bootstrap"
    return percentile_interval(resampled_values, method)


def clustered_mean_interval(
    values: Sequence[float], clusters: Sequence[Hashable], seed: int, resamples: int = RESAMPLES
) -> Interval:
    """Return `bootstrap_interval` of the mean over items, computed by one matrix product."""
    members = _members(len(values), clusters)
    if len(members) < 2:
        return Interval(missing_reason=f"resampling needs two clusters, there are {len(members)}")
    numbers = np.asarray(values, dtype=np.float64)
    sums = np.array([numbers[positions].sum() for positions in members])
    sizes = np.array([len(positions) for positions in members], dtype=np.float64)
    samples = np.random.default_rng(seed).integers(0, len(members), (resamples, len(members)))
    return percentile_interval(
        sums[samples].sum(axis=1) / sizes[samples].sum(axis=1), "clustered bootstrap"
    )


def percentile_interval(resampled_values: NDArray[np.float64], method: str) -> Interval:
    """Return the middle 95 % of a statistic's resampled values."""
    defined_values = resampled_values[np.isfinite(resampled_values)]
    if len(defined_values) < FEWEST_DEFINED_SHARE * len(resampled_values) or not len(
        defined_values
    ):
        share = len(defined_values) / len(resampled_values) if len(resampled_values) else 0.0
        return Interval(missing_reason=f"the statistic exists in only {share:.0%} of the resamples")
    tail = (1 - LEVEL) / 2
    lower, upper = np.quantile(defined_values, [tail, 1 - tail])
    return Interval(float(lower), float(upper), method)


def _members(count: int, clusters: Sequence[Hashable] | None) -> list[Indices]:
    """Return the positions of each cluster's items, in order of first appearance."""
    if clusters is None:
        return [np.array([position], dtype=np.intp) for position in range(count)]
    assert len(clusters) == count, "one cluster per item"
    members: dict[Hashable, list[int]] = {}
    for position, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(position)
    return [np.array(positions, dtype=np.intp) for positions in members.values()]


def no_interval_reason(values: Sequence[float]) -> str | None:
    """Return why the mean of these values has no interval.

    The result is None when it has one.
    """
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
    """Estimate the mean of the values that are neither None nor NaN.

    Interval: BCa bootstrap over items (`scipy.stats.bootstrap`; Efron, JASA 1987), or percentile
    bootstrap over whole `clusters`, one per value.

    Bad input: None and NaN are unscored; without a value the mean is undefined; with fewer than two
    values, one cluster or equal values it has no interval.
    """
    there, missing = split_missing(values)
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
    """Estimate hits / count, with Wilson's score interval (Wilson, JASA 1927; `statsmodels`).

    Wilson's interval stays within 0 and 1 and also works for shares of 0 and 1, where resampling
    has no variance.

    Bad input: without items the share is undefined.
    """
    assert 0 <= hits <= count or count == 0
    if count == 0:
        return undefined(_nothing(unscored_count), unscored_count=unscored_count)
    from statsmodels.stats.proportion import proportion_confint  # slow import, as in `_bca`

    lower, upper = proportion_confint(hits, count, alpha=1 - LEVEL, method="wilson")
    ends = min(float(lower), hits / count), max(float(upper), hits / count)
    return Estimate(hits / count, count, Interval(*ends, "wilson"), unscored_count)


def share_of(
    outcomes: Sequence[bool | None], seed: int = 0, clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """Estimate the share of True among the outcomes; None is unscored.

    Interval: Wilson's, or the bootstrap over whole `clusters`, one per outcome. If all outcomes are
    equal, resampling has no variance: Wilson's interval over the clusters.
    """
    known_outcomes = [outcome for outcome in outcomes if outcome is not None]
    estimate = share(sum(known_outcomes), len(known_outcomes), len(outcomes) - len(known_outcomes))
    if clusters is None or not known_outcomes:
        return estimate
    if 0 < sum(known_outcomes) < len(known_outcomes):
        return mean(
            [None if outcome is None else float(outcome) for outcome in outcomes], seed, clusters
        )
    outcome_clusters = {
        cluster for cluster, outcome in zip(clusters, outcomes, strict=True) if outcome is not None
    }
    interval = share(
        len(outcome_clusters) if known_outcomes[0] else 0, len(outcome_clusters)
    ).interval
    return replace(estimate, interval=replace(interval, method="wilson over clusters"))


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Estimate the mean of first - second over common items.

    An interval without 0 is a difference at the 5 % level.

    Bad input: an item that one of them lacks is unscored. Both sequences must have the same length.
    """
    assert len(first) == len(second), "one value of each for every item"
    differences = [
        None if one is None or other is None else one - other
        for one, other in zip(first, second, strict=True)
    ]
    return mean(differences, seed, clusters)


def calibration_error(
    expected: NDArray[np.float64],
    observed: NDArray[np.float64],
    bins: Indices,
    units: Sequence[Hashable],
    seed: int,
) -> Estimate:
    """Estimate the weighted mean |observed - expected| over `bins`, 0 to 1.

    Sampling noise gives even a calibrated judge an error above 0. The value is therefore corrected
    by the bias that resampling whole `units` shows, and is at least 0 (Kumar, Liang & Ma, NeurIPS
    2019). The lower end is 0 unless the measured error exceeds the 97.5 % quantile of pure noise;
    the upper end is that of the basic bootstrap (Davison & Hinkley 1997, §5.2).

    Source: Naeini, Cooper & Hauskrecht, AAAI 2015.

    Args:
        expected, observed, bins, units: one of each per statement; bins count from 0.
    """
    names, places = np.unique(np.asarray(units), return_inverse=True)
    count = len(names)
    gaps = np.zeros((count, int(bins.max()) + 1))
    np.add.at(gaps, (places, bins), (observed - expected) / len(expected))
    measured_error = float(np.abs(gaps.sum(axis=0)).sum())
    if count < 2:
        return Estimate(measured_error, count, Interval(missing_reason="one item"))
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    resampled_errors = np.abs(draws @ gaps).sum(axis=1)
    by_chance = np.abs((draws - 1) @ gaps).sum(axis=1)
    tail = (1 - LEVEL) / 2
    value = max(2 * measured_error - float(resampled_errors.mean()), 0.0)
    lower = max(measured_error - float(np.quantile(by_chance, 1 - tail)), 0.0)
    upper = max(2 * measured_error - float(np.quantile(resampled_errors, tail)), value)
    return Estimate(value, count, Interval(min(lower, value), upper, "basic bootstrap"))


def _nothing(unscored_count: int) -> str:
    return (
        f"none of the {unscored_count} items has a value" if unscored_count else "there is no item"
    )


def _bca(values: Sequence[float], seed: int) -> Interval:
    from scipy.stats import bootstrap  # slow import, and the step registry imports this module

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
