"""Matches of a group to its ratings: strengths, intervals, ranks, and why an idea has none."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId
from schemas.profile import RankingParameters
from schemas.ranking import Match, Rating, RatingMethod
from tasks.ranking.bradley_terry import fit
from tasks.ranking.elo import EloRatings, elo, seed_of
from tasks.ranking.separation import BEYOND_DOUBT_Z, ROWS_AT_ONCE, TOLD_APART_Z, ranks
from tasks.ranking.tally import Tally, is_vote, tally
from tasks.ranking.threads import threads_for

_DIGITS = 9
"""Strengths are rounded to where floating point no longer depends on the order of additions."""


def rate(
    group: str,
    idea_ids: Sequence[IdeaId],
    matches: Iterable[Match],
    dimension: str,
    parameters: RankingParameters,
    seed: int,
) -> tuple[Rating, ...]:
    """One rating per idea and method, by method and idea. Bradley–Terry rests on the engine's matches alone, Elo on human votes too.

    `rank` = 1 + the number of ideas that are stronger with odds of three to one or better, so ideas that the matches do not tell
    apart share one. `best_rank` and `worst_rank` count only what is beyond doubt (95 %). Intervals are 95 %: from the
    Hessian (Bradley–Terry), from a bootstrap of the matches (Elo).
    """
    own = [match for match in matches if match.dimension == dimension]
    by_engine = tally(idea_ids, (match for match in own if not is_vote(match)))
    with threads_for(len(idea_ids)):
        return (
            *_bradley_terry(group, dimension, by_engine),
            *_elo(group, dimension, idea_ids, own, parameters, seed),
        )


def _bradley_terry(group: str, dimension: str, counted: Tally) -> list[Rating]:
    fitted = fit(counted)
    rank, best, worst, spread = ranks(counted, fitted)
    return _ratings(
        group,
        dimension,
        RatingMethod.BRADLEY_TERRY,
        counted,
        fitted.strengths,
        spread,
        (rank, best, worst),
    )


def _elo(
    group: str,
    dimension: str,
    idea_ids: Sequence[IdeaId],
    matches: list[Match],
    parameters: RankingParameters,
    seed: int,
) -> list[Rating]:
    counted = tally(idea_ids, matches)
    rated = elo(idea_ids, matches, parameters, seed_of(group, dimension, seed))
    places = _places(rated, counted)
    return _ratings(group, dimension, RatingMethod.ELO, counted, rated.points, rated.spread, places)


Places = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def _places(rated: EloRatings, counted: Tally) -> Places:
    """Ranks from points and their bootstrapped differences."""
    size, scored = len(rated.points), counted.has_score
    rank, best, worst = (np.zeros(size, dtype=np.int64) for _ in range(3))
    errors, variance = rated.errors, rated.spread**2
    for start in range(0, size, ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, size))
        gap = rated.points[rows, None] - rated.points[None, scored]
        shared = errors[rows] @ errors[scored].T / errors.shape[1]
        error = np.sqrt(
            np.maximum(variance[rows, None] + variance[None, scored] - 2 * shared, 1e-12)
        )
        z = gap / error
        rank[rows] = 1 + (z < -TOLD_APART_Z).sum(axis=1)
        best[rows] = 1 + (z < -BEYOND_DOUBT_Z).sum(axis=1)
        worst[rows] = scored.sum() - (z > BEYOND_DOUBT_Z).sum(axis=1)
    return rank, best, worst


def _ratings(
    group: str,
    dimension: str,
    method: RatingMethod,
    counted: Tally,
    strengths: NDArray[np.float64],
    spread: NDArray[np.float64],
    places: Places,
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


def _why_not(counted: Tally, number: int) -> str:
    if len(counted.idea_ids) == 1:
        return "alone in its group: there is nothing to compare it with"
    unscored = counted.counts[number].unscored
    return (
        f"none of its {unscored} matches could be scored"
        if unscored
        else "it was not matched with any idea"
    )
