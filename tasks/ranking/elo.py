"""ScienceArena's ratings: Elo with cold start, pair decay and regression of the idle (OmniScientist
§5.2, equations 1 and 2).

Elo depends on the order of events, so the order is fixed: first the engine's matches by round, pair
and order shown (never by the moment they were answered, which concurrency makes a matter of
chance), then human votes by time. The order in which matches are given changes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId, content_hash
from schemas.profile import RankingParameters
from schemas.ranking import Match
from tasks.ranking.tally import events

START = 1000.0
SCALE = 400.0
REPLICATES = 100
"""Replays with every match weighted by a Poisson draw (an online bootstrap: Oza, Online bagging and
boosting, 2005).
"""


@dataclass(frozen=True, slots=True)
class EloRatings:
    """Points per idea, in order of `idea_ids`; `errors` are the replicates' distances from their
    mean, shape (ideas, REPLICATES).
    """

    idea_ids: tuple[IdeaId, ...]
    points: NDArray[np.float64]
    errors: NDArray[np.float64]

    @property
    def spread(self) -> NDArray[np.float64]:
        """The bootstrap's standard deviation per idea."""
        return np.asarray(np.sqrt((self.errors**2).mean(axis=1)))


def elo(
    idea_ids: Sequence[IdeaId], matches: Iterable[Match], parameters: RankingParameters, seed: int
) -> EloRatings:
    """Replay `matches`, all of one group and dimension.

    An unscored match moves nobody; being scheduled counts as activity.

    Both orders of a pair in one round are one event whose outcome is their mean, so a judge that
    favours what it sees first moves nobody. After a day (UTC) with votes the idle move toward the
    mean by λ. Rounds of a schedule move nobody so: a batch does not age while it is ranked.
    """
    ordered = tuple(sorted(set(idea_ids)))
    found = events(ordered, matches)
    replay = _Replay(len(ordered), parameters, _weights(len(found), seed))
    for (by_vote, _, _), period in groupby(enumerate(found), key=lambda entry: entry[1].period):
        active = np.zeros(len(ordered), dtype=np.bool_)
        for number, event in period:
            active[event.left] = active[event.right] = True
            if event.left_share_0_to_1 is not None:
                replay.play(event.left, event.right, event.left_share_0_to_1, number)
        if by_vote:
            replay.regress(~active)
    replicates = replay.points[:, 1:]
    return EloRatings(
        ordered, replay.points[:, 0].copy(), replicates - replicates.mean(axis=1, keepdims=True)
    )


def _weights(count: int, seed: int) -> NDArray[np.float64]:
    """Row per event; column 0 is the rating itself, the others its replicates.

    Shape (count, 1 + REPLICATES).
    """
    generator = np.random.default_rng([seed, count])
    return np.hstack(
        [np.ones((count, 1)), generator.poisson(1.0, size=(count, REPLICATES)).astype(np.float64)]
    )


class _Replay:
    """Points as they stand after each event, in the replay itself and in its replicates side by
    side.
    """

    def __init__(
        self, size: int, parameters: RankingParameters, weights: NDArray[np.float64]
    ) -> None:
        self.points = np.full((size, 1 + REPLICATES), START)
        self._parameters = parameters
        self._weights = weights
        self._played = np.zeros(size, dtype=np.int64)
        self._met: dict[tuple[int, int], int] = {}

    def play(self, first: int, second: int, share: float, number: int) -> None:
        """S_A is `share`. ΔR is scaled by α while either is new; K falls by γ with every earlier
        encounter of the pair.
        """
        parameters = self._parameters
        new = min(self._played[first], self._played[second]) < parameters.elo_cold_start_matches
        difference = (parameters.elo_cold_start_alpha if new else 1.0) * (
            self.points[second] - self.points[first]
        )
        expected = 1.0 / (1.0 + 10.0 ** (difference / SCALE))
        pair = (first, second)
        effective_k = parameters.elo_k * parameters.elo_pair_decay_gamma ** self._met.get(pair, 0)
        change = self._weights[number] * effective_k * (share - expected)
        self.points[first] += change
        self.points[second] -= change
        self._met[pair] = self._met.get(pair, 0) + 1
        self._played[[first, second]] += 1

    def regress(self, idle: NDArray[np.bool_]) -> None:
        if idle.any() and self._parameters.elo_activity_lambda:
            mean = self.points.mean(axis=0)
            self.points[idle] -= self._parameters.elo_activity_lambda * (self.points[idle] - mean)


def seed_of(group: str, dimension: str, seed: int) -> int:
    """A seed of its own for every group and dimension."""
    return int(content_hash(group, dimension, str(seed), length=12), 16)
