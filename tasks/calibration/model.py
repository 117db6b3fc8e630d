"""Model of a calibrator: proportional-odds regression and decision rules."""

import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.judgement.calibration import CalibratorFeature, DecisionRule
from tasks.calibration.examples import Example, LabelScale, matrix
from tasks.metrics.classification import macro_f1_value
from tasks.metrics.labels import pair_up

Matrix = NDArray[np.float64]
_TINY = 1e-12


def fit_proportional_odds(
    features: Matrix, labels: NDArray[np.intp], label_count: int, ridge: float
) -> tuple[Matrix, Matrix]:
    """Return the coefficients and thresholds that maximize the penalized log likelihood.

    Maximizes log likelihood - ridge / 2 × Σ coefficient², with P(label ≤ k) = expit(threshold_k -
    features · coefficients). Without the penalty (as in `statsmodels`' OrderedModel), the fit
    diverges where a feature separates the labels, which is common for tens of ideas.

    Source: McCullagh, JRSS B 1980.

    Args:
        features: shape (items, features), standardized.
        labels: 0 to `label_count` - 1, each of which must occur.
    """
    from scipy.optimize import minimize  # slow import

    count = features.shape[1]
    shares = np.cumsum(np.bincount(labels, minlength=label_count)[:-1]) / len(labels)
    thresholds = np.log(shares / (1 - shares))
    start = np.concatenate(
        [np.zeros(count), thresholds[:1], np.log(np.maximum(np.diff(thresholds), 1e-3))]
    )

    def cost(parameters: Matrix) -> float:
        chances = probabilities(features, parameters[:count], _thresholds(parameters[count:]))
        likelihood = np.log(np.maximum(chances[np.arange(len(labels)), labels], _TINY)).sum()
        return float(0.5 * ridge * (parameters[:count] ** 2).sum() - likelihood)

    solution = minimize(cost, start, method="L-BFGS-B", options={"maxiter": 500})
    return solution.x[:count], _thresholds(solution.x[count:])


def _thresholds(parameters: Matrix) -> Matrix:
    """Return ascending thresholds: the first parameter, then exponentials as differences."""
    return np.cumsum(np.concatenate([parameters[:1], np.exp(np.clip(parameters[1:], -20, 20))]))


def probabilities(features: Matrix, coefficients: Matrix, thresholds: Matrix) -> Matrix:
    """Return label probabilities, shape (items, labels); rows sum to 1."""
    from scipy.special import expit  # slow import, and the step registry imports this module

    cumulative = expit(thresholds[None, :] - (features @ coefficients)[:, None])
    edges = np.hstack([np.zeros((len(features), 1)), cumulative, np.ones((len(features), 1))])
    return np.asarray(np.diff(edges, axis=1))


def quantile_place(distribution: Sequence[float], share: float) -> int:
    """Return the first label at which the cumulative probability reaches `share`."""
    place = int(np.searchsorted(np.cumsum(distribution), share - _TINY))
    return min(place, len(distribution) - 1)


def expected_value(distribution: Sequence[float], values: Sequence[float]) -> float:
    """Return the mean of the labels' values under a distribution."""
    return float(np.dot(distribution, values))


@dataclass(frozen=True, slots=True)
class Model:
    """Fitted model.

    `places` are the ascending positions of its training labels on the scale.
    """

    features: tuple[CalibratorFeature, ...]
    thresholds: tuple[float, ...]
    places: tuple[int, ...]

    def distributions(
        self, examples: Sequence[Example | Mapping[str, float | None]], label_count: int
    ) -> NDArray[np.float64]:
        """Return label distributions, shape (examples, label_count); 0 for unseen labels."""
        latent = self.latent(examples)[:, None]
        chances = np.zeros((len(latent), label_count))
        chances[:, list(self.places)] = probabilities(latent, np.ones(1), np.array(self.thresholds))
        return chances

    def latent(self, examples: Sequence[Example | Mapping[str, float | None]]) -> Matrix:
        """Return each example's log odds of higher labels, up to a constant."""
        wrapped_examples = [
            one if isinstance(one, Example) else Example("", None, None, one) for one in examples
        ]
        values = matrix(wrapped_examples, [feature.name for feature in self.features])
        means = np.array([feature.mean for feature in self.features])
        scales = np.array([feature.scale for feature in self.features])
        standard = np.where(np.isnan(values), 0.0, (values - means) / scales)
        coefficients = np.array([feature.coefficient for feature in self.features])
        return np.asarray(standard @ coefficients)


