"""What every metric gives: a value, how sure it is, what it rests on, and a reason where there is
none. And how many runs or test items a comparison needs, before it is made.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from schemas.judgement.benchmark import BenchmarkScore

NAN = math.nan
LEVEL = 0.95
"""Every interval of Assay covers 95 %."""
Z = 1.959964
"""Standard errors to each side that hold so much of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval that holds the true value with 95 % confidence.

    Attributes:
        lower, upper: ends, in the unit of the value; NaN when there is no interval.
        method: how it was made: `wilson`, `bca bootstrap`, `clustered bootstrap`, …; empty when
            there is none.
        missing_reason: why there is none; None when there is one.
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
        value: NaN exactly when `undefined_reason` says why.
        count: items the value rests on.
        interval: 95 % interval; it may lack where the value does not.
        unscored_count: items that should have had an answer and have none; not part of the value.
        undefined_reason: why there is no value; None when there is one.
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
    """No value, and why."""
    return Estimate(
        NAN, count, Interval(missing_reason="there is no value"), unscored_count, reason
    )


def answered(values: Iterable[float | None]) -> tuple[list[float], int]:
    """(values that are there, how many are not); None and NaN are both "not there"."""
    listed = list(values)
    there = [float(value) for value in listed if value is not None and not math.isnan(value)]
    return there, len(listed) - len(there)


def benchmark_score(
    estimate: Estimate, suite: str, metric: str, system: str, part: str = "all"
) -> BenchmarkScore:
    """The row of `benchmark_scores` for a measured estimate; `part` fills its `slice`.

    NaN becomes None.
    """
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
"""A difference that is there is seen four times of five."""


def pairs_needed(deviations: float, compared_with: int) -> int:
    """Return how many paired runs show a mean difference of so many standard deviations of one
    pair's difference, by a two-sided t-test corrected for `compared_with` comparisons (Bonferroni).
    """
    count = 2
    while _power(deviations, count, compared_with) < POWER:
        count += 1
    return count


def detectable(count: int, compared_with: int) -> float:
    """Return the mean difference that `count` paired runs show with `POWER`, in standard deviations
    of one pair's difference; see `pairs_needed`.
    """
    from scipy.optimize import brentq  # takes a while; the list of steps leads here

    return float(brentq(lambda each: _power(each, count, compared_with) - POWER, 0.0, 1e6))


def _power(deviations: float, count: int, compared_with: int) -> float:
    """By integration over the deviation that the pairs show: the noncentral t distribution of
    `scipy` and `statsmodels` is wrong for few pairs among many comparisons.
    """
    from scipy.special import chdtri, ndtr, stdtrit

    freedom = count - 1
    critical = stdtrit(freedom, 1 - (1 - LEVEL) / compared_with / 2)
    deviation_ratios = np.sqrt(chdtri(freedom, (np.arange(500) + 0.5) / 500) / freedom)
    return float(ndtr(deviations * math.sqrt(count) - critical * deviation_ratios).mean())


def items_needed(share: float, difference: float, compared_with: int) -> int:
    """Test items of which each system needs so many to show that its share of right answers is
    `share + difference` and not `share`, as if each had items of its own: on the same items fewer
    will do. Arcsine-transformed shares; `statsmodels`.
    """
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    alpha = (1 - LEVEL) / compared_with
    size = proportion_effectsize(share + difference, share)
    return math.ceil(float(NormalIndPower().solve_power(size, alpha=alpha, power=POWER)))
