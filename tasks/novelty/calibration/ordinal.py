"""Proportional-odds regression with a ridge penalty, and what follows from its distributions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Matrix = NDArray[np.float64]
_TINY = 1e-12


def fit_proportional_odds(
    features: Matrix, labels: NDArray[np.intp], label_count: int, ridge: float
) -> tuple[Matrix, Matrix]:
    """(coefficients, thresholds) that maximise log likelihood - ridge / 2 × Σ coefficient².

    P(label ≤ k) = expit(threshold_k - features · coefficients). `features`: (items, features),
    standardised; `labels`: 0 to `label_count` - 1, every one of which must occur. Source:
    McCullagh, JRSS B 1980. `statsmodels`' OrderedModel is the same without the penalty, and
    diverges where few items are separated by a feature, as tens of labelled ideas are.
    """
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

    found = minimize(cost, start, method="L-BFGS-B", options={"maxiter": 500})
    return found.x[:count], _thresholds(found.x[count:])


def _thresholds(parameters: Matrix) -> Matrix:
    """The first one, then each the exponential of a parameter above the one before: ascending
    whatever the parameters.
    """
    return np.cumsum(np.concatenate([parameters[:1], np.exp(np.clip(parameters[1:], -20, 20))]))


def probabilities(features: Matrix, coefficients: Matrix, thresholds: Matrix) -> Matrix:
    """Shape (items, labels); rows sum to 1."""
    below = expit(thresholds[None, :] - (features @ coefficients)[:, None])
    edges = np.hstack([np.zeros((len(features), 1)), below, np.ones((len(features), 1))])
    return np.asarray(np.diff(edges, axis=1))


def quantile_place(distribution: Sequence[float], share: float) -> int:
    """The first label at which at least `share` of the probability is reached."""
    reached = int(np.searchsorted(np.cumsum(distribution), share - _TINY))
    return min(reached, len(distribution) - 1)


def expected_value(distribution: Sequence[float], values: Sequence[float]) -> float:
    """Mean of the labels' values."""
    return float(np.dot(distribution, values))
