"""Matches of a group to its ratings: strengths, intervals, ranks, and why an idea has none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Rating, RatingMethod
from tasks.ranking.strengths import EloRatings, Fit, covariance, elo, fit, seed_of
from tasks.ranking.tally import Tally, is_vote, tally, threads_for

# How sure it is that one idea is stronger than another, as signed standard deviations of a normal
# (z).

TOLD_APART_Z = 0.6745
"""Odds of three to one: from here on one idea is ranked above the other; below they share."""
BEYOND_DOUBT_Z = 1.96
"""95 % two-sided: the best and the worst rank an idea may have count only what is this sure."""
LIKELIHOOD_RATIO_UP_TO = 24
"""Ideas up to which every pair is tested by its likelihood ratio."""
ROWS_AT_ONCE = 256

Matrix = NDArray[np.float64]
Places = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def surety(tally: Tally, fitted: Fit, covariances: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Blocks of rows of z: `z[i, k] > 0` says that idea i is stronger than idea k.

    Small groups: the square root of twice the log-posterior lost when the two are forced to be
    equal. It grows with every win and never falls with one, where Wald's quotient of difference and
    standard error does fall in lopsided small groups (Hauck & Donner, Wald's test as applied to
    hypotheses in logit analysis, JASA 1977). Larger groups: Wald's quotient, which comes to the
    same where each idea played a dozen matches, at a fraction of the work. Ideas that no chain of
    matches joins are held against each other by the prior alone: both parts are taken to be as good
    on average.
    """
    size = len(tally.idea_ids)
    exact = _likelihood_ratio(tally, fitted.strengths) if size <= LIKELIHOOD_RATIO_UP_TO else None
    variance = np.diagonal(covariances)
    for start in range(0, size, ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, size))
        if exact is not None:
            z = exact[rows]
        else:
            spread = np.sqrt(
                np.maximum(variance[rows, None] + variance[None, :] - 2 * covariances[rows], 1e-12)
            )
            z = (fitted.strengths[rows, None] - fitted.strengths[None, :]) / spread
        yield rows, z


def _likelihood_ratio(tally: Tally, strengths: NDArray[np.float64]) -> Matrix:
    size = len(strengths)
    upper, lower = np.triu_indices(size, 1)
    if not len(upper):
        return np.zeros((size, size))
    wins = np.zeros((size, size))
    wins[tally.left, tally.right] = tally.left_wins
    wins[tally.right, tally.left] = tally.right_wins
    precision = tally.prior_precision.toarray()
    equal = _forced_equal(wins, strengths, tally.prior, precision, upper, lower)
    lost = _log_posterior(wins, strengths[None], tally.prior, precision)[0] - _log_posterior(
        wins, equal, tally.prior, precision
    )
    z = np.sqrt(2 * np.maximum(lost, 0.0)) * np.sign(strengths[upper] - strengths[lower])
    matrix = np.zeros((size, size))
    matrix[upper, lower] = z
    matrix[lower, upper] = -z
    return matrix


def _log_posterior(
    wins: Matrix, strengths: Matrix, prior: NDArray[np.float64], precision: Matrix
) -> NDArray[np.float64]:
    """Per row of `strengths`; shape (rows,)."""
    difference = strengths[:, :, None] - strengths[:, None, :]
    likelihood = -(wins[None] * np.logaddexp(0.0, -difference)).sum(axis=(1, 2))
    surprise = strengths - prior
    return np.asarray(likelihood - ((surprise @ precision) * surprise).sum(axis=1) / 2)


