"""Accuracy, F1, absolute error and label collapse for two to five classes.

Label collapse: predictions concentrate on one or two labels for all items (InnoEval, "Main
Results").
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import NAN, Estimate, Interval, undefined
from tasks.metrics.labels import Label, LabelPairs, order
from tasks.metrics.means import RESAMPLES, mean, percentile_interval, share, share_of

Counts = NDArray[np.int64]


def accuracy(pairs: LabelPairs, seed: int = 0) -> Estimate:
    """Estimate the share of correctly predicted answered items, from 0 to 1.

    Wilson interval, or the bootstrap over clusters.

    Bad input: unanswered items are unscored and excluded; without an answer or a gold label,
    accuracy is undefined.
    """
    if not pairs.count:
        return undefined(pairs.empty_reason, unscored_count=pairs.unscored_count)
    hits = [one == other for one, other in zip(pairs.gold, pairs.predicted, strict=True)]
    estimate = share_of(hits, seed, pairs.clusters)
    return replace(estimate, unscored_count=pairs.unscored_count)


def accuracy_value(pairs: LabelPairs) -> float:
    """Return `accuracy` without its interval; NaN where it is undefined."""
    hits = [one == other for one, other in zip(pairs.gold, pairs.predicted, strict=True)]
    return float(np.mean(hits)) if hits else NAN


def f1_of_class(pairs: LabelPairs, label: Label, seed: int = 0) -> Estimate:
    """Estimate the F1 of one class, from 0 to 1.

    F1 is 2 TP / (2 TP + FP + FN). Percentile bootstrap over items. A gold class that is never
    predicted has F1 = 0; a class that is neither gold nor predicted has no F1. `count` is the
    number of answered items of all classes.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; RINoBench §4.2.1.
    """
    return _estimate(
        pairs,
        (label,),
        f"class {label} is neither in the gold labels nor among the predictions",
        seed,
    )


def macro_f1(pairs: LabelPairs, classes: Sequence[Label] | None = None, seed: int = 0) -> Estimate:
    """Estimate the unweighted mean F1 over classes; percentile bootstrap over items.

    Over `classes`, by default those among the gold labels or predictions. A class that occurs in
    neither is left out, as in scikit-learn's `f1_score(average="macro")`.

    Source: RINoBench §4.2.1 (five classes), InnoEval (2, 3 and 4).
    """
    return _estimate(
        pairs,
        tuple(classes) if classes is not None else classes_in(pairs),
        "none of the classes occurs",
        seed,
    )


def macro_f1_value(pairs: LabelPairs, classes: Sequence[Label] | None = None) -> float:
    """Return `macro_f1` without its interval; NaN where it is undefined."""
    return float(
        _mean_f1(_cells(pairs, tuple(classes) if classes is not None else classes_in(pairs)))
    )


def mean_absolute_error(pairs: LabelPairs, seed: int = 0) -> Estimate:
    """Estimate the mean of |predicted - gold| in points of the scale.

    The interval is a BCa bootstrap over items.

    Source: RINoBench §4.2.1.

    Raises:
        ValueError: a label is text.
    """
    if any(isinstance(label, str) for label in (*pairs.gold, *pairs.predicted)):
        raise ValueError("a mean absolute error needs numbers as labels")
    if not pairs.count:
        return undefined(pairs.empty_reason, unscored_count=pairs.unscored_count)
    errors: list[float | None] = [
        abs(float(one) - float(other))
        for one, other in zip(pairs.gold, pairs.predicted, strict=True)
    ]
    estimate = mean(errors, seed, pairs.clusters)
    return Estimate(estimate.value, estimate.count, estimate.interval, pairs.unscored_count)


def mean_absolute_error_value(pairs: LabelPairs) -> float:
    """Return `mean_absolute_error` without its interval; NaN where it is undefined."""
    errors = np.subtract(np.array(pairs.gold, float), np.array(pairs.predicted, float))
    return float(np.abs(errors).mean()) if pairs.count else NAN


def classes_in(pairs: LabelPairs) -> tuple[Label, ...]:
    """Return classes of gold labels and predictions, numbers before texts.

    Numbers are ordered by size.
    """
    return tuple(sorted({*pairs.gold, *pairs.predicted}, key=order))


def _estimate(
    pairs: LabelPairs, classes: tuple[Label, ...], absent_reason: str, seed: int
) -> Estimate:
    if not pairs.count:
        return undefined(pairs.empty_reason, unscored_count=pairs.unscored_count)
    cells = _cells(pairs, classes)
    value = float(_mean_f1(cells))
    if np.isnan(value):
        return undefined(absent_reason, pairs.count, pairs.unscored_count)
    interval = _interval(cells, _cells_by_cluster(pairs, classes), seed)
    return Estimate(value, pairs.count, interval, pairs.unscored_count)


def _interval(cells: Counts, by_cluster: Counts | None, seed: int) -> Interval:
    """Return the percentile bootstrap interval over items or clusters.

    F1 depends on items through the cell counts only, so that drawing cells from a multinomial
    is equivalent to resampling items.
    """
    count = int(cells.sum()) if by_cluster is None else len(by_cluster)
    if count < 2:
        unit_noun = "items" if by_cluster is None else "clusters"
        return Interval(missing_reason=f"resampling needs two {unit_noun}, there is one")
    generator = np.random.default_rng(seed)
    if by_cluster is None:
        drawn_counts = generator.multinomial(count, cells.ravel() / count, RESAMPLES)
    else:
        drawn_counts = (
            generator.multinomial(count, np.full(count, 1 / count), RESAMPLES) @ by_cluster
        )
    scores = _mean_f1(drawn_counts.reshape(RESAMPLES, *cells.shape))
    if len(np.unique(scores[np.isfinite(scores)])) == 1:
        return Interval(missing_reason="it is the same in every resample")
    return percentile_interval(scores, "bootstrap" if by_cluster is None else "clustered bootstrap")


def _cells_by_cluster(pairs: LabelPairs, classes: tuple[Label, ...]) -> Counts | None:
    """Return cell counts by cluster, shape (clusters, cells); None without clusters."""
    if pairs.clusters is None:
        return None
    place = {cluster: number for number, cluster in enumerate(dict.fromkeys(pairs.clusters))}
    side = len(classes) + 1
    table = np.zeros((len(place), side, side), dtype=np.int64)
    cluster_indices = np.array([place[cluster] for cluster in pairs.clusters])
    gold, predicted_places = _positions(pairs.gold, classes), _positions(pairs.predicted, classes)
    np.add.at(table, (cluster_indices, gold, predicted_places), 1)
    return table.reshape(len(place), side * side)


def _mean_f1(cells: Counts) -> NDArray[np.float64]:
    """Return the mean F1 over the classes that occur.

    The result is NaN if none occurs.

    `cells`: shape (…, classes + 1, classes + 1), the last class being all other labels.
    """
    occurrences = (cells.sum(axis=-1) + cells.sum(axis=-2))[..., :-1]
    hits = np.diagonal(cells, axis1=-2, axis2=-1)[..., :-1]
    scores = np.divide(2.0 * hits, occurrences, out=np.zeros(hits.shape), where=occurrences > 0)
    class_counts = (occurrences > 0).sum(axis=-1)
    return np.asarray(
        np.where(class_counts > 0, scores.sum(axis=-1) / np.maximum(class_counts, 1), NAN)
    )


def _cells(pairs: LabelPairs, classes: tuple[Label, ...]) -> Counts:
    """Count items by gold and predicted class.

    The last row and column are all other labels.
    """
    table = np.zeros((len(classes) + 1, len(classes) + 1), dtype=np.int64)
    np.add.at(table, (_positions(pairs.gold, classes), _positions(pairs.predicted, classes)), 1)
    return table


def _positions(labels: Sequence[Label], classes: tuple[Label, ...]) -> Counts:
    position = {label: number for number, label in enumerate(classes)}
    return np.array([position.get(label, -1) for label in labels], dtype=np.int64)


def label_collapse(pairs: LabelPairs, classes: Sequence[Label]) -> dict[str, Estimate]:
    """Compare the distribution of predictions with that of the gold labels.

    `top_label_share`: share of the most predicted label. `predicted_entropy_bits` and
    `gold_entropy_bits`: 0 when there is one label only. `labels_in_use_ratio`: 2^entropy of the
    predictions over that of the gold labels, where 2^entropy is the effective number of labels; 1
    when predictions are as diverse. `total_variation`: half the sum of |predicted - gold share|,
    the share of predictions that would have to change. Only answered items count. A model can be
    accurate and still collapse: always predicting the most common label has a good accuracy and a
    poor macro F1.

    Bad input: without an answer every figure is undefined.
    """
    if not pairs.count:
        nothing = undefined(pairs.empty_reason, unscored_count=pairs.unscored_count)
        return dict.fromkeys(COLLAPSE_METRICS, nothing)
    gold, predicted = (label_shares(labels, classes) for labels in (pairs.gold, pairs.predicted))
    bits, gold_bits = _entropy(predicted), _entropy(gold)
    top_count = max(Counter(pairs.predicted)[label] for label in classes)
    values = (
        bits,
        gold_bits,
        float(2 ** (bits - gold_bits)),
        0.5 * sum(abs(one - other) for one, other in zip(gold, predicted, strict=True)),
    )
    unscored_count = pairs.unscored_count
    estimates = [share(top_count, pairs.count, unscored_count)]
    estimates += [Estimate(value, pairs.count, unscored_count=unscored_count) for value in values]
    return dict(zip(COLLAPSE_METRICS, estimates, strict=True))


COLLAPSE_METRICS = (
    "top_label_share",
    "predicted_entropy_bits",
    "gold_entropy_bits",
    "labels_in_use_ratio",
    "total_variation",
)


def label_shares(labels: Sequence[Label], classes: Sequence[Label]) -> tuple[float, ...]:
    """Return the share of each class among the labels; there must be one."""
    counts = Counter(labels)
    return tuple(counts[label] / len(labels) for label in classes)


def _entropy(shares: tuple[float, ...]) -> float:
    return -sum(one * math.log2(one) for one in shares if one > 0) + 0.0
