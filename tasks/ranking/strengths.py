"""Strengths of ideas from matches: Bradley–Terry with a prior, and ScienceArena's Elo."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg

from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.ranking import Match
from tasks.ranking.tally import PRIOR_DEVIATION, Tally, events, threads_for

CONVERGED_AT = 1e-10
MAXIMUM_STEPS = 100
DENSE_UP_TO = 600
"""Size up to which Newton's equations are solved by factorization, else by conjugate gradients."""

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths of a group.

    Attributes:
        strengths: log-strength per idea of the tally, mean 0; the prior's where an idea has no
            scored match.
        weights: curvature p (1 - p) times matches, per pair of the tally.
    """

    strengths: Vector
    weights: Vector


def fit(tally: Tally) -> Fit:
    """Return the posterior mode."""
    with threads_for(len(tally.idea_ids)):
        return _mode(tally)


def _mode(tally: Tally) -> Fit:
    size = len(tally.idea_ids)
    strengths = np.zeros(size)
    value, weights = _objective(tally, strengths), _weights(tally, strengths)
    for _ in range(MAXIMUM_STEPS):
        surplus = tally.left_wins - tally.event_counts * _expected(tally, strengths)
        pull = np.bincount(tally.left, surplus, size) - np.bincount(tally.right, surplus, size)
        gradient = np.asarray(pull - tally.prior_precision @ (strengths - tally.prior))
        if float(np.abs(gradient).max(initial=0.0)) < CONVERGED_AT:
            break
        direction = _newton_direction(tally, weights, gradient)
        length, slope = 1.0, float(gradient @ direction)
        noise = 1e-12 * (1.0 + abs(value))
        while (
            better_value := _objective(tally, strengths + length * direction)
        ) < value + 1e-4 * length * slope - noise and length > 1e-6:
            length /= 2
        strengths, value = strengths + length * direction, better_value
        weights = _weights(tally, strengths)
    if tally.group_numbers is not None:
        strengths = strengths - strengths.mean()
    return Fit(strengths, weights)


def covariance(tally: Tally, posterior: Fit) -> NDArray[np.float64]:
    """Return the covariance of the centered strengths, shape (ideas, ideas).

    Laplace's approximation: the inverse of the negative Hessian at the mode. Takes 8 bytes per pair
    of ideas (200 MB for a group of 5,000).
    """
    hessian = _dense_hessian(tally, posterior.weights)
    factor, _ = dpotrf(hessian.T, lower=1, overwrite_a=1, clean=1)
    half, _ = dpotri(factor, lower=1, overwrite_c=1)
    inverse: NDArray[np.float64] = half + np.tril(half, -1).T
    means = inverse.mean(axis=0)  # the part that shifts all strengths alike
    inverse -= means[:, None]
    inverse -= means[None, :] - means.mean()
    return inverse


def _prior_noise(tally: Tally, noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale `noise` of deviation 1, shape (ideas, draws), to the covariance `prior_precision`."""
    if tally.group_numbers is None:
        return noise / PRIOR_DEVIATION
    sizes = np.bincount(tally.group_numbers)
    means = np.zeros((len(sizes), noise.shape[1]))
    np.add.at(means, tally.group_numbers, noise)
    means /= sizes[:, None]
    means *= 1.0 - 1.0 / np.sqrt(1.0 + sizes)[:, None]
    return np.asarray((noise - means[tally.group_numbers]) / PRIOR_DEVIATION)


def _objective(tally: Tally, strengths: Vector) -> float:
    """Return the log-posterior without its constant."""
    difference = strengths[tally.left] - strengths[tally.right]
    likelihood = -(
        tally.left_wins * np.logaddexp(0.0, -difference)
        + tally.right_wins * np.logaddexp(0.0, difference)
    ).sum()
    surprise = strengths - tally.prior
    return float(likelihood - surprise @ (tally.prior_precision @ surprise) / 2)


def _expected(tally: Tally, strengths: Vector) -> Vector:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * (strengths[tally.left] - strengths[tally.right]))))


def _weights(tally: Tally, strengths: Vector) -> Vector:
    expected_shares = _expected(tally, strengths)
    return np.asarray(tally.event_counts * expected_shares * (1.0 - expected_shares))


def _diagonal(tally: Tally, weights: Vector) -> Vector:
    size = len(tally.idea_ids)
    return np.asarray(
        np.bincount(tally.left, weights, size) + np.bincount(tally.right, weights, size)
    )


def _dense_hessian(tally: Tally, weights: Vector) -> NDArray[np.float64]:
    size = len(tally.idea_ids)
    hessian: NDArray[np.float64] = tally.prior_precision.toarray()
    hessian[tally.left, tally.right] -= weights
    hessian[tally.right, tally.left] -= weights
    hessian[np.arange(size), np.arange(size)] += _diagonal(tally, weights)
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
    diagonal = diags_array(_diagonal(tally, weights))
    return (off_diagonal + diagonal + tally.prior_precision).tocsr()


