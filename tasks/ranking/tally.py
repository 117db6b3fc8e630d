"""Counts matches: who was held against whom, and with what result.

The same matches in any order give the same tally.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from threadpoolctl import ThreadpoolController

from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Winner

# Keeps linear algebra of small groups on one thread: handing a matrix of 100 rows to two takes
# longer than the work itself.

ONE_THREAD_UP_TO = 600
"""Ideas."""


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Within, linear algebra about a group of `size` ideas runs on one thread where more would only
    get in each other's way.
    """
    if size > ONE_THREAD_UP_TO:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


PRIOR_DEVIATION = 2.0
"""In log-odds: before any match, two in three pairs are thought to stand within odds of 17 : 1.
Over several groups it is the deviation within each, and that of their means as well.
"""
HUMAN = "human:"


def is_vote(match: Match) -> bool:
    """Return whether a person judged it."""
    return match.judge.startswith(HUMAN)


@dataclass(frozen=True, slots=True)
class Event:
    """One judgement of one pair: both orders of a round, or one vote.

    A judge asked in both orders answers nearly the same question twice, so the two answers are one
    observation, their mean; counted as two, intervals called 95 % cover 84 %.

    Attributes:
        period: a round of the schedule, or after all of them a day (UTC) with votes.
        left, right: places in the sorted group, left < right.
        left_share_0_to_1: what left won; None when no order was scored.
    """

    period: tuple[bool, int, str]
    left: int
    right: int
    left_share_0_to_1: float | None


def events(idea_ids: Sequence[IdeaId], matches: Iterable[Match]) -> list[Event]:
    """The events of `matches`, all of one dimension, in order of period, moment of a vote, and
    pair.

    `idea_ids` are sorted and unique; matches with others are left out.
    """
    place = {idea_id: number for number, idea_id in enumerate(idea_ids)}
    shares: dict[tuple[tuple[bool, int, str], str, int, int, str], list[float]] = {}
    for match in matches:
        first, second = place.get(match.first_idea_id), place.get(match.second_idea_id)
        if first is None or second is None or first == second:
            continue
        vote = is_vote(match)
        day = match.created_at.date().isoformat()
        period = (True, 0, day) if vote else (False, match.round, "")
        moment, name = (match.created_at.isoformat(), match.match_id) if vote else ("", "")
        won = shares.setdefault((period, moment, min(first, second), max(first, second), name), [])
        share = match.first_share_0_to_1
        if share is not None:
            won.append(share if first < second else 1.0 - share)
    return [
        Event(period, left, right, sum(won) / len(won) if won else None)
        for (period, _, left, right, _), won in sorted(shares.items())
    ]


@dataclass(slots=True)
class _Counts:
    wins: int = 0
    losses: int = 0
    ties: int = 0
    unscored: int = 0


