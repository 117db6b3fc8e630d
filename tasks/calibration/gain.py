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


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of the judge, the calibrated judge, or a baseline."""

    metric: str
    system: str
    estimate: Estimate


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


def gain(predictions: Sequence[Prediction], scale: LabelScale, seed: int = 0) -> tuple[Figure, ...]:
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
    losses = {CALIBRATED: [_loss(one.distribution, one.gold) for one in predictions]}
    losses[CONSTANT] = [_loss(one.shares, one.gold) for one in predictions]
    places_by_system = {**places, CALIBRATED: [one.for_f1 for one in predictions]}
    figures = [
        Figure(error_name, name, mean(system_values, seed))
        for name, system_values in errors.items()
    ]
    figures += [
        Figure("macro_f1", name, _macro_f1(predictions, system_values, scale, seed))
        for name, system_values in places_by_system.items()
    ]
    gold: dict[str, float | None] = {one.item_sha256: values[one.gold] for one in predictions}
    for metric, statistic in (
        (error_name, mean_absolute_error_value),
        ("macro_f1", partial(macro_f1_value, classes=values)),
    ):
        estimate = stratified_random(gold, statistic, seed)
        figures.append(Figure(metric, STRATIFIED_RANDOM, estimate))
    figures.append(
        Figure("log_loss", JUDGE, undefined("a judge who names one label gives no probabilities"))
    )
    figures += [
        Figure("log_loss", name, mean(system_values, seed))
        for name, system_values in losses.items()
    ]
    figures.append(
        Figure(
            "expected_calibration_error", CALIBRATED, expected_calibration_error(predictions, seed)
        )
    )
    figures += [
        Figure(
            f"{error_name}_saved",
            name,
            paired_difference(errors[name], errors[CALIBRATED], seed),
        )
        for name in (JUDGE, CONSTANT)
    ]
    figures.append(
        Figure(
            "log_loss_saved",
            CONSTANT,
            paired_difference(losses[CONSTANT], losses[CALIBRATED], seed),
        )
    )
    return tuple(figures)


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


def _loss(distribution: Sequence[float], gold: int) -> float | None:
    return -math.log(max(distribution[gold], LEAST_PROBABILITY))


def _macro_f1(
    predictions: Sequence[Prediction], places: Sequence[int], scale: LabelScale, seed: int
) -> Estimate:
    names = [one.item_sha256 for one in predictions]
    gold = {name: scale.labels[one.gold] for name, one in zip(names, predictions, strict=True)}
    predicted_labels = {
        name: scale.labels[place] for name, place in zip(names, places, strict=True)
    }
    return macro_f1(pair_up(gold, predicted_labels), scale.labels, seed)