def _forced_equal(
    wins: Matrix,
    strengths: NDArray[np.float64],
    prior: NDArray[np.float64],
    precision: Matrix,
    upper: NDArray[np.intp],
    lower: NDArray[np.intp],
) -> Matrix:
    """The posterior mode under `s[upper] == s[lower]`, for every pair at once; shape (pairs,
    ideas).

    Newton with a multiplier.
    """
    rows, size = len(upper), wins.shape[0]
    number = np.arange(rows)
    contrast = np.zeros((rows, size))
    contrast[number, upper], contrast[number, lower] = 1.0, -1.0
    found = np.repeat(strengths[None], rows, axis=0)
    middle = 0.5 * (found[number, upper] + found[number, lower])
    found[number, upper] = found[number, lower] = middle
    played = wins + wins.T
    for _ in range(60):
        expected = 0.5 * (1.0 + np.tanh(0.5 * (found[:, :, None] - found[:, None, :])))
        gradient = (wins[None] - played[None] * expected).sum(axis=2)
        gradient -= (found - prior) @ precision
        curvature = played[None] * expected * (1.0 - expected)
        hessian = precision - curvature
        hessian[:, np.arange(size), np.arange(size)] += curvature.sum(axis=2)
        solved = np.linalg.solve(hessian, np.stack([gradient, contrast], axis=2))
        along, across = solved[:, :, 0], solved[:, :, 1]
        multiplier = (contrast * along).sum(axis=1) / (contrast * across).sum(axis=1)
        step = along - multiplier[:, None] * across
        longest = np.abs(step).max(axis=1, keepdims=True)
        found += step * np.minimum(1.0, 1.5 / np.maximum(longest, 1e-12))
        if float(longest.max()) < 1e-9:
            break
    return found


def _places(z_of_rows: Iterable[tuple[slice, Matrix]], counted: NDArray[np.bool_]) -> Places:
    """(rank, best rank, worst rank) per idea; only ideas with a scored match are counted."""
    rank, best, better_than = (np.zeros(len(counted), dtype=np.int64) for _ in range(3))
    for rows, z in z_of_rows:
        below = z[:, counted]
        rank[rows] = 1 + (below < -TOLD_APART_Z).sum(axis=1)
        best[rows] = 1 + (below < -BEYOND_DOUBT_Z).sum(axis=1)
        better_than[rows] = (below > BEYOND_DOUBT_Z).sum(axis=1)
    return rank, best, int(counted.sum()) - better_than


_DIGITS = 9
"""Strengths are rounded to where floating point no longer depends on the order of additions."""


def rate(
    group: str,
    idea_ids: Sequence[IdeaId],
    matches: Iterable[Match],
    dimension: str,
    seed: int,
    prior: Mapping[IdeaId, float] | None = None,
    *,
    with_votes: bool = False,
) -> tuple[Rating, ...]:
    """One rating per idea and method, by method and idea.

    Bradley–Terry rests on the engine's matches alone, and on `prior`, log odds by idea. Elo is there
    for people's votes, which it adds to the matches: without `with_votes` there is none.

    `rank` = 1 + the number of ideas that are stronger with odds of three to one or better, so ideas
    that the matches do not tell apart share one. `best_rank` and `worst_rank` count only what is
    beyond doubt (95 %). Intervals are 95 %: from the Hessian (Bradley–Terry), from a bootstrap of
    the matches (Elo).
    """
    own = [match for match in matches if match.dimension == dimension]
    by_engine = tally(idea_ids, (match for match in own if not is_vote(match)), prior)
    with threads_for(len(idea_ids)):
        found = _bradley_terry(group, dimension, by_engine, prior or {})
        if with_votes:
            found += _elo(group, dimension, idea_ids, own, seed)
        return tuple(found)


def rate_votes(
    group: str,
    idea_ids: Sequence[IdeaId],
    votes: Iterable[Match],
    dimension: str,
    seed: int,
) -> tuple[Rating, ...]:
    """As `rate`, by both methods on votes of people alone."""
    own = [vote for vote in votes if vote.dimension == dimension]
    with threads_for(len(idea_ids)):
        return (
            *_bradley_terry(group, dimension, tally(idea_ids, own), {}),
            *_elo(group, dimension, idea_ids, own, seed),
        )


