"""Ratings of a group from its matches: strengths, intervals, ranks, and reasons for none."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Rating, RatingMethod
from tasks.ranking.strengths import Fit, covariance, elo, fit, seed_of
from tasks.ranking.tally import Tally, is_vote, tally, threads_for

# Certainty that one idea is stronger than another: signed standard deviations of a normal (z).

DISTINCT_Z = 0.6745
"""z of odds of three to one, from which one idea ranks above the other.

Below them the ideas share a rank.
"""
BEYOND_DOUBT_Z = 1.96
"""95 % two-sided: the certainty of differences that count for the best and the worst possible rank.
"""
LIKELIHOOD_RATIO_UP_TO = 24
"""Size up to which every pair is tested by its likelihood ratio."""
ROWS_AT_ONCE = 256

Matrix = NDArray[np.float64]
Places = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def certainty(tally: Tally, posterior: Fit, covariances: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Yield blocks of rows of z, the certainty of differences.

    `z[i, k] > 0` means that idea i is stronger than idea k.

    Small groups: the square root of twice the log-posterior lost if both are forced to be equal. It
    grows with every win, whereas Wald's quotient of difference and standard error can fall with a
    win in lopsided small groups (Hauck & Donner, Wald's test as applied to hypotheses in logit
    analysis, JASA 1977). Larger groups: Wald's quotient, which is equivalent from a dozen matches
    per idea on, at a fraction of the cost. Ideas that no chain of matches joins are compared by
    the prior alone, which assumes both parts to be equally good on average.
    """
    size = len(tally.idea_ids)
    exact = (
        _likelihood_ratio(tally, posterior.strengths) if size <= LIKELIHOOD_RATIO_UP_TO else None
    )
    if exact is not None:
        yield slice(0, size), exact
    else:
        yield from _wald(posterior.strengths, np.diagonal(covariances), covariances.__getitem__)


def _wald(
    strengths: NDArray[np.float64],
    variance: NDArray[np.float64],
    covariances_of: Callable[[slice], Matrix],
) -> Iterator[tuple[slice, Matrix]]:
    """Yield blocks of rows of each difference over its standard error."""
    size = len(strengths)
    for start in range(0, size, ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, size))
        difference_variances = variance[rows, None] + variance[None, :] - 2 * covariances_of(rows)
        spread = np.sqrt(np.maximum(difference_variances, 1e-12))
        yield rows, (strengths[rows, None] - strengths[None, :]) / spread


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
    log_posterior_loss = _log_posterior(wins, strengths[None], tally.prior, precision)[
        0
    ] - _log_posterior(wins, equal, tally.prior, precision)
    z = np.sqrt(2 * np.maximum(log_posterior_loss, 0.0)) * np.sign(
        strengths[upper] - strengths[lower]
    )
    matrix = np.zeros((size, size))
    matrix[upper, lower] = z
    matrix[lower, upper] = -z
    return matrix


def _log_posterior(
    wins: Matrix, strengths: Matrix, prior: NDArray[np.float64], precision: Matrix
) -> NDArray[np.float64]:
    """Return the log-posterior per row of `strengths`; shape (rows,)."""
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
    """Return the mode under `s[upper] == s[lower]` for every pair.

    Its shape is (pairs, ideas).

    Newton's method with a Lagrange multiplier.
    """
    rows, size = len(upper), wins.shape[0]
    number = np.arange(rows)
    contrast = np.zeros((rows, size))
    contrast[number, upper], contrast[number, lower] = 1.0, -1.0
    mode = np.repeat(strengths[None], rows, axis=0)
    middle = 0.5 * (mode[number, upper] + mode[number, lower])
    mode[number, upper] = mode[number, lower] = middle
    match_counts = wins + wins.T
    for _ in range(60):
        expected_shares = 0.5 * (1.0 + np.tanh(0.5 * (mode[:, :, None] - mode[:, None, :])))
        gradient = (wins[None] - match_counts[None] * expected_shares).sum(axis=2)
        gradient -= (mode - prior) @ precision
        curvature = match_counts[None] * expected_shares * (1.0 - expected_shares)
        hessian = precision - curvature
        hessian[:, np.arange(size), np.arange(size)] += curvature.sum(axis=2)
        solution = np.linalg.solve(hessian, np.stack([gradient, contrast], axis=2))
        along, across = solution[:, :, 0], solution[:, :, 1]
        multiplier = (contrast * along).sum(axis=1) / (contrast * across).sum(axis=1)
        step = along - multiplier[:, None] * across
        longest = np.abs(step).max(axis=1, keepdims=True)
        mode += step * np.minimum(1.0, 1.5 / np.maximum(longest, 1e-12))
        if float(longest.max()) < 1e-9:
            break
    return mode


def _places(z_of_rows: Iterable[tuple[slice, Matrix]], has_match: NDArray[np.bool_]) -> Places:
    """Return (rank, best rank, worst rank) per idea.

    Only ideas with a scored match count.
    """
    rank, best, better_than = (np.zeros(len(has_match), dtype=np.int64) for _ in range(3))
    for rows, z in z_of_rows:
        compared_z = z[:, has_match]
        rank[rows] = 1 + (compared_z < -DISTINCT_Z).sum(axis=1)
        best[rows] = 1 + (compared_z < -BEYOND_DOUBT_Z).sum(axis=1)
        better_than[rows] = (compared_z > BEYOND_DOUBT_Z).sum(axis=1)
    return rank, best, int(has_match.sum()) - better_than


