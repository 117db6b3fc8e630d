"""Means, shares and paired differences with their intervals."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from tasks.metrics.estimate import LEVEL, Estimate, Interval, answered, undefined
from tasks.metrics.resampling import RESAMPLES, clustered_mean_interval, no_interval_reason


def mean(
    values: Sequence[float | None], seed: int = 0, clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """Arithmetic mean of what is there, in the unit of the values.

    Interval: BCa bootstrap over items (`scipy.stats.bootstrap`; Efron, JASA 1987), or the
        percentile bootstrap over whole
    clusters where `clusters` names one per value.

    Bad input: None and NaN are counted as unscored and are no part of the mean; no value at all is
        undefined; fewer than
    two values, one cluster, or values all equal have a mean and no interval.
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
        kept = [
            cluster
            for cluster, value in zip(clusters, values, strict=True)
            if value is not None and value == value
        ]
        interval = clustered_mean_interval(there, kept, seed)
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
    from statsmodels.stats.proportion import proportion_confint  # as `_bca`

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
    found = share(sum(there), len(there), len(outcomes) - len(there))
    if clusters is None or not there:
        return found
    if 0 < sum(there) < len(there):
        return mean(
            [None if outcome is None else float(outcome) for outcome in outcomes], seed, clusters
        )
    kept = {
        cluster for cluster, outcome in zip(clusters, outcomes, strict=True) if outcome is not None
    }
    interval = share(len(kept) if there[0] else 0, len(kept)).interval
    return replace(found, interval=replace(interval, method="wilson over clusters"))


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

    found = bootstrap(
        (np.asarray(values),),
        np.mean,
        confidence_level=LEVEL,
        n_resamples=RESAMPLES,
        batch=200,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    lower, upper = float(found.low), float(found.high)
    if np.isnan(lower) or np.isnan(upper):
        return Interval(missing_reason="too few different values for the BCa bootstrap")
    return Interval(lower, upper, "bca bootstrap")