@dataclass(frozen=True)
class Tally:
    """Matches of one group along one dimension.

    Attributes:
        idea_ids: every idea of the group, sorted.
        left, right: places in `idea_ids` of the pairs with a scored match, left < right, sorted;
            shape (pairs,).
        left_wins, right_wins: shares of the events between the two, added up.
        wins, losses, ties, unscored: per idea, in order of `idea_ids`.
        prior: strength expected of each idea before any match, mean 0; shape (ideas,).
        group_numbers: a number per idea of a tally over several groups; None: all are of one.
    """

    idea_ids: tuple[IdeaId, ...]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    left_wins: NDArray[np.float64]
    right_wins: NDArray[np.float64]
    counts: tuple[_Counts, ...] = field(repr=False)
    prior: NDArray[np.float64]
    group_numbers: NDArray[np.intp] | None = None

    @cached_property
    def played(self) -> NDArray[np.float64]:
        """Scored events per pair."""
        return self.left_wins + self.right_wins

    @cached_property
    def prior_precision(self) -> csr_array:
        """Inverse covariance of the strengths before any match, shape (ideas, ideas).

        Over several groups each strength is its group's mean and what sets it apart from that. Were
        all drawn alike, the mean of a group of 40 would be sure to lie near 0 before it met any
        other group, and a few such matches could not move it.
        """
        size = len(self.idea_ids)
        own = diags_array(np.full(size, 1.0 / PRIOR_DEVIATION**2)).tocsr()
        if self.group_numbers is None:
            return own
        sizes = np.bincount(self.group_numbers)[self.group_numbers]
        shared = np.sqrt(1.0 / (PRIOR_DEVIATION**2 * (1.0 + sizes)))
        member = coo_array((shared, (np.arange(size), self.group_numbers))).tocsr()
        return (own - member @ member.T).tocsr()

    @cached_property
    def islands(self) -> NDArray[np.intp]:
        """A number per idea; two ideas share it when a chain of scored matches joins them."""
        size = len(self.idea_ids)
        graph = coo_array((np.ones(len(self.left)), (self.left, self.right)), shape=(size, size))
        labels: NDArray[np.intp] = connected_components(graph, directed=False)[1].astype(np.intp)
        return labels

    @cached_property
    def has_score(self) -> NDArray[np.bool_]:
        """Return whether the idea took part in a scored match."""
        found = np.zeros(len(self.idea_ids), dtype=np.bool_)
        found[self.left] = True
        found[self.right] = True
        return found


def tally(
    idea_ids: Sequence[IdeaId],
    matches: Iterable[Match],
    prior: Mapping[IdeaId, float] | None = None,
    group_of: Mapping[IdeaId, str] | None = None,
) -> Tally:
    """Count `matches`, all of one dimension. `prior`: log odds by idea; those it lacks are expected
    to be as good as the mean of the others. `group_of`: where the ideas are of several groups.

    A match with an idea outside `idea_ids` is none of this group's and is left out.
    """
    ordered = tuple(sorted(set(idea_ids)))
    place = {idea_id: number for number, idea_id in enumerate(ordered)}
    own = [
        match
        for match in matches
        if match.first_idea_id in place
        and match.second_idea_id in place
        and match.first_idea_id != match.second_idea_id
    ]
    counts = tuple(_Counts() for _ in ordered)
    for match in own:
        _count(match, counts[place[match.first_idea_id]], counts[place[match.second_idea_id]])
    pairs: dict[tuple[int, int], list[float]] = {}
    for event in events(ordered, own):
        if event.left_share_0_to_1 is not None:
            won = pairs.setdefault((event.left, event.right), [0.0, 0.0])
            won[0] += event.left_share_0_to_1
            won[1] += 1.0 - event.left_share_0_to_1
    keys = sorted(pairs)
    shares = np.array([pairs[key] for key in keys], dtype=np.float64).reshape(-1, 2)
    ends = np.array(keys, dtype=np.intp).reshape(-1, 2)
    expected = _centred(ordered, prior or {})
    numbers = (
        np.unique([group_of[idea_id] for idea_id in ordered], return_inverse=True)[1]
        if group_of is not None
        else None
    )
    return Tally(
        ordered, ends[:, 0], ends[:, 1], shares[:, 0], shares[:, 1], counts, expected, numbers
    )


def _centred(idea_ids: Sequence[IdeaId], prior: Mapping[IdeaId, float]) -> NDArray[np.float64]:
    known = [prior[idea_id] for idea_id in idea_ids if idea_id in prior]
    mean = sum(known) / len(known) if known else 0.0
    return np.array([prior.get(idea_id, mean) - mean for idea_id in idea_ids], dtype=np.float64)


def _count(match: Match, first: _Counts, second: _Counts) -> None:
    if match.winner is None:
        first.unscored += 1
        second.unscored += 1
    elif match.winner is Winner.TIE:
        first.ties += 1
        second.ties += 1
    else:
        winner, loser = (first, second) if match.winner is Winner.FIRST else (second, first)
        winner.wins += 1
        loser.losses += 1
