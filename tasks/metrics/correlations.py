"""Rank correlations: over all items, and within groups."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import kendalltau, spearmanr

from tasks.metrics.estimate import Estimate, Interval, undefined
from tasks.metrics.kappa import Z

Correlation = Callable[[Sequence[float | None], Sequence[float | None]], Estimate]


def spearman(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """Pearson's correlation of the ranks (ties share their mean rank), from -1 to 1; `scipy`.

    Interval: Fisher's z with variance (1 + r² / 2) / (n - 3) (Bonett & Wright, Psychometrika 2000),
        from four items on.
    Source: Spearman, American Journal of Psychology 1904.

    Bad input: items that either lacks are unscored; fewer than two items, or one value throughout
        on a side, are undefined.
    """
    return _correlation(first, second, _spearman, lambda value, n: (1 + value**2 / 2) / (n - 3), 4)


def kendall(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """Kendall's tau-b: (concordant - discordant pairs) / geometric mean of the pairs untied on each
    side; from -1 to 1; `scipy`.

    Interval: Fisher's z with variance 0.437 / (n - 4) (Fieller, Hartley & Pearson, Biometrika
        1957), from five items on.
    Source: Kendall, Biometrika 1938 and 1945 (ties). Bad input: as `spearman`.
    """
    return _correlation(first, second, _kendall, lambda _, n: 0.437 / (n - 4), 5)


def _correlation(
    first: Sequence[float | None],
    second: Sequence[float | None],
    measure: Callable[[Sequence[float], Sequence[float]], float],
    variance: Callable[[float, int], float],
    fewest: int,
) -> Estimate:
    assert len(first) == len(second), "one value of each side per item"
    pairs = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if _there(one) and _there(other)
    ]
    ours, theirs = (
        [float(one or 0.0) for one, _ in pairs],
        [float(other or 0.0) for _, other in pairs],
    )
    missing = len(first) - len(pairs)
    if len(pairs) < 2:
        return undefined(
            f"a correlation needs two items, there are {len(pairs)}", len(pairs), missing
        )
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return undefined("one side has one value throughout", len(pairs), missing)
    value = measure(ours, theirs)
    value = math.copysign(1.0, value) if abs(value) > 1 - 1e-12 else value
    return Estimate(value, len(pairs), _fisher(value, len(pairs), variance, fewest), missing)


def _fisher(
    value: float, count: int, variance: Callable[[float, int], float], fewest: int
) -> Interval:
    if count < fewest:
        return Interval(missing_reason=f"an interval needs {fewest} items, there are {count}")
    if abs(value) == 1:
        return Interval(missing_reason="the ranks agree or disagree completely")
    middle, reach = math.atanh(value), Z * math.sqrt(variance(value, count))
    return Interval(math.tanh(middle - reach), math.tanh(middle + reach), "fisher z")


def _spearman(first: Sequence[float], second: Sequence[float]) -> float:
    return float(spearmanr(np.asarray(first), np.asarray(second)).statistic)


def _kendall(first: Sequence[float], second: Sequence[float]) -> float:
    return float(kendalltau(np.asarray(first), np.asarray(second)).statistic)


def _there(value: float | None) -> bool:
    return value is not None and not math.isnan(value)
