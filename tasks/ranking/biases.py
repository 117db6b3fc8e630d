"""Biases of voters: length, citations and position (OmniScientist, section 5.3)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from schemas.people.votes import HumanVote
from tasks.ranking.tally import PRIOR_DEVIATION

EFFECTS = ("length", "citations", "shown_first")
EFFECT_DEVIATION = 2.0
"""Prior deviation in log odds, hardly a constraint."""
_Z = 1.96
_MAXIMUM_STEPS = 100
_CONVERGED_AT = 1e-9

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bias:
    """Effect of one property on the odds of being preferred, at equal quality.

    Attributes:
        log_odds: per doubling of the words, per doubling of one plus the citations, or for the
            first position; None if it never differed within a pair.
        lower, upper: 95 % interval.
    """

    name: str
    log_odds: float | None
    lower: float | None
    upper: float | None


def biases(votes: Sequence[HumanVote]) -> tuple[Bias, ...]:
    """Estimate each of `EFFECTS` by Bradley–Terry with differences within a pair as covariates.

    The prior of `tasks.ranking.tally` on strengths separates texts that win by quality, as their
    other pairs show, from texts that win by length. Attention checks are excluded.
    """
    real_votes = [vote for vote in votes if vote.check_passed is None]
    columns, covariates = _design(real_votes)
    shares = np.array([vote.first_share_0_to_1 for vote in real_votes], dtype=np.float64)
    size = columns.shape[1]
    precision = np.full(size + len(EFFECTS), 1 / PRIOR_DEVIATION**2)
    precision[size:] = 1 / EFFECT_DEVIATION**2
    log_odds, covariance = fit_log_odds(np.hstack([columns, covariates]), shares, precision)
    effects = []
    for place, name in enumerate(EFFECTS):
        value, variance = float(log_odds[size + place]), covariance[size + place, size + place]
        margin = _Z * math.sqrt(variance)
        has_differences = covariates[:, place].any()
        effects.append(
            Bias(name, value, value - margin, value + margin)
            if has_differences
            else Bias(name, None, None, None)
        )
    return tuple(effects)


def _design(votes: Sequence[HumanVote]) -> tuple[Matrix, Matrix]:
    """Return the columns of contenders, and the covariates.

    A column has 1 for the first contender and -1 for the second.
    """
    sides = [
        (
            (vote.track, vote.group, vote.run_id, vote.first_id),
            (vote.track, vote.group, vote.second_run_id, vote.second_id),
        )
        for vote in votes
    ]
    place = {
        side: number for number, side in enumerate(sorted({s for pair in sides for s in pair}))
    }
    columns = np.zeros((len(votes), len(place)))
    for row, (first, second) in enumerate(sides):
        columns[row, place[first]] = 1.0
        columns[row, place[second]] = -1.0
    rows = [
        (
            _doublings(vote.first_words, vote.second_words),
            _doublings(vote.first_citations, vote.second_citations),
            1.0,
        )
        for vote in votes
    ]
    return columns, np.array(rows, dtype=np.float64).reshape(-1, len(EFFECTS))


def _doublings(first: int, second: int) -> float:
    return math.log2((1 + first) / (1 + second))


def fit_log_odds(design: Matrix, won_shares: Vector, precision: Vector) -> tuple[Vector, Matrix]:
    """Fit the log odds that each column of `design` adds.

    `won_shares` are from 0 to 1.

    Returns the posterior mode by Newton's method and its covariance by Laplace's approximation.
    `precision` belongs to the prior, which has mean 0.
    """
    mode = np.zeros(design.shape[1])
    hessian = np.diag(precision)
    for _ in range(_MAXIMUM_STEPS):
        expected_shares = expit(design @ mode)
        gradient = design.T @ (won_shares - expected_shares) - precision * mode
        weights = expected_shares * (1 - expected_shares)
        hessian = (design * weights[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        mode += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if float(np.abs(step).max()) < _CONVERGED_AT:
            break
    return mode, np.asarray(np.linalg.inv(hessian), dtype=np.float64)
