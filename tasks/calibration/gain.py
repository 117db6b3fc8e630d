"""Held-out gain of calibration: error, log loss, macro F1, reliability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tasks.calibration.examples import LabelScale
from tasks.calibration.fitting import Prediction
from tasks.metrics.chance import CONSTANT, MAJORITY, STRATIFIED_RANDOM, stratified_random
from tasks.metrics.classification import (
    macro_f1,
    macro_f1_value,
    mean_absolute_error_value,
)
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.labels import pair_up
from tasks.metrics.means import calibration_error, mean, paired_difference, share

JUDGE, CALIBRATED = "judge", "calibrated"
LEAST_PROBABILITY = 1e-6
"""Lower bound of a label's probability, which keeps the log loss finite."""
BINS = 5


Figures = dict[tuple[str, str], Estimate]
"""Estimates by metric and system: the judge, the calibrated judge, or a baseline."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Bin of predicted probabilities from `lower` to `upper`.

    They are probabilities of "this label or a higher one".

    `expected` is the mean predicted probability, `observed` the share of items where it holds.
    """

    lower: float
    upper: float
    expected: float
    observed: Estimate


def gain(predictions: Sequence[Prediction], scale: LabelScale, seed: int = 0) -> Figures:
    """Return the metrics of judge, calibrator and baselines, and the calibrator's gains.

    `mean_absolute_error` in points of the scale, or `error_rate` for two labels; `macro_f1`;
    `log_loss` in nats. A positive `…_saved` means that calibration is better. Baselines: constant
    (median label of the training folds; for the log loss their label shares), majority and
    stratified random. Intervals: bootstrap over items.
    """
    places = {
        JUDGE: [one.raw for one in predictions],
        CALIBRATED: [one.for_error for one in predictions],
        MAJORITY: [one.majority for one in predictions],
        CONSTANT: [one.constant for one in predictions],
    }
    error_name, values = error_metric(scale)
    errors: dict[str, list[float | None]] = {
        name: [
            abs(values[place] - values[one.gold])
            for one, place in zip(predictions, system_places, strict=True)
        ]
        for name, system_places in places.items()
    }
    losses: dict[str, list[float | None]] = {
        CALIBRATED: [_loss(one.distribution, one.gold) for one in predictions],
        CONSTANT: [_loss(one.shares, one.gold) for one in predictions],
    }
    figures = {(error_name, name): mean(each, seed) for name, each in errors.items()}
    names = [one.item_sha256 for one in predictions]
    labels = {name: scale.labels[one.gold] for name, one in zip(names, predictions, strict=True)}
    for name, system_places in {**places, CALIBRATED: [one.for_f1 for one in predictions]}.items():
        predicted = {
            item: scale.labels[place] for item, place in zip(names, system_places, strict=True)
        }
        figures["macro_f1", name] = macro_f1(pair_up(labels, predicted), scale.labels, seed)
    gold: dict[str, float | None] = {one.item_sha256: values[one.gold] for one in predictions}
    for metric, statistic in (
        (error_name, mean_absolute_error_value),
        ("macro_f1", partial(macro_f1_value, classes=values)),
    ):
        figures[metric, STRATIFIED_RANDOM] = stratified_random(gold, statistic, seed)
    no_probabilities = undefined("a judge who names one label gives no probabilities")
    figures["log_loss", JUDGE] = no_probabilities
    figures |= {("log_loss", name): mean(each, seed) for name, each in losses.items()}
    error = expected_calibration_error(predictions, seed)
    figures["expected_calibration_error", CALIBRATED] = error
    for metric, by_system, name in (
        (error_name, errors, JUDGE),
        (error_name, errors, CONSTANT),
        ("log_loss", losses, CONSTANT),
    ):
        saved = paired_difference(by_system[name], by_system[CALIBRATED], seed)
        figures[f"{metric}_saved", name] = saved
    return figures


def error_metric(scale: LabelScale) -> tuple[str, tuple[float, ...]]:
    """Return name and label values of a scale's error metric."""
    if len(scale.labels) == 2:
        return "error_rate", (0.0, 1.0)
    return "mean_absolute_error", scale.values


def reliability(predictions: Sequence[Prediction]) -> tuple[ReliabilityBin, ...]:
    """Return the reliability curve over bins of equal width, without empty bins.

    Pools the predicted probabilities of all thresholds ("this label or a higher one"). An item
    counts once per threshold, so that the Wilson intervals are slightly narrow.

    Source: DeGroot & Fienberg, The Statistician 1983.
    """
    chances, outcomes = _statements(predictions)
    if not len(chances):
        return ()
    place = _bins(chances)
    return tuple(
        ReliabilityBin(
            lower=number / BINS,
            upper=(number + 1) / BINS,
            expected=float(chances[place == number].mean()),
            observed=share(int(outcomes[place == number].sum()), int((place == number).sum())),
        )
        for number in range(BINS)
        if (place == number).any()
    )


def expected_calibration_error(predictions: Sequence[Prediction], seed: int = 0) -> Estimate:
    """Estimate `calibration_error` over the statements of `reliability`.

    Bad input: undefined without predictions.
    """
    if not predictions:
        return undefined("there is no prediction")
    chances, outcomes = _statements(predictions)
    items = np.repeat(np.arange(len(predictions)), len(chances) // len(predictions))
    return calibration_error(chances, outcomes, _bins(chances), items.tolist(), seed)


def _bins(chances: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum((chances * BINS).astype(int), BINS - 1))


def _statements(predictions: Sequence[Prediction]) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and outcomes of "a higher label" by threshold.

    An outcome is 1.0 if the label is higher.
    """
    if not predictions:
        return np.zeros(0), np.zeros(0)
    distributions = np.array([one.distribution for one in predictions])
    above = np.clip(1.0 - np.cumsum(distributions, axis=1)[:, :-1], 0.0, 1.0)
    gold = np.array([one.gold for one in predictions])
    return above.ravel(), (gold[:, None] > np.arange(above.shape[1])[None, :]).astype(float).ravel()


def _loss(distribution: Sequence[float], gold: int) -> float:
    return -math.log(max(distribution[gold], LEAST_PROBABILITY))
