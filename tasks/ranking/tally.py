"""Counts matches: who was held against whom, and with what result. The same matches in any order give the same tally."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from schemas.identifiers import IdeaId
from schemas.ranking import Match, Winner

SHARE_OF_FIRST: Mapping[Winner, float] = {Winner.FIRST: 1.0, Winner.TIE: 0.5, Winner.SECOND: 0.0}


@dataclass(slots=True)
class _Counts:
    wins: float = 0.0
    losses: float = 0.0
    ties: int = 0
    unscored: int = 0


@dataclass(frozen=True)
class Tally:
    """Matches of one group along one dimension.

    Attributes:
        idea_ids: every idea of the group, sorted.
        left, right: places in `idea_ids` of the pairs with a scored match, left < right, sorted; shape (pairs,).
        left_wins, right_wins: a tie counts half to each; both orders of a pair add up.
        wins, losses, ties, unscored: per idea, in order of `idea_ids`.
    """

    idea_ids: tuple[IdeaId, ...]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    left_wins: NDArray[np.float64]
    right_wins: NDArray[np.float64]
    counts: tuple[_Counts, ...] = field(repr=False)

    @cached_property
    def played(self) -> NDArray[np.float64]:
        """Scored matches per pair."""
        return self.left_wins + self.right_wins

    @cached_property
    def islands(self) -> NDArray[np.intp]:
        """A number per idea; two ideas share it when a chain of scored matches joins them."""
        size = len(self.idea_ids)
        graph = coo_array((np.ones(len(self.left)), (self.left, self.right)), shape=(size, size))
        labels: NDArray[np.intp] = connected_components(graph, directed=False)[1].astype(np.intp)
        return labels

    @cached_property
    def has_score(self) -> NDArray[np.bool_]:
        """Whether the idea took part in a scored match."""
        found = np.zeros(len(self.idea_ids), dtype=np.bool_)
        found[self.left] = True
        found[self.right] = True
        return found


def tally(idea_ids: Sequence[IdeaId], matches: Iterable[Match]) -> Tally:
    """Count `matches`, all of one dimension. A match with an idea outside `idea_ids` is none of this group's and is left out."""
    ordered = tuple(sorted(set(idea_ids)))
    place = {idea_id: number for number, idea_id in enumerate(ordered)}
    counts = tuple(_Counts() for _ in ordered)
    pairs: dict[tuple[int, int], list[float]] = {}
    for match in matches:
        first, second = place.get(match.first_idea_id), place.get(match.second_idea_id)
        if first is None or second is None or first == second:
            continue
        _count(match, counts[first], counts[second])
        if match.winner is not None:
            share = SHARE_OF_FIRST[match.winner]
            won = pairs.setdefault((min(first, second), max(first, second)), [0.0, 0.0])
            won[0 if first < second else 1] += share
            won[1 if first < second else 0] += 1.0 - share
    keys = sorted(pairs)
    shares = np.array([pairs[key] for key in keys], dtype=np.float64).reshape(-1, 2)
    ends = np.array(keys, dtype=np.intp).reshape(-1, 2)
    return Tally(ordered, ends[:, 0], ends[:, 1], shares[:, 0], shares[:, 1], counts)


def _count(match: Match, first: _Counts, second: _Counts) -> None:
    if match.winner is None:
        first.unscored += 1
        second.unscored += 1
        return
    share = SHARE_OF_FIRST[match.winner]
    first.wins += share
    first.losses += 1 - share
    second.wins += 1 - share
    second.losses += share
    if match.winner is Winner.TIE:
        first.ties += 1
        second.ties += 1
