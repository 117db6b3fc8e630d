"""Which pairs to ask next: everyone against everyone in small groups, in large ones the pairs that
tell most about who leads.

A schedule is a function of the seed and of the results so far, so an interrupted one goes on as if
it had never stopped.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId
from schemas.profile import RankingParameters
from tasks.ranking.strengths import Fit, drawn_strengths, fit
from tasks.ranking.tally import Tally

ROUND_ROBIN = "round_robin"
ADAPTIVE = "adaptive"
FIXED = "fixed"
SETTLED_SHARE = 0.9
"""The leaders are settled when so much of them is expected to be right."""
MINIMUM_PAIRS = 4
"""Pairs every idea plays before it may be left alone."""
OUT_OF_THE_RUNNING = 0.01
"""Probability of being a leader below which, and above one minus which, nothing is left to decide.
"""
DRAWS = 400
"""From the posterior; probabilities have a standard error of 0.025 at most."""

NameT = TypeVar("NameT", bound=str)
Pair = tuple[IdeaId, IdeaId]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Round:
    """Pairs to ask at once; none of them: the schedule has ended, and why."""

    pairs: tuple[Pair, ...]
    ended_because: str = ""


def kind_of(size: int, parameters: RankingParameters, *, beforehand: bool = False) -> str:
    """`round_robin` up to the profile's limit. `beforehand`: no pair may wait for results."""
    if size <= parameters.round_robin_limit:
        return ROUND_ROBIN
    return FIXED if beforehand else ADAPTIVE