_DIGITS = 9
"""Decimals of strengths; later ones depend on the order of floating-point additions."""


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
    """Return one rating per idea and method, by method and idea.

    Bradley–Terry uses the engine's matches and `prior`, log odds by idea. Elo adds people's votes
    to the matches; without `with_votes` there is no Elo rating.

    `rank` = 1 + the number of ideas that are stronger with odds of at least three to one, so ideas
    that the matches do not separate share a rank. `best_rank` and `worst_rank` only count
    differences that are certain at 95 %. Intervals are 95 %: from the Hessian (Bradley–Terry), from
    a bootstrap of the matches (Elo).
    """
    dimension_matches = [match for match in matches if match.dimension == dimension]
    by_engine = tally(idea_ids, (match for match in dimension_matches if not is_vote(match)), prior)
    with threads_for(len(idea_ids)):
        ratings = _bradley_terry(group, dimension, by_engine, prior or {})
        if with_votes:
            ratings += _elo(group, dimension, idea_ids, dimension_matches, seed)
        return tuple(ratings)


def rate_votes(
    group: str,
    idea_ids: Sequence[IdeaId],
    votes: Iterable[Match],
    dimension: str,
    seed: int,
) -> tuple[Rating, ...]:
    """Rate by both methods on votes of people alone."""
    dimension_votes = [vote for vote in votes if vote.dimension == dimension]
    with threads_for(len(idea_ids)):
        return (
            *_bradley_terry(group, dimension, tally(idea_ids, dimension_votes), {}),
            *_elo(group, dimension, idea_ids, dimension_votes, seed),
        )


def rate_across(
    group_of: Mapping[IdeaId, str],
    matches: Iterable[Match],
    dimension: str,
    prior: Mapping[IdeaId, float] | None = None,
) -> tuple[Rating, ...]:
    """Return Bradley–Terry ratings of all ideas of several groups on one scale, by idea.

    `matches` are those within and between groups. Each rating has the idea's own group; ranks are
    over all groups. There is no Elo rating, because Elo only moves ideas that meet, and most ideas
    never meet another group.
    """
    dimension_matches = (
        match for match in matches if match.dimension == dimension and not is_vote(match)
    )
    results = tally(tuple(group_of), dimension_matches, prior, group_of)
    with threads_for(len(results.idea_ids)):
        ratings = _bradley_terry("", dimension, results, prior or {})
    return tuple(replace(rating, group=group_of[rating.idea_id]) for rating in ratings)


def _bradley_terry(
    group: str, dimension: str, results: Tally, prior: Mapping[IdeaId, float]
) -> list[Rating]:
    posterior = fit(results)
    covariances = covariance(results, posterior)
    return _ratings(
        group,
        dimension,
        RatingMethod.BRADLEY_TERRY,
        results,
        posterior.strengths,
        np.sqrt(np.maximum(np.diagonal(covariances), 0.0)),
        _places(certainty(results, posterior, covariances), results.has_score),
        {one: float(results.prior[n]) for n, one in enumerate(results.idea_ids) if one in prior},
    )


def _elo(
    group: str,
    dimension: str,
    idea_ids: Sequence[IdeaId],
    matches: list[Match],
    seed: int,
) -> list[Rating]:
    results = tally(idea_ids, matches)
    points = elo(idea_ids, matches, seed_of(group, dimension, seed))
    errors, count = points.errors, points.errors.shape[1]
    return _ratings(
        group,
        dimension,
        RatingMethod.ELO,
        results,
        points.points,
        points.spread,
        _places(
            # Covariances of the bootstrap's errors.
            _wald(points.points, points.spread**2, lambda rows: errors[rows] @ errors.T / count),
            results.has_score,
        ),
    )


def _ratings(
    group: str,
    dimension: str,
    method: RatingMethod,
    results: Tally,
    strengths: NDArray[np.float64],
    spread: NDArray[np.float64],
    places: Places,
    prior: Mapping[IdeaId, float] | None = None,
) -> list[Rating]:
    rank, best, worst = places
    ratings: list[Rating] = []
    for number, idea_id in enumerate(results.idea_ids):
        has_score = bool(results.has_score[number])
        strength, margin = float(strengths[number]), BEYOND_DOUBT_Z * float(spread[number])
        count, prior_strength = results.counts[number], (prior or {}).get(idea_id)
        ratings.append(
            Rating(
                group=group,
                idea_id=idea_id,
                dimension=dimension,
                method=method,
                strength=round(strength, _DIGITS) + 0.0 if has_score else None,
                lower=round(strength - margin, _DIGITS) if has_score else None,
                upper=round(strength + margin, _DIGITS) if has_score else None,
                prior_strength=None
                if prior_strength is None
                else round(prior_strength, _DIGITS) + 0.0,
                rank=int(rank[number]) if has_score else None,
                best_rank=int(best[number]) if has_score else None,
                worst_rank=int(worst[number]) if has_score else None,
                wins=count.wins,
                losses=count.losses,
                ties=count.ties,
                unscored_count=count.unscored,
                unranked_reason=None if has_score else _unranked_reason(results, number),
            )
        )
    return ratings


def _unranked_reason(results: Tally, number: int) -> str:
    if len(results.idea_ids) == 1:
        return "alone in its group: there is nothing to compare it with"
    unscored_count = results.counts[number].unscored
    return (
        f"none of its {unscored_count} matches could be scored"
        if unscored_count
        else "it was not matched with any idea"
    )