def draw_strengths(tally: Tally, posterior: Fit, count: int, seed: int) -> NDArray[np.float64]:
    """Return `count` draws from the posterior (Laplace's approximation), shape (count, ideas).

    Each solves Newton's equations for noise whose covariance is their matrix (Papandreou & Yuille,
    Gaussian sampling by local perturbations, 2010), so no covariance is computed.
    """
    generator = np.random.default_rng([seed, count, len(tally.idea_ids)])
    size = len(tally.idea_ids)
    of_pairs = generator.standard_normal((len(tally.left), count)) * np.sqrt(
        posterior.weights[:, None]
    )
    noise = _prior_noise(tally, generator.standard_normal((size, count)))
    np.add.at(noise, tally.left, of_pairs)
    np.subtract.at(noise, tally.right, of_pairs)
    with threads_for(size):
        if size <= DENSE_UP_TO:
            offsets = cho_solve(cho_factor(_dense_hessian(tally, posterior.weights)), noise)
        else:
            hessian = _sparse_hessian(tally, posterior.weights)
            preconditioner = diags_array(1.0 / hessian.diagonal())
            offsets = np.column_stack(
                [cg(hessian, column, rtol=1e-6, M=preconditioner)[0] for column in noise.T]
            )
    return np.asarray(posterior.strengths + offsets.T)


ELO_START = 1000.0
ELO_SCALE = 400.0
# Parameters of ScienceArena's ratings; none was fitted to our votes.
ELO_K = 32.0
COLD_START_ALPHA, COLD_START_MATCHES = 1.5, 5
PAIR_DECAY_GAMMA = 0.9  # per earlier encounter of the pair
ACTIVITY_LAMBDA = 0.05  # pull of the idle toward the mean, per day with votes
REPLICATES = 100
"""Replays with Poisson weights per match (online bootstrap: Oza, Online bagging and boosting,
2005).
"""


@dataclass(frozen=True, slots=True)
class EloRatings:
    """Points per idea, in the order of identifiers.

    `errors` are the replicates' distances from their mean, shape (ideas, REPLICATES).
    """

    points: NDArray[np.float64]
    errors: NDArray[np.float64]

    @property
    def spread(self) -> NDArray[np.float64]:
        """The bootstrap's standard deviation per idea."""
        return np.asarray(np.sqrt((self.errors**2).mean(axis=1)))


def elo(idea_ids: Sequence[IdeaId], matches: Iterable[Match], seed: int) -> EloRatings:
    """Replay `matches`, all of one group and dimension.

    Unscored matches move nobody, but count as activity. Both orders of a pair in one round are one
    event with their mean as outcome, so position bias moves nobody. After a day (UTC) with votes
    idle ideas move toward the mean by λ; rounds of a schedule do not, because a batch does not age
    while it is ranked.
    """
    ordered_ids = tuple(sorted(set(idea_ids)))
    sorted_events = events(ordered_ids, matches)
    # A row per event; column 0 is the rating itself.
    count, generator = len(sorted_events), np.random.default_rng([seed, len(sorted_events)])
    poisson = generator.poisson(1.0, size=(count, REPLICATES)).astype(np.float64)
    replay = _Replay(len(ordered_ids), np.hstack([np.ones((count, 1)), poisson]))
    for (by_vote, _, _), period in groupby(
        enumerate(sorted_events), key=lambda entry: entry[1].period
    ):
        active = np.zeros(len(ordered_ids), dtype=np.bool_)
        for number, event in period:
            active[event.left] = active[event.right] = True
            if event.left_share_0_to_1 is not None:
                replay.play(event.left, event.right, event.left_share_0_to_1, number)
        if by_vote:
            replay.regress(~active)
    replicates = replay.points[:, 1:]
    errors = replicates - replicates.mean(axis=1, keepdims=True)
    return EloRatings(replay.points[:, 0].copy(), errors)


class _Replay:
    """Points after each event, in the replay itself and in its replicates."""

    def __init__(self, size: int, weights: NDArray[np.float64]) -> None:
        self.points = np.full((size, 1 + REPLICATES), ELO_START)
        self._weights = weights
        self._played = np.zeros(size, dtype=np.int64)
        self._met: dict[tuple[int, int], int] = {}

    def play(self, first: int, second: int, share: float, number: int) -> None:
        """Update the points; S_A is `share`.

        ΔR is scaled by α while either idea is new; K falls by γ with every earlier meeting of the pair.
        """
        new = min(self._played[first], self._played[second]) < COLD_START_MATCHES
        difference = (COLD_START_ALPHA if new else 1.0) * (self.points[second] - self.points[first])
        expected_share = 1.0 / (1.0 + 10.0 ** (difference / ELO_SCALE))
        pair = (first, second)
        effective_k = ELO_K * PAIR_DECAY_GAMMA ** self._met.get(pair, 0)
        change = self._weights[number] * effective_k * (share - expected_share)
        self.points[first] += change
        self.points[second] -= change
        self._met[pair] = self._met.get(pair, 0) + 1
        self._played[[first, second]] += 1

    def regress(self, idle: NDArray[np.bool_]) -> None:
        if idle.any():
            mean = self.points.mean(axis=0)
            self.points[idle] -= ACTIVITY_LAMBDA * (self.points[idle] - mean)


def seed_of(group: str, dimension: str, seed: int) -> int:
    """Derive a seed for a group and dimension."""
    return int(content_hash(group, dimension, str(seed), length=12), 16)