def leaders(size: int, parameters: RankingParameters) -> int:
    """Return how many leaders the schedule is to settle: `stable_top`, in small groups the better
    half.
    """
    return min(parameters.stable_top, (size + 1) // 2)


def round_robin(
    names: tuple[NameT, ...], seed: int, most: int | None = None
) -> tuple[tuple[tuple[NameT, NameT], ...], ...]:
    """Rounds in which everyone plays at most once (circle method); together every pair exactly
    once. Any two rounds that follow each other join everyone by a chain of pairs.

    Args:
        most: rounds, the first of them.
    """
    players: list[NameT | None] = list(_shuffled(names, seed))
    if len(players) % 2:
        players.append(None)
    rounds: list[tuple[tuple[NameT, NameT], ...]] = []
    count = len(players) - 1
    for _ in range(count if most is None else min(most, count)):
        half = len(players) // 2
        met = zip(players[:half], reversed(players[half:]), strict=True)
        rounds.append(
            tuple(
                (first, second) for first, second in met if first is not None and second is not None
            )
        )
        players.insert(1, players.pop())
    return tuple(one for one in rounds if one)


def next_round(
    number: int, results: Tally, asked: frozenset[Pair], parameters: RankingParameters, seed: int
) -> Round:
    """Round `number` (from 1) of an adaptive schedule.

    Rounds 1 and 2 lay a ring through the group in a random order, so that a chain of matches joins
    everyone. From then on each idea that may still gain or lose a place among the leaders meets the
    new opponent whose match promises most: near in strength, uncertain, and in the running too.
    Ends when the leaders are settled or everyone in the running has played `matches_per_idea`
    pairs.

    Args:
        results: scored matches so far, of the whole group, along the dimension that decides.
        asked: pairs asked so far, scored or not, each as (smaller id, larger id).
    """
    if number <= 2:
        return Round(
            tuple(
                pair
                for pair in _ring(_shuffled(results.idea_ids, seed), number)
                if _key(pair) not in asked
            )
        )
    fitted = fit(results)
    draws = drawn_strengths(results, fitted, DRAWS, seed)
    top = leaders(len(results.idea_ids), parameters)
    leading = chance_of_leading(draws, top)
    if number > MINIMUM_PAIRS and settled_share(leading, top) >= SETTLED_SHARE:
        return Round(
            (), f"the best {top} are settled: {SETTLED_SHARE:.0%} of them are expected to stay"
        )
    pairs = _most_telling(
        _State(results, fitted, draws, leading, asked), parameters.matches_per_idea
    )
    return Round(
        pairs,
        (
            ""
            if pairs
            else f"every idea in the running has played its {parameters.matches_per_idea} pairs"
        ),
    )


def most_bridges(group_count: int, parameters: RankingParameters) -> int:
    """Pairs between groups, at most."""
    return group_count // 2 * parameters.bridge_pairs


def next_bridges(
    number: int,
    results: Tally,
    group_of: Mapping[IdeaId, str],
    asked: frozenset[Pair],
    parameters: RankingParameters,
    seed: int,
) -> Round:
    """Round `number` (from 1) of pairs between groups, each of which plays at most one.

    The groups meet as in a round robin, over again when all have met. For two groups that meet, the
    pair is asked that narrows the difference of their means most. Ends when the leaders of all
    groups together are settled, or every group has played `bridge_pairs` pairs.

    Args:
        results: scored matches so far, within groups and between, tallied over several groups.
        asked: pairs between groups asked so far, each as (smaller id, larger id).
    """
    if number > parameters.bridge_pairs:
        return Round((), f"every group has played its {parameters.bridge_pairs} pairs with others")
    draws = drawn_strengths(results, fit(results), DRAWS, seed)
    top = leaders(len(results.idea_ids), parameters)
    share = settled_share(chance_of_leading(draws, top), top)
    if number > MINIMUM_PAIRS and share >= SETTLED_SHARE:
        return Round(
            (),
            f"the best {top} of all groups are settled: {SETTLED_SHARE:.0%} of them are expected to"
            " stay",
        )
    members: dict[str, list[int]] = {}
    for place, idea_id in enumerate(results.idea_ids):
        members.setdefault(group_of[idea_id], []).append(place)
    meetings = round_robin(tuple(members), seed)
    found = (
        _bridge(draws, members[one], members[other], results.idea_ids, asked)
        for one, other in meetings[(number - 1) % len(meetings)]
    )
    return Round(tuple(pair for pair in found if pair is not None))


def _bridge(
    draws: NDArray[np.float64],
    one: list[int],
    other: list[int],
    idea_ids: tuple[IdeaId, ...],
    asked: frozenset[Pair],
) -> Pair | None:
    """The pair of an idea of each group that tells most about how far their means are apart: by
    how much it narrows the variance of that difference. None when every pair was asked.
    """
    left, right = (draws[:, places] - draws[:, places].mean(axis=0) for places in (one, other))
    apart = left.mean(axis=1) - right.mean(axis=1)
    shared = (apart @ left)[:, None] - (apart @ right)[None, :]
    variance = (left**2).sum(axis=0)[:, None] + (right**2).sum(axis=0)[None, :]
    variance = variance - 2 * left.T @ right
    gap = draws[:, one].mean(axis=0)[:, None] - draws[:, other].mean(axis=0)[None, :]
    information = 0.25 / np.cosh(0.5 * gap) ** 2
    count = len(draws)
    narrowed = (shared / count) ** 2 * information / (1.0 + information * variance / count)
    for number in np.argsort(-narrowed, axis=None, kind="stable"):
        place, opposite = divmod(int(number), len(other))
        pair = (idea_ids[one[place]], idea_ids[other[opposite]])
        if _key(pair) not in asked:
            return pair
    return None


def chance_of_leading(draws: NDArray[np.float64], top: int) -> Vector:
    """Probability of each idea to be among the `top` strongest: its share of the draws."""
    count, size = draws.shape
    if top >= size:
        return np.ones(size)
    leading = np.argpartition(-draws, top - 1, axis=1)[:, :top]
    return np.asarray(np.bincount(leading.ravel(), minlength=size) / count)


def settled_share(leading: Vector, top: int) -> float:
    """Expected share of the present leaders that are leaders in truth."""
    top = min(top, len(leading))
    return float(np.sort(leading)[::-1][:top].mean())


@dataclass(frozen=True, slots=True)
class _State:
    results: Tally
    fitted: Fit
    draws: NDArray[np.float64]
    leading: Vector
    asked: frozenset[Pair]


def _most_telling(state: _State, most_pairs: int) -> tuple[Pair, ...]:
    """Each idea at most once: those whose place is most open choose first, ties by place in the
    sorted group.
    """
    ids = state.results.idea_ids
    place = {idea_id: number for number, idea_id in enumerate(ids)}
    met: list[list[int]] = [[] for _ in ids]
    for first, second in state.asked:
        met[place[first]].append(place[second])
        met[place[second]].append(place[first])
    played = np.array([len(others) for others in met])
    openness = np.minimum(state.leading, 1.0 - state.leading)
    free = (played < most_pairs) & ((openness > OUT_OF_THE_RUNNING) | (played < MINIMUM_PAIRS))
    available = played < most_pairs
    found: list[Pair] = []
    for number in np.lexsort((np.arange(len(ids)), -openness, np.minimum(played, MINIMUM_PAIRS))):
        if not (free[number] and available[number]):
            continue
        available[number] = False
        value = np.where(available, _promise(state, int(number), openness), -math.inf)
        value[met[number]] = -math.inf
        other = int(np.argmax(value))
        if value[other] > -math.inf:
            available[other] = False
            found.append((ids[number], ids[other]))
    return tuple(found)


def _promise(state: _State, number: int, openness: Vector) -> Vector:
    """Information of a match with each idea: p (1 - p) times the variance of the difference.

    More where the other's place is open too.
    """
    gap = state.fitted.strengths - state.fitted.strengths[number]
    variance = (state.draws - state.draws[:, number, None]).var(axis=0)
    return np.asarray(variance * (0.1 + openness) / np.cosh(0.5 * gap) ** 2)


def _ring(players: tuple[IdeaId, ...], number: int) -> list[Pair]:
    start = number - 1
    size = len(players)
    return [
        (players[place], players[(place + 1) % size])
        for place in range(start, size, 2)
        if players[place] != players[(place + 1) % size]
    ]


def _shuffled(names: tuple[NameT, ...], seed: int) -> tuple[NameT, ...]:
    ordered = sorted(names)
    return tuple(
        ordered[place]
        for place in np.random.default_rng([seed, len(ordered)]).permutation(len(ordered))
    )


def _key(pair: Pair) -> Pair:
    return (pair[0], pair[1]) if pair[0] < pair[1] else (pair[1], pair[0])
