"""Bradley–Terry strengths with a prior: P(i beats j) = 1 / (1 + exp(s_j - s_i)).

A tie is half a win for each. The prior (normal, mean 0, `PRIOR_DEVIATION`) keeps the strength of an
idea that never lost finite and makes the strengths of a group add up to 0. Source: Bradley & Terry,
Rank analysis of incomplete block designs, Biometrika 1952; posterior mode by Newton's method on a
strictly concave objective, so there is exactly one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg

from tasks.ranking.tally import Tally, threads_for

PRIOR_DEVIATION = 2.0
"""In log-odds: before any match, two in three pairs are thought to stand within odds of 17 : 1."""
CONVERGED_AT = 1e-10
MAXIMUM_STEPS = 100
DENSE_UP_TO = 600
"""Ideas up to which Newton's equations are solved by factorising, beyond by conjugate gradients."""

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths of a group.

    Attributes:
        strengths: log-strength per idea of the tally, mean 0; 0 where an idea has no scored match.
        weights: curvature p (1 - p) times matches, per pair of the tally.
    """

    strengths: Vector
    weights: Vector


def fit(tally: Tally, start: Vector | None = None) -> Fit:
    """The posterior mode; `start` (an earlier fit of the same ideas) only saves steps."""
    with threads_for(len(tally.idea_ids)):
        return _mode(tally, np.zeros(len(tally.idea_ids)) if start is None else start.copy())


def _mode(tally: Tally, strengths: Vector) -> Fit:
    value, weights = _objective(tally, strengths), _weights(tally, strengths)
    for _ in range(MAXIMUM_STEPS):
        gradient = _gradient(tally, strengths)
        if float(np.abs(gradient).max(initial=0.0)) < CONVERGED_AT:
            break
        direction = _newton_direction(tally, weights, gradient)
        length, slope = 1.0, float(gradient @ direction)
        noise = 1e-12 * (1.0 + abs(value))
        while (
            better := _objective(tally, strengths + length * direction)
        ) < value + 1e-4 * length * slope - noise and length > 1e-6:
            length /= 2
        strengths, value = strengths + length * direction, better
        weights = _weights(tally, strengths)
    return Fit(strengths, weights)


def covariance(tally: Tally, fitted: Fit) -> NDArray[np.float64]:
    """Of the centred strengths: the inverse of the negative Hessian at the mode (Laplace's
    approximation); shape (ideas, ideas).

    Takes 8 bytes per pair of ideas (200 MB for a group of 5,000).
    """
    size = len(tally.idea_ids)
    hessian = _dense_hessian(tally, fitted.weights)
    factor, _ = dpotrf(hessian.T, lower=1, overwrite_a=1, clean=1)
    half, _ = dpotri(factor, lower=1, overwrite_c=1)
    inverse: NDArray[np.float64] = half + np.tril(half, -1).T
    inverse -= PRIOR_DEVIATION**2 / size  # the part that shifts all strengths alike
    return inverse


def _differences(tally: Tally, strengths: Vector) -> Vector:
    difference: Vector = strengths[tally.left] - strengths[tally.right]
    return difference


def _objective(tally: Tally, strengths: Vector) -> float:
    """Log-posterior without its constant."""
    difference = _differences(tally, strengths)
    likelihood = -(
        tally.left_wins * np.logaddexp(0.0, -difference)
        + tally.right_wins * np.logaddexp(0.0, difference)
    ).sum()
    return float(likelihood - (strengths @ strengths) / (2 * PRIOR_DEVIATION**2))


def _expected(tally: Tally, strengths: Vector) -> Vector:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * _differences(tally, strengths))))


def _gradient(tally: Tally, strengths: Vector) -> Vector:
    surplus = tally.left_wins - tally.played * _expected(tally, strengths)
    size = len(tally.idea_ids)
    pull = np.bincount(tally.left, surplus, size) - np.bincount(tally.right, surplus, size)
    return np.asarray(pull - strengths / PRIOR_DEVIATION**2)


def _weights(tally: Tally, strengths: Vector) -> Vector:
    expected = _expected(tally, strengths)
    return np.asarray(tally.played * expected * (1.0 - expected))


def _diagonal(tally: Tally, weights: Vector) -> Vector:
    size = len(tally.idea_ids)
    return np.asarray(
        np.bincount(tally.left, weights, size)
        + np.bincount(tally.right, weights, size)
        + 1.0 / PRIOR_DEVIATION**2
    )


def _dense_hessian(tally: Tally, weights: Vector) -> NDArray[np.float64]:
    size = len(tally.idea_ids)
    hessian = np.zeros((size, size))
    hessian[tally.left, tally.right] = -weights
    hessian[tally.right, tally.left] = -weights
    hessian[np.arange(size), np.arange(size)] = _diagonal(tally, weights)
    return hessian


def _newton_direction(tally: Tally, weights: Vector, gradient: Vector) -> Vector:
    if len(tally.idea_ids) <= DENSE_UP_TO:
        return np.asarray(cho_solve(cho_factor(_dense_hessian(tally, weights)), gradient))
    hessian = _sparse_hessian(tally, weights)
    direction, _ = cg(hessian, gradient, rtol=1e-8, M=diags_array(1.0 / hessian.diagonal()))
    return np.asarray(direction)


def _sparse_hessian(tally: Tally, weights: Vector) -> csr_array:
    size = len(tally.idea_ids)
    ends = (np.concatenate([tally.left, tally.right]), np.concatenate([tally.right, tally.left]))
    off_diagonal = coo_array((-np.concatenate([weights, weights]), ends), shape=(size, size))
    return (off_diagonal + diags_array(_diagonal(tally, weights))).tocsr()


def drawn_strengths(tally: Tally, fitted: Fit, count: int, seed: int) -> NDArray[np.float64]:
    """`count` draws from the posterior (Laplace's approximation), shape (count, ideas).

    Each solves Newton's equations for noise of the covariance that their matrix has (Papandreou &
    Yuille, Gaussian sampling by local perturbations, 2010), so no covariance is ever written out.
    """
    generator = np.random.default_rng([seed, count, len(tally.idea_ids)])
    size = len(tally.idea_ids)
    of_pairs = generator.standard_normal((len(tally.left), count)) * np.sqrt(
        fitted.weights[:, None]
    )
    noise = generator.standard_normal((size, count)) / PRIOR_DEVIATION
    np.add.at(noise, tally.left, of_pairs)
    np.subtract.at(noise, tally.right, of_pairs)
    with threads_for(size):
        if size <= DENSE_UP_TO:
            moved = cho_solve(cho_factor(_dense_hessian(tally, fitted.weights)), noise)
        else:
            hessian = _sparse_hessian(tally, fitted.weights)
            preconditioner = diags_array(1.0 / hessian.diagonal())
            moved = np.column_stack(
                [cg(hessian, column, rtol=1e-6, M=preconditioner)[0] for column in noise.T]
            )
    return np.asarray(fitted.strengths + moved.T)
