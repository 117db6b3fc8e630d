"""Metrics of orders of ideas: rank correlations, pairwise and group accuracy (InnoEval)."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

from tasks.metrics.estimate import Estimate, Interval, Z, undefined
from tasks.metrics.means import Indices, bootstrap_interval, mean, share_of

_RESAMPLES = 500
"""Resamples of areas under the curve; few, because each one sorts all items."""

Correlation = Callable[[Sequence[float | None], Sequence[float | None]], Estimate]


def spearman(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """Estimate Spearman's rank correlation, from -1 to 1; `scipy`.

    Ties share their mean rank.

    Interval: Fisher's z with variance (1 + r² / 2) / (n - 3) (Bonett & Wright, Psychometrika 2000),
    for four items or more.

    Source: Spearman, American Journal of Psychology 1904.

    Bad input: items that one side lacks are unscored; with fewer than two items, or equal values
    on a side, the correlation is undefined.
    """
    return _correlation(first, second, spearmanr, lambda value, n: (1 + value**2 / 2) / (n - 3), 4)


def kendall(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """Estimate Kendall's tau-b, from -1 to 1; `scipy`.

    (concordant - discordant pairs) / geometric mean of the pairs untied on each side. Interval:
    Fisher's z with variance 0.437 / (n - 4) (Fieller, Hartley & Pearson, Biometrika 1957), for
    five items or more.

    Source: Kendall, Biometrika 1938 and 1945 (ties). Bad input: as `spearman`.
    """
    return _correlation(first, second, kendalltau, lambda _, n: 0.437 / (n - 4), 5)


def _correlation(
    first: Sequence[float | None],
    second: Sequence[float | None],
    measure: Callable[[Sequence[float], Sequence[float]], Any],
    variance: Callable[[float, int], float],
    fewest: int,
) -> Estimate:
    assert len(first) == len(second), "one value of each side per item"
    pairs = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None and not math.isnan(one) and not math.isnan(other)
    ]
    count, missing = len(pairs), len(first) - len(pairs)
    if count < 2:
        return undefined(f"a correlation needs two items, there are {count}", count, missing)
    ours, theirs = zip(*pairs, strict=True)
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return undefined("one side has one value throughout", count, missing)
    value = float(measure(ours, theirs).statistic)
    value = math.copysign(1.0, value) if abs(value) > 1 - 1e-12 else value
    if count < fewest:
        interval = Interval(missing_reason=f"an interval needs {fewest} items, there are {count}")
    elif abs(value) == 1:
        interval = Interval(missing_reason="the ranks agree or disagree completely")
    else:
        middle, margin = math.atanh(value), Z * math.sqrt(variance(value, count))
        interval = Interval(math.tanh(middle - margin), math.tanh(middle + margin), "fisher z")
    return Estimate(value, count, interval, missing)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ideas with different decisions.

    Attributes:
        preferred: the system's answer: one of the two ids, `TIE`, or None for no answer.
        kind: names the two decisions.
        cluster: shared by pairs that share ideas; None: an independent pair.
    """

    better: str
    worse: str
    preferred: str | None
    difficulty: str = ""
    kind: str = ""
    cluster: str | None = None


TIE = "tie"


@dataclass(frozen=True, slots=True)
class Group:
    """Ideas with gold grades and predicted scores, where higher is better.

    Attributes:
        predicted: None where the system gave no score.
        cluster: shared by groups that share ideas; None: an independent group.
    """

    name: str
    gold: Mapping[str, float]
    predicted: Mapping[str, float | None]
    cluster: str | None = None

    def ordered(self, scores: Sequence[float]) -> "Group":
        """Return the group with scores in order of the ideas' names."""
        return replace(self, predicted=dict(zip(sorted(self.gold), scores, strict=True)))


def pairwise_accuracy(pairs: Sequence[Pair], seed: int = 0) -> Estimate:
    """Estimate the share of pairs with the better idea preferred.

    It is from 0 to 1. A tie counts as wrong, because InnoEval requires a choice. Wilson interval,
    or the bootstrap over clusters.

    Bad input: pairs without an answer are unscored; without any answer the accuracy is undefined.

    Raises:
        ValueError: the answer names an idea that is not in its pair.
    """
    for pair in pairs:
        if pair.preferred not in (None, TIE, pair.better, pair.worse):
            raise ValueError(f"{pair.preferred} is neither {pair.better} nor {pair.worse}")
    if pairs and all(pair.preferred is None for pair in pairs):
        return undefined(f"none of the {len(pairs)} pairs was answered", unscored_count=len(pairs))
    return share_of(
        [None if pair.preferred is None else pair.preferred == pair.better for pair in pairs],
        seed,
        clusters_of(pairs),
    )


