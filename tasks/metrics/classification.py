"""Accuracy, F1 per class and macro, mean absolute error and the confusion matrix, for two to five classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import NAN, Estimate, undefined
from tasks.metrics.labelled import Labelled
from tasks.metrics.means import mean, share
from tasks.metrics.ratings import Label, order
from tasks.metrics.resampling import Indices, bootstrap_interval

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Confusion:
    """`rows[i][j]`: items of gold class `classes[i]` that were predicted as `classes[j]`."""

    classes: tuple[Label, ...]
    rows: tuple[tuple[int, ...], ...]


def accuracy(labelled: Labelled) -> Estimate:
    """Share of answered items predicted as their gold class, from 0 to 1; Wilson interval.

    Bad input: unanswered items are unscored and no part of the share; nothing answered, or no gold label, is undefined.
    """
    if not labelled.count:
        return undefined(labelled.empty_reason, unscored_count=labelled.unscored_count)
    hits = sum(one == other for one, other in zip(labelled.gold, labelled.predicted, strict=True))
    return share(hits, labelled.count, labelled.unscored_count)


def f1_of_class(labelled: Labelled, label: Label, seed: int = 0) -> Estimate:
    """2 TP / (2 TP + FP + FN) of one class, from 0 to 1; percentile bootstrap over items.

    A class that is in the gold labels and was never predicted has F1 = 0: that is measured. One that is neither in the
    gold labels nor predicted has none. `count` is the number of answered items, of all classes.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; RINoBench §4.2.1.
    """
    return _estimate(labelled, (label,), f"class {label} is neither in the gold labels nor among the predictions", seed)


def macro_f1(labelled: Labelled, classes: Sequence[Label] | None = None, seed: int = 0) -> Estimate:
    """Mean F1 over classes, each weighted alike; percentile bootstrap over items.

    Over `classes`, or over those in the gold labels or predictions; a named class that is in neither is left out, as in
    scikit-learn's `f1_score(average="macro")`. Source: RINoBench §4.2.1 (five classes), InnoEval (2, 3 and 4).
    """
    return _estimate(labelled, tuple(classes) if classes is not None else seen(labelled), "none of the classes occurs", seed)


def mean_absolute_error(labelled: Labelled, seed: int = 0) -> Estimate:
    """Mean of |predicted - gold| in points of the scale; BCa bootstrap over items. Source: RINoBench §4.2.1.

    Raises:
        ValueError: labels that are words have no distance.
    """
    if any(isinstance(label, str) for label in (*labelled.gold, *labelled.predicted)):
        raise ValueError("a mean absolute error needs numbers as labels")
    if not labelled.count:
        return undefined(labelled.empty_reason, unscored_count=labelled.unscored_count)
    errors: list[float | None] = [abs(float(one) - float(other)) for one, other in zip(labelled.gold, labelled.predicted, strict=True)]
    found = mean(errors, seed)
    return Estimate(found.value, found.count, found.interval, labelled.unscored_count)


def confusion(labelled: Labelled, classes: Sequence[Label] | None = None) -> Confusion:
    """Counts of gold class by predicted class; unanswered items are in no cell.

    Raises:
        ValueError: a label that is not among the `classes` named.
    """
    listed = tuple(classes) if classes is not None else seen(labelled)
    gold, predicted = _positions(labelled.gold, listed), _positions(labelled.predicted, listed)
    if min((*gold, *predicted), default=0) < 0:
        raise ValueError("a label is not among the classes; name every possible one")
    table = np.zeros((len(listed), len(listed)), dtype=np.int64)
    np.add.at(table, (gold, predicted), 1)
    return Confusion(listed, tuple(tuple(int(cell) for cell in row) for row in table))


def seen(labelled: Labelled) -> tuple[Label, ...]:
    """Classes in the gold labels or the predictions: numbers by size, then words by alphabet."""
    return tuple(sorted({*labelled.gold, *labelled.predicted}, key=order))


def _estimate(labelled: Labelled, classes: tuple[Label, ...], absent_reason: str, seed: int) -> Estimate:
    if not labelled.count:
        return undefined(labelled.empty_reason, unscored_count=labelled.unscored_count)
    gold, predicted = _positions(labelled.gold, classes), _positions(labelled.predicted, classes)
    value = _mean_f1(gold, predicted, len(classes))
    if np.isnan(value):
        return undefined(absent_reason, labelled.count, labelled.unscored_count)

    def again(chosen: Indices) -> float:
        return _mean_f1(gold[chosen], predicted[chosen], len(classes))

    interval = bootstrap_interval(again, labelled.count, seed)
    return Estimate(value, labelled.count, interval, labelled.unscored_count)


def _mean_f1(gold: Counts, predicted: Counts, size: int) -> float:
    """Mean over the classes that occur; NaN when none does. Positions of -1 are other classes."""
    true, given = np.bincount(gold + 1, minlength=size + 1)[1:], np.bincount(predicted + 1, minlength=size + 1)[1:]
    hits = np.bincount(gold[gold == predicted] + 1, minlength=size + 1)[1:]
    there = (true + given) > 0
    return float((2 * hits[there] / (true + given)[there]).mean()) if there.any() else NAN


def _positions(labels: Sequence[Label], classes: tuple[Label, ...]) -> Counts:
    position = {label: number for number, label in enumerate(classes)}
    return np.array([position.get(label, -1) for label in labels], dtype=np.int64)