def fit_model(examples: Sequence[Example], scale: LabelScale, ridge: float) -> Model:
    """Fit on labeled examples, without constant features.

    Raises:
        ConfigurationError: no feature varies.
    """
    names = list(dict.fromkeys(name for one in examples for name in one.features))
    values = matrix(examples, names)
    with warnings.catch_warnings():
        # A feature that is missing everywhere is all NaN, and left out below.
        warnings.simplefilter("ignore", RuntimeWarning)
        means, scales = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    varying = [
        place for place in range(len(names)) if np.isfinite(scales[place]) and scales[place] > 1e-9
    ]
    if not varying:
        raise ConfigurationError(
            "nothing to calibrate by: every judgement and its evidence are the same for all items"
        )
    standard = np.nan_to_num((values[:, varying] - means[varying]) / scales[varying], nan=0.0)
    label_places = [scale.place(str(one.label)) for one in examples]
    places = tuple(sorted(set(label_places)))
    if len(places) < 2:
        raise ConfigurationError(
            f"all training ideas have the label {scale.labels[places[0]]}: label more ideas, or"
            " use more groups"
        )
    labels = np.array([places.index(place) for place in label_places], dtype=np.intp)
    coefficients, thresholds = fit_proportional_odds(standard, labels, len(places), ridge)
    features = tuple(
        CalibratorFeature(
            name=names[place],
            mean=float(means[place]),
            scale=float(scales[place]),
            coefficient=float(coefficient),
        )
        for place, coefficient in zip(varying, coefficients, strict=True)
    )
    return Model(features, tuple(float(one) for one in thresholds), places)


MACRO_F1, MEAN_ABSOLUTE_ERROR = "macro_f1", "mean_absolute_error"
Distribution = Sequence[float]


@dataclass(frozen=True, slots=True)
class Decider:
    """Decision rules by metric.

    Attributes:
        values: of the labels, ascending.
        cut_points: of the quantile-matched rule: expected values at which the next label begins.
    """

    values: tuple[float, ...]
    rules: Mapping[str, DecisionRule]
    cut_points: tuple[float, ...]

    def place(self, distribution: Distribution, metric: str) -> int:
        """Return the position of the label by the rule for `metric`."""
        return place_of(self.rules[metric], distribution, self.values, self.cut_points)


def place_of(
    rule: DecisionRule,
    distribution: Distribution,
    values: Sequence[float],
    cut_points: Sequence[float],
) -> int:
    """Return the position of the label by `rule`."""
    if rule is DecisionRule.ARGMAX:
        return int(np.argmax(distribution))
    expectation = expected_value(distribution, values)
    if rule is DecisionRule.QUANTILE_MATCHED:
        return bisect_right(cut_points, expectation)
    return min(range(len(values)), key=lambda place: abs(values[place] - expectation))


def fit_decider(
    distributions: Sequence[Distribution], gold: Sequence[int], values: Sequence[float]
) -> Decider:
    """Choose the best rules for macro F1 and error on held-out items.

    Ties go to the first of `DecisionRule`. The quantile-matched rule predicts each label as often
    as it occurs among these items.
    """
    expectations = [expected_value(one, values) for one in distributions]
    shares = np.cumsum(np.bincount(gold, minlength=len(values))[:-1]) / len(gold)
    cut_points = tuple(float(one) for one in np.quantile(expectations, shares))
    places_by_rule = {
        rule: [place_of(rule, one, values, cut_points) for one in distributions]
        for rule in DecisionRule
    }
    f1 = {rule: _macro_f1(gold, places) for rule, places in places_by_rule.items()}
    error = {
        rule: float(np.mean([abs(values[one] - values[other]) for one, other in pairs]))
        for rule, pairs in (
            (rule, list(zip(gold, places_by_rule[rule], strict=True))) for rule in places_by_rule
        )
    }
    rules = {
        MACRO_F1: max(DecisionRule, key=lambda rule: f1[rule]),
        MEAN_ABSOLUTE_ERROR: min(DecisionRule, key=lambda rule: error[rule]),
    }
    return Decider(tuple(values), rules, cut_points)


def _macro_f1(gold: Sequence[int], predictions: Sequence[int]) -> float:
    return macro_f1_value(
        pair_up(
            {f"{place}": label for place, label in enumerate(gold)},
            {f"{place}": label for place, label in enumerate(predictions)},
        )
    )
