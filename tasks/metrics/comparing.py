"""What tells two systems apart: a metric on the same items, drawn together, and Welch's t-test."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import ttest_ind_from_stats

from tasks.metrics.estimate import NAN, Estimate, answered, undefined
from tasks.metrics.labelled import Labelled
from tasks.metrics.means import RESAMPLES, Indices, bootstrap_interval

Metric = Callable[[Labelled], float]
"""Such as `macro_f1_value` with its classes bound; NaN where undefined."""


def metric_difference(
    first: Labelled, second: Labelled, metric: Metric, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """metric(first) - metric(second) on the items both answered; percentile bootstrap over items,
    both systems at the same items.

    An interval without 0 tells the two apart at 5 %. For metrics that are means over items
    (accuracy, error) `paired_difference` of the items' values is the same and faster. Source: Efron
    & Tibshirani, An Introduction to the Bootstrap, 1993, §8.

    Bad input: items that either did not answer are unscored; no common item, or a metric undefined
    on them, is undefined.

    Raises:
        ValueError: an item has one gold label in `first` and another in `second`.
    """
    ours, theirs = _rows(first), _rows(second)
    common = sorted(ours.keys() & theirs.keys())
    unscored = len({*ours, *theirs, *first.unanswered, *second.unanswered}) - len(common)
    if any(ours[name][0] != theirs[name][0] for name in common):
        raise ValueError("the two systems were held against different gold labels")
    if not common:
        return undefined("no item was answered by both", unscored_count=unscored)
    one, other = _of(ours, common), _of(theirs, common)
    difference = metric(one) - metric(other)
    if math.isnan(difference):
        return undefined(
            "the metric does not exist on the items answered by both", len(common), unscored
        )

    def again(chosen: Indices) -> float:
        return metric(_drawn(one, chosen)) - metric(_drawn(other, chosen))

    interval = bootstrap_interval(again, len(common), seed, resamples=resamples)
    interval = replace(interval, method=interval.method and f"paired {interval.method}")
    return Estimate(difference, len(common), interval, unscored)


def _rows(labelled: Labelled) -> dict[str, tuple[str | int | float, str | int | float]]:
    return {
        name: (gold, said)
        for name, gold, said in zip(labelled.ids, labelled.gold, labelled.predicted, strict=True)
    }


def _of(rows: dict[str, tuple[str | int | float, str | int | float]], names: list[str]) -> Labelled:
    return Labelled(
        tuple(names), tuple(rows[name][0] for name in names), tuple(rows[name][1] for name in names)
    )


def _drawn(labelled: Labelled, chosen: Indices) -> Labelled:
    positions = np.asarray(chosen).tolist()
    return Labelled(
        tuple(labelled.ids[position] for position in positions),
        tuple(labelled.gold[position] for position in positions),
        tuple(labelled.predicted[position] for position in positions),
    )


Alternative = Literal["two-sided", "greater", "less"]
"""`greater`: the first mean is thought greater than the second."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean, sample standard deviation (n - 1 below) and number of values of one group."""

    mean: float
    deviation: float
    count: int


@dataclass(frozen=True, slots=True)
class WelchTest:
    """Result of one test.

    Attributes:
        difference: first mean - second mean.
        t, degrees_of_freedom, p_value: NaN exactly when `undefined_reason` says why.
        first, second: what was compared.
        first_unscored, second_unscored: values that were not there.
    """

    difference: float
    t: float
    degrees_of_freedom: float
    p_value: float
    alternative: Alternative
    first: Summary
    second: Summary
    first_unscored: int = 0
    second_unscored: int = 0
    undefined_reason: str | None = None

    @property
    def estimate(self) -> Estimate:
        """The p-value with the values it rests on."""
        count = self.first.count + self.second.count
        missing = self.first_unscored + self.second_unscored
        if self.undefined_reason is not None:
            return undefined(self.undefined_reason, count, missing)
        return Estimate(self.p_value, count, unscored_count=missing)


def welch(
    first: Sequence[float | None],
    second: Sequence[float | None],
    alternative: Alternative = "two-sided",
) -> WelchTest:
    """Welch's test from the values; None and NaN are counted and left out.

    See `welch_from_summaries`.
    """
    (ours, ours_missing), (theirs, theirs_missing) = answered(first), answered(second)
    tested = welch_from_summaries(summarise(ours), summarise(theirs), alternative)
    return replace(tested, first_unscored=ours_missing, second_unscored=theirs_missing)


def welch_from_summaries(
    first: Summary, second: Summary, alternative: Alternative = "two-sided"
) -> WelchTest:
    """t = (m1 - m2) / sqrt(s1²/n1 + s2²/n2), degrees of freedom after Welch and Satterthwaite; p by
    `scipy`.

    Source: Welch, The generalization of Student's problem, Biometrika 1947.

    Bad input: fewer than two values in a group, or no spread in either, leave the test undefined.
    """
    reason = _no_test_reason(first, second)
    difference = first.mean - second.mean
    if reason is not None:
        return WelchTest(
            difference, NAN, NAN, NAN, alternative, first, second, undefined_reason=reason
        )
    found = ttest_ind_from_stats(
        first.mean,
        first.deviation,
        first.count,
        second.mean,
        second.deviation,
        second.count,
        equal_var=False,
        alternative=alternative,
    )
    freedom = _degrees_of_freedom(first, second)
    return WelchTest(
        difference, float(found.statistic), freedom, float(found.pvalue), alternative, first, second
    )


def summarise(values: Sequence[float]) -> Summary:
    """Mean and sample standard deviation; NaN where there are too few values for them."""
    if (
        len(set(values)) < 2
    ):  # the mean of equal numbers may round to another, and give them a spread
        return Summary(values[0] if values else NAN, 0.0 if len(values) > 1 else NAN, len(values))
    return Summary(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))


def _no_test_reason(first: Summary, second: Summary) -> str | None:
    if min(first.count, second.count) < 2:
        return f"a group has fewer than two values ({first.count} and {second.count})"
    if first.deviation == 0 and second.deviation == 0:
        return "neither group has any spread"
    return None


def _degrees_of_freedom(first: Summary, second: Summary) -> float:
    ours, theirs = first.deviation**2 / first.count, second.deviation**2 / second.count
    return (ours + theirs) ** 2 / (ours**2 / (first.count - 1) + theirs**2 / (second.count - 1))
