"""Tests of the difference between two systems: paired bootstrap and Welch's t-test."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.stats import ttest_ind_from_stats

from tasks.metrics.estimate import Estimate, split_missing, undefined
from tasks.metrics.labels import LabelPairs
from tasks.metrics.means import RESAMPLES, Indices, bootstrap_interval

Metric = Callable[[LabelPairs], float]
"""Returns NaN if undefined; for example `macro_f1_value` with bound classes."""


def metric_difference(
    first: LabelPairs, second: LabelPairs, metric: Metric, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Estimate metric(first) - metric(second) on the items both answered.

    Paired percentile bootstrap over items: an interval without 0 is a difference at the 5 %
    level. For metrics that are means over items (accuracy, error), `paired_difference` of the
    items' values is equivalent and faster.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, §8.

    Bad input: items that one of them did not answer are unscored; without a common item, or where
    the metric is undefined on them, the difference is undefined.

    Raises:
        ValueError: an item has different gold labels in `first` and `second`.
    """
    ours, theirs = (
        {
            name: (gold, label)
            for name, gold, label in zip(one.ids, one.gold, one.predicted, strict=True)
        }
        for one in (first, second)
    )
    common = sorted(ours.keys() & theirs.keys())
    unscored_count = len({*ours, *theirs, *first.unanswered, *second.unanswered}) - len(common)
    if any(ours[name][0] != theirs[name][0] for name in common):
        raise ValueError("the two systems were compared with different gold labels")
    if not common:
        return undefined("no item was answered by both", unscored_count=unscored_count)

    def difference(indices: Indices) -> float:
        names = [common[place] for place in indices.tolist()]
        one, other = (
            metric(LabelPairs(tuple(names), *zip(*(rows[name] for name in names), strict=True)))
            for rows in (ours, theirs)
        )
        return one - other

    value = difference(np.arange(len(common)))
    if math.isnan(value):
        return undefined(
            "the metric does not exist on the items answered by both", len(common), unscored_count
        )
    interval = bootstrap_interval(difference, len(common), seed, resamples=resamples)
    interval = replace(interval, method=interval.method and f"paired {interval.method}")
    return Estimate(value, len(common), interval, unscored_count)


def welch(
    first: Sequence[float | None],
    second: Sequence[float | None],
    alternative: Literal["two-sided", "greater"] = "two-sided",
) -> Estimate:
    """Return the p-value of Welch's test of two means; `scipy`.

    Source: Welch, The generalization of Student's problem, Biometrika 1947.

    Bad input: None and NaN are unscored; with fewer than two values in a group, or no variance in
    either, the test is undefined.

    Args:
        alternative: `greater` tests whether the first mean is greater than the second.
    """
    (ours, ours_missing), (theirs, theirs_missing) = split_missing(first), split_missing(second)
    count, missing = len(ours) + len(theirs), ours_missing + theirs_missing
    if min(len(ours), len(theirs)) < 2:
        reason = f"a group has fewer than two values ({len(ours)} and {len(theirs)})"
        return undefined(reason, count, missing)
    (mean, deviation), (other_mean, other_deviation) = _summary(ours), _summary(theirs)
    if deviation == other_deviation == 0:
        return undefined("neither group has any spread", count, missing)
    test = ttest_ind_from_stats(
        mean,
        deviation,
        len(ours),
        other_mean,
        other_deviation,
        len(theirs),
        equal_var=False,
        alternative=alternative,
    )
    return Estimate(float(test.pvalue), count, unscored_count=missing)


def _summary(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation."""
    # The computed mean of equal numbers may differ by rounding, which would give them a variance.
    if len(set(values)) == 1:
        return values[0], 0.0
    return float(np.mean(values)), float(np.std(values, ddof=1))