def area_under_curve(
    better: Sequence[float] | NDArray[np.float64],
    worse: Sequence[float] | NDArray[np.float64],
    seed: int = 0,
    ends: Sequence[tuple[Hashable, Hashable]] | None = None,
) -> Estimate:
    """Estimate the area under the receiver operating characteristic; 0.5 by chance.

    The probability that a score of `better` exceeds one of `worse`, with ties counted as half. The
    two sequences are matched by position and resampled together. Where items are pairs of things,
    `ends` lists the two of each item, first for `better` and then for `worse`; pairs that share one
    are not independent, so the things are resampled, and a pair's weight is the product of its two
    (Owen, The pigeonhole bootstrap, Annals of Applied Statistics 2007).

    Bad input: without items the area is undefined.
    """
    count = len(better)
    if not count:
        return undefined("there is no item")
    scores, place = np.unique(
        np.concatenate([np.asarray(better, float), np.asarray(worse, float)]), return_inverse=True
    )

    def area(weights: NDArray[np.float64]) -> float:
        ours = np.bincount(place[:count], weights[:count], len(scores))
        theirs = np.bincount(place[count:], weights[count:], len(scores))
        above = np.cumsum(theirs) - theirs / 2
        total = ours.sum() * theirs.sum()
        return float(ours @ above / total) if total else math.nan

    if ends is None:
        units, sides = count, np.tile(np.arange(count), 2)[:, None]
    else:
        number = {side: at for at, side in enumerate(dict.fromkeys(chain.from_iterable(ends)))}
        units, sides = len(number), np.array([[number[one], number[two]] for one, two in ends])

    def resampled_area(indices: Indices) -> float:
        return area(np.bincount(indices, minlength=units)[sides].prod(axis=1).astype(float))

    interval = bootstrap_interval(resampled_area, units, seed, resamples=_RESAMPLES)
    if ends is not None:
        interval = replace(interval, method=interval.method and "bootstrap over both sides")
    return Estimate(area(np.ones(2 * count)), 2 * count, interval)


def clusters_of(units: Sequence[Pair] | Sequence[Group]) -> list[str] | None:
    """Return the cluster of each unit; None if none has one."""
    clusters = [unit.cluster for unit in units]
    return [name or "" for name in clusters] if any(clusters) else None


def best_of_group(groups: Sequence[Group], seed: int = 0) -> Estimate:
    """Estimate the share of groups whose top prediction is best.

    From 0 to 1; Wilson interval, or the bootstrap over clusters.

    Bad input: a group is unscored if an idea has no predicted score (it may be the best) or if all
    grades are equal; it is wrong if ideas of different grades share the highest score.
    """
    return share_of([_best_hit(group) for group in groups], seed, clusters_of(groups))


def exact_ranking(groups: Sequence[Group], seed: int = 0) -> Estimate:
    """Estimate the share of groups that are ordered exactly.

    Ideas of different grades must be ordered strictly. From 0 to 1; Wilson interval, or the
    bootstrap over clusters. Ideas of equal grade may have any order. Bad input: as `best_of_group`.
    """
    return share_of([_order_hit(group) for group in groups], seed, clusters_of(groups))


def rank_correlation(groups: Sequence[Group], correlation: Correlation, seed: int = 0) -> Estimate:
    """Estimate the mean over groups of `spearman` or `kendall` within each group.

    BCa bootstrap over groups, or the bootstrap over clusters. Groups in which the correlation is
    undefined are unscored.
    """
    values = []
    for group in groups:
        names = sorted(group.gold)
        estimate = correlation(
            [group.gold[name] for name in names], [group.predicted.get(name) for name in names]
        )
        values.append(estimate.value if estimate.defined else None)
    return mean(values, seed, clusters_of(groups))


def _best_hit(group: Group) -> bool | None:
    scores = _scores(group)
    if scores is None or len(set(group.gold.values())) < 2:
        return None
    highest, best_grade = max(scores.values()), max(group.gold.values())
    return all(group.gold[name] == best_grade for name, score in scores.items() if score == highest)


def _order_hit(group: Group) -> bool | None:
    scores = _scores(group)
    if scores is None or len(set(group.gold.values())) < 2:
        return None
    return all(
        scores[one] > scores[other]
        for one in scores
        for other in scores
        if group.gold[one] > group.gold[other]
    )


def _scores(group: Group) -> dict[str, float] | None:
    """Return the scores of all graded ideas.

    The result is None when one is missing or the group is empty.
    """
    scores = {
        name: score
        for name in group.gold
        if (score := group.predicted.get(name)) is not None and score == score
    }
    return scores if scores and len(scores) == len(group.gold) else None