def rate_across(
    group_of: Mapping[IdeaId, str],
    matches: Iterable[Match],
    dimension: str,
    prior: Mapping[IdeaId, float] | None = None,
) -> tuple[Rating, ...]:
    """A Bradley–Terry rating of every idea of several groups on one scale, by idea; each names the
    idea's own group. Ranks are over all groups.

    `matches` are those within groups and between. Elo has no such rating: it moves those alone who
    meet, and most ideas of a group never meet another group.
    """
    own = (match for match in matches if match.dimension == dimension and not is_vote(match))
    counted = tally(tuple(group_of), own, prior, group_of)
    with threads_for(len(counted.idea_ids)):
        found = _bradley_terry("", dimension, counted, prior or {})
    return tuple(replace(rating, group=group_of[rating.idea_id]) for rating in found)


def _bradley_terry(
    group: str, dimension: str, counted: Tally, prior: Mapping[IdeaId, float]
) -> list[Rating]:
    fitted = fit(counted)
    covariances = covariance(counted, fitted)
    return _ratings(
        group,
        dimension,
        RatingMethod.BRADLEY_TERRY,
        counted,
        fitted.strengths,
        np.sqrt(np.maximum(np.diagonal(covariances), 0.0)),
        _places(surety(counted, fitted, covariances), counted.has_score),
        {one: float(counted.prior[n]) for n, one in enumerate(counted.idea_ids) if one in prior},
    )


def _elo(
    group: str,
    dimension: str,
    idea_ids: Sequence[IdeaId],
    matches: list[Match],
    seed: int,
) -> list[Rating]:
    counted = tally(idea_ids, matches)
    rated = elo(idea_ids, matches, seed_of(group, dimension, seed))
    return _ratings(
        group,
        dimension,
        RatingMethod.ELO,
        counted,
        rated.points,
        rated.spread,
        _places(_surety_of_points(rated), counted.has_score),
    )


def _surety_of_points(rated: EloRatings) -> Iterator[tuple[slice, Matrix]]:
    """As `surety`, from points and their bootstrapped differences."""
    size, errors, variance = len(rated.points), rated.errors, rated.spread**2
    for start in range(0, size, ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, size))
        shared = errors[rows] @ errors.T / errors.shape[1]
        spread = np.sqrt(np.maximum(variance[rows, None] + variance[None, :] - 2 * shared, 1e-12))
        yield rows, (rated.points[rows, None] - rated.points[None, :]) / spread


def _ratings(
    group: str,
    dimension: str,
    method: RatingMethod,
    counted: Tally,
    strengths: NDArray[np.float64],
    spread: NDArray[np.float64],
    places: Places,
    prior: Mapping[IdeaId, float] | None = None,
) -> list[Rating]:
    rank, best, worst = places
    found: list[Rating] = []
    for number, idea_id in enumerate(counted.idea_ids):
        known = bool(counted.has_score[number])
        strength, margin = float(strengths[number]), BEYOND_DOUBT_Z * float(spread[number])
        count = counted.counts[number]
        found.append(
            Rating(
                group=group,
                idea_id=idea_id,
                dimension=dimension,
                method=method,
                strength=round(strength, _DIGITS) + 0.0 if known else None,
                lower=round(strength - margin, _DIGITS) if known else None,
                upper=round(strength + margin, _DIGITS) if known else None,
                prior_strength=_rounded((prior or {}).get(idea_id)),
                rank=int(rank[number]) if known else None,
                best_rank=int(best[number]) if known else None,
                worst_rank=int(worst[number]) if known else None,
                wins=count.wins,
                losses=count.losses,
                ties=count.ties,
                unscored_count=count.unscored,
                unranked_reason=None if known else _why_not(counted, number),
            )
        )
    return found


def _rounded(strength: float | None) -> float | None:
    return None if strength is None else round(strength, _DIGITS) + 0.0


def _why_not(counted: Tally, number: int) -> str:
    if len(counted.idea_ids) == 1:
        return "alone in its group: there is nothing to compare it with"
    unscored = counted.counts[number].unscored
    return (
        f"none of its {unscored} matches could be scored"
        if unscored
        else "it was not matched with any idea"
    )
