"""Counts of matches between ideas, independent of the order of matches."""

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

# Linear algebra of small groups runs on one thread: handing a matrix of 100 rows to two threads
# takes longer than the work itself.

ONE_THREAD_UP_TO = 600
"""Group size up to which one thread is used."""


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Limit linear algebra on a small group to one thread."""
    if size > ONE_THREAD_UP_TO:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


PRIOR_DEVIATION = 2.0
"""Prior deviation in log odds: two in three pairs have odds within 17 : 1.

Over several groups it applies within each group and to the group means.
"""
HUMAN = "human:"


def is_vote(match: Match) -> bool:
    """Return whether a person judged the match."""
    return match.judge.startswith(HUMAN)


@dataclass(frozen=True, slots=True)
class Event:
    """One judgement of one pair: both orders of a round, or one vote.

    Two orders ask nearly the same question twice, so they count as one observation with their
    mean; counted as two, intervals of nominally 95 % cover 84 %.

    Attributes:
        period: a round of the schedule, or after all rounds a day (UTC) with votes.
        left, right: places in the sorted group, left < right.
        left_share_0_to_1: share won by left; None if no order was scored.
    """

    period: tuple[bool, int, str]
    left: int
    right: int
    left_share_0_to_1: float | None


def events(idea_ids: Sequence[IdeaId], matches: Iterable[Match]) -> list[Event]:
    """Return the sorted events of matches of one dimension.

    The order is by period, time of a vote and pair.

    `idea_ids` are sorted and unique; matches with others are skipped.
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
        left_shares = shares.setdefault(
            (period, moment, min(first, second), max(first, second), name), []
        )
        share = match.first_share_0_to_1
        if share is not None:
            left_shares.append(share if first < second else 1.0 - share)
    return [
        Event(period, left, right, sum(left_shares) / len(left_shares) if left_shares else None)
        for (period, _, left, right, _), left_shares in sorted(shares.items())
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
        left_wins, right_wins: sums of event shares.
        counts: wins, losses, ties and unscored matches per idea, in order of `idea_ids`.
        prior: strength expected of each idea before any match, mean 0; shape (ideas,).
        group_numbers: group number per idea; None for a single group.
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
    def event_counts(self) -> NDArray[np.float64]:
        """Return the scored events per pair."""
        return self.left_wins + self.right_wins

    @cached_property
    def prior_precision(self) -> csr_array:
        """Return the inverse covariance of the prior strengths, shape (ideas, ideas).

        Over several groups a strength is its group's mean plus a deviation. With independent
        strengths the mean of a group of 40 would be certain to be near 0 before the group met any
        other, and a few such matches could not move it.
        """
        size = len(self.idea_ids)
        within = diags_array(np.full(size, 1.0 / PRIOR_DEVIATION**2)).tocsr()
        if self.group_numbers is None:
            return within
        sizes = np.bincount(self.group_numbers)[self.group_numbers]
        membership_weights = np.sqrt(1.0 / (PRIOR_DEVIATION**2 * (1.0 + sizes)))
        membership = coo_array((membership_weights, (np.arange(size), self.group_numbers))).tocsr()
        return (within - membership @ membership.T).tocsr()

    @cached_property
    def islands(self) -> NDArray[np.intp]:
        """Return a number per idea, shared by ideas that a chain of scored matches joins."""
        size = len(self.idea_ids)
        graph = coo_array((np.ones(len(self.left)), (self.left, self.right)), shape=(size, size))
        labels: NDArray[np.intp] = connected_components(graph, directed=False)[1].astype(np.intp)
        return labels

    @cached_property
    def has_score(self) -> NDArray[np.bool_]:
        """Return whether the idea took part in a scored match."""
        scored_ideas = np.zeros(len(self.idea_ids), dtype=np.bool_)
        scored_ideas[self.left] = True
        scored_ideas[self.right] = True
        return scored_ideas


def tally(
    idea_ids: Sequence[IdeaId],
    matches: Iterable[Match],
    prior: Mapping[IdeaId, float] | None = None,
    group_of: Mapping[IdeaId, str] | None = None,
) -> Tally:
    """Count `matches`, all of one dimension.

    Matches with ideas outside `idea_ids` are skipped.

    Args:
        prior: log odds by idea; ideas without one are expected to equal the mean of the others.
        group_of: group of each idea, if there are several.
    """
    ordered_ids = tuple(sorted(set(idea_ids)))
    place = {idea_id: number for number, idea_id in enumerate(ordered_ids)}
    matches_of_group = [
        match
        for match in matches
        if match.first_idea_id in place
        and match.second_idea_id in place
        and match.first_idea_id != match.second_idea_id
    ]
    counts = tuple(_Counts() for _ in ordered_ids)
    for match in matches_of_group:
        _count(match, counts[place[match.first_idea_id]], counts[place[match.second_idea_id]])
    pairs: dict[tuple[int, int], list[float]] = {}
    for event in events(ordered_ids, matches_of_group):
        if event.left_share_0_to_1 is not None:
            shares_of_pair = pairs.setdefault((event.left, event.right), [0.0, 0.0])
            shares_of_pair[0] += event.left_share_0_to_1
            shares_of_pair[1] += 1.0 - event.left_share_0_to_1
    keys = sorted(pairs)
    shares = np.array([pairs[key] for key in keys], dtype=np.float64).reshape(-1, 2)
    ends = np.array(keys, dtype=np.intp).reshape(-1, 2)
    prior_of = {name: (prior or {})[name] for name in ordered_ids if name in (prior or {})}
    mean = sum(prior_of.values()) / len(prior_of) if prior_of else 0.0
    prior_strengths = np.array(
        [prior_of.get(idea_id, mean) - mean for idea_id in ordered_ids], dtype=np.float64
    )
    numbers = (
        np.unique([group_of[idea_id] for idea_id in ordered_ids], return_inverse=True)[1]
        if group_of is not None
        else None
    )
    return Tally(
        ordered_ids,
        ends[:, 0],
        ends[:, 1],
        shares[:, 0],
        shares[:, 1],
        counts,
        prior_strengths,
        numbers,
    )


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
