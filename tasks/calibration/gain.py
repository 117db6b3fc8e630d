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
from tasks.metrics.estimate import LEVEL, Estimate, Interval, undefined
from tasks.metrics.labels import pair_up
from tasks.metrics.means import RESAMPLES, mean, paired_difference, share

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


def reliability(predictions: Sequence[Prediction], bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Return the reliability curve over bins of equal width, without empty bins.

    Pools the predicted probabilities of all thresholds ("this label or a higher one"). An item
    counts once per threshold, so that the Wilson intervals are slightly narrow.

    Source: DeGroot & Fienberg, The Statistician 1983.
    """
    chances, outcomes = _statements(predictions)
    if not len(chances):
        return ()
    place = np.minimum((chances * bins).astype(int), bins - 1)
    return tuple(
        ReliabilityBin(
            lower=number / bins,
            upper=(number + 1) / bins,
            expected=float(chances[place == number].mean()),
            observed=share(int(outcomes[place == number].sum()), int((place == number).sum())),
        )
        for number in range(bins)
        if (place == number).any()
    )


def expected_calibration_error(
    predictions: Sequence[Prediction], seed: int = 0, bins: int = BINS
) -> Estimate:
    """Estimate the weighted mean |observed - expected| over the bins, 0 to 1.

    Sampling noise gives even a calibrated judge an error above 0. The value is therefore corrected
    by the bias that resampling shows, and is at least 0 (Kumar, Liang & Ma, NeurIPS 2019). The
    lower end is 0 unless the measured error exceeds the 97.5 % quantile of pure noise; the upper
    end is that of the basic bootstrap (Davison & Hinkley 1997, §5.2).

    Source: Naeini, Cooper & Hauskrecht, AAAI 2015. Bad input: undefined without predictions.
    """
    if not predictions:
        return undefined("there is no prediction")
    chances, outcomes = _statements(predictions)
    count, places = len(predictions), np.minimum((chances * bins).astype(int), bins - 1)
    items = np.repeat(np.arange(count), len(chances) // count)
    gaps = np.zeros((count, bins))
    np.add.at(gaps, (items, places), (outcomes - chances) / len(chances))
    measured_error = float(np.abs(gaps.sum(axis=0)).sum())
    if count < 2:
        return Estimate(measured_error, count, Interval(missing_reason="one item"))
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    resampled_errors = np.abs(draws @ gaps).sum(axis=1)
    by_chance = np.abs((draws - 1) @ gaps).sum(axis=1)
    tail = (1 - LEVEL) / 2
    value = max(2 * measured_error - float(resampled_errors.mean()), 0.0)
    lower = max(measured_error - float(np.quantile(by_chance, 1 - tail)), 0.0)
    upper = max(2 * measured_error - float(np.quantile(resampled_errors, tail)), value)
    return Estimate(value, count, Interval(min(lower, value), upper, "basic bootstrap"))


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
