"""Estimates with intervals, and sample sizes that a comparison needs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from schemas.judgement.benchmark import BenchmarkScore

NAN = math.nan
LEVEL = 0.95
"""Coverage of every interval."""
Z = 1.959964
"""Quantile of the normal distribution for `LEVEL`, in standard errors."""


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % confidence interval, or the reason why it is missing.

    Attributes:
        lower, upper: in the unit of the value; NaN when the interval is missing.
        method: `wilson`, `bca bootstrap`, `clustered bootstrap`, …; empty when it is missing.
    """

    lower: float = NAN
    upper: float = NAN
    method: str = ""
    missing_reason: str | None = None

    def __post_init__(self) -> None:
        assert math.isnan(self.lower) == (self.missing_reason is not None), (
            "an interval or a reason"
        )
        assert math.isnan(self.lower) == math.isnan(self.upper)


NO_INTERVAL = Interval(missing_reason="describes these items, estimates nothing beyond them")


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric of one set of items.

    Attributes:
        value: NaN exactly when there is an `undefined_reason`.
        count: items that the value is computed from.
        interval: may be missing although the value is defined.
        unscored_count: items without an answer, which are excluded from the value.
    """

    value: float
    count: int
    interval: Interval = NO_INTERVAL
    unscored_count: int = 0
    undefined_reason: str | None = None

    def __post_init__(self) -> None:
        assert math.isnan(self.value) == (self.undefined_reason is not None), (
            "a value or a reason, never both and never neither"
        )
        assert not math.isinf(self.value)
        assert self.count >= 0
        assert self.unscored_count >= 0

    @property
    def defined(self) -> bool:
        return self.undefined_reason is None


def undefined(reason: str, count: int = 0, unscored_count: int = 0) -> Estimate:
    """Return an estimate without a value, for `reason`."""
    return Estimate(
        NAN, count, Interval(missing_reason="there is no value"), unscored_count, reason
    )


def split_missing(values: Iterable[float | None]) -> tuple[list[float], int]:
    """Return the values except None and NaN, and their number."""
    all_values = list(values)
    known_values = [
        float(value) for value in all_values if value is not None and not math.isnan(value)
    ]
    return known_values, len(all_values) - len(known_values)


def benchmark_score(
    estimate: Estimate, suite: str, metric: str, system: str, part: str = "all"
) -> BenchmarkScore:
    """Return an estimate's row of `benchmark_scores`, with `part` as `slice`."""
    interval = estimate.interval
    return BenchmarkScore(
        suite=suite,
        metric=metric,
        slice=part,
        system=system,
        value=estimate.value if estimate.defined else None,
        lower=None if math.isnan(interval.lower) else interval.lower,
        upper=None if math.isnan(interval.upper) else interval.upper,
        interval_method=interval.method,
        count=estimate.count,
        unscored_count=estimate.unscored_count,
        undefined_reason=estimate.undefined_reason,
    )


POWER = 0.8
"""Probability of detecting a true difference."""


def pairs_needed(deviations: float, compared_with: int) -> int:
    """Return the paired runs that detect a mean difference with `POWER`.

    By a two-sided t-test, corrected for `compared_with` comparisons (Bonferroni).

    Args:
        deviations: the difference, in standard deviations of one pair's difference.
    """
    from scipy.special import ndtri

    # The normal approximation needs no more pairs, so that a small effect takes few steps.
    quantiles = ndtri(1 - (1 - LEVEL) / compared_with / 2) + ndtri(POWER)
    count = max(2, int((quantiles / deviations) ** 2))
    while _power(deviations, count, compared_with) < POWER:
        count += 1
    return count


def detectable(count: int, compared_with: int) -> float:
    """Return the mean difference that `count` paired runs detect; see `pairs_needed`.

    In standard deviations of one pair's difference.
    """
    from scipy.optimize import brentq  # slow import, and the step registry imports this module

    return float(brentq(lambda each: _power(each, count, compared_with) - POWER, 0.0, 1e6))


def _power(deviations: float, count: int, compared_with: int) -> float:
    from scipy.special import chdtri, ndtr, stdtrit

    # Integrates over the sample deviation: the noncentral t distribution of `scipy` and
    # `statsmodels` is wrong for few pairs and many comparisons.
    freedom = count - 1
    critical = stdtrit(freedom, 1 - (1 - LEVEL) / compared_with / 2)
    deviation_ratios = np.sqrt(chdtri(freedom, (np.arange(500) + 0.5) / 500) / freedom)
    return float(ndtr(deviations * math.sqrt(count) - critical * deviation_ratios).mean())


def items_needed(share: float, difference: float, compared_with: int) -> int:
    """Return items per system that separate `share` from `share + difference`.

    An upper bound: it assumes different items for each system, and pairing needs fewer.
    Arcsine-transformed shares; `statsmodels`.
    """
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    alpha = (1 - LEVEL) / compared_with
    size = proportion_effectsize(share + difference, share)
    return math.ceil(float(NormalIndPower().solve_power(size, alpha=alpha, power=POWER)))
