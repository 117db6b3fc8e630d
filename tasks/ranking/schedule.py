"""Schedules of pairs: round robin in small groups, informative pairs in large ones.

A schedule is a function of the seed and of the results so far, so an interrupted one resumes
without a difference.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId
from schemas.profile import RankingParameters
from tasks.ranking.strengths import Fit, draw_strengths, fit
from tasks.ranking.tally import Tally

ROUND_ROBIN = "round_robin"
ADAPTIVE = "adaptive"
FIXED = "fixed"
SETTLED_SHARE = 0.9
"""Expected share of correct leaders from which they are settled."""
MINIMUM_PAIRS = 4
"""Pairs that every idea plays at least."""
OUT_OF_THE_RUNNING = 0.01
"""Probability of leading below which, or above one minus which, an idea is decided."""
DRAWS = 400
"""Draws from the posterior; probabilities have a standard error of 0.025 at most."""

NameT = TypeVar("NameT", bound=str)
Pair = tuple[IdeaId, IdeaId]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Round:
    """Pairs of one round; without pairs the schedule has ended."""

    pairs: tuple[Pair, ...]
    ended_because: str = ""


def kind_of(size: int, parameters: RankingParameters, *, beforehand: bool = False) -> str:
    """Return the kind of schedule. `beforehand`: pairs must not depend on results."""
    if size <= parameters.round_robin_limit:
        return ROUND_ROBIN
    return FIXED if beforehand else ADAPTIVE


def leaders(size: int, parameters: RankingParameters) -> int:
    """Return the number of leaders to settle.

    It is `stable_top`, or the better half of a small group.
    """
    return min(parameters.stable_top, (size + 1) // 2)


def round_robin(
    names: tuple[NameT, ...], seed: int, most: int | None = None
) -> tuple[tuple[tuple[NameT, NameT], ...], ...]:
    """Return rounds in which everyone plays at most once (circle method).

    Together they contain every pair once. Any two consecutive rounds connect all players.

    Args:
        most: number of rounds to return.
    """
    players: list[NameT | None] = list(_shuffled(names, seed))
    if len(players) % 2:
        players.append(None)
    rounds: list[tuple[tuple[NameT, NameT], ...]] = []
    count = len(players) - 1
    for _ in range(count if most is None else min(most, count)):
        half = len(players) // 2
        facing = zip(players[:half], reversed(players[half:]), strict=True)
        rounds.append(
            tuple(
                (first, second)
                for first, second in facing
                if first is not None and second is not None
            )
        )
        players.insert(1, players.pop())
    return tuple(one for one in rounds if one)


def next_round(
    number: int,
    results: Tally,
    pairs_so_far: frozenset[Pair],
    parameters: RankingParameters,
    seed: int,
) -> Round:
    """Return round `number` (from 1) of an adaptive schedule.

    Rounds 1 and 2 form a ring in a random order, which connects all ideas. Later, each idea that may
    still gain or lose a place among the leaders meets the new opponent of the most informative
    match: similar strength, uncertain, and undecided too. The schedule ends when the leaders are
    settled or all undecided ideas have played `matches_per_idea` pairs.

    Args:
        results: scored matches of the whole group along the deciding dimension.
        asked: pairs so far, scored or not, each as (smaller id, larger id).
    """
    if number <= 2:
        players = _shuffled(results.idea_ids, seed)
        size = len(players)
        ring = [
            (players[place], players[(place + 1) % size]) for place in range(number - 1, size, 2)
        ]
        return Round(
            tuple(pair for pair in ring if pair[0] != pair[1] and _key(pair) not in pairs_so_far)
        )
    posterior = fit(results)
    draws = draw_strengths(results, posterior, DRAWS, seed)
    top = leaders(len(results.idea_ids), parameters)
    leading = chance_of_leading(draws, top)
    if number > MINIMUM_PAIRS and settled_share(leading, top) >= SETTLED_SHARE:
        return Round(
            (), f"the best {top} are settled: {SETTLED_SHARE:.0%} of them are expected to stay"
        )
    pair_limit = parameters.matches_per_idea
    pairs = _most_informative(results, posterior, draws, leading, pairs_so_far, pair_limit)
    end_reason = "" if pairs else f"every idea in the running has played its {pair_limit} pairs"
    return Round(pairs, end_reason)


def most_bridges(group_count: int, parameters: RankingParameters) -> int:
    """Return the most pairs between groups."""
    return group_count // 2 * parameters.bridge_pairs


def next_bridges(
    number: int,
    results: Tally,
    group_of: Mapping[IdeaId, str],
    pairs_so_far: frozenset[Pair],
    parameters: RankingParameters,
    seed: int,
) -> Round:
    """Return round `number` (from 1) of pairs between groups, one per group at most.

    Groups meet in a repeated round robin. Two groups play the pair that narrows the difference of
    their means most. The schedule ends when the leaders over all groups are settled, or every group
    has played `bridge_pairs` pairs.

    Args:
        results: scored matches within and between groups, tallied over several groups.
        asked: pairs between groups so far, each as (smaller id, larger id).
    """
    if number > parameters.bridge_pairs:
        return Round((), f"every group has played its {parameters.bridge_pairs} pairs with others")
    draws = draw_strengths(results, fit(results), DRAWS, seed)
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
    pairs = (
        _bridge(draws, members[one], members[other], results.idea_ids, pairs_so_far)
        for one, other in meetings[(number - 1) % len(meetings)]
    )
    return Round(tuple(pair for pair in pairs if pair is not None))


def _bridge(
    draws: NDArray[np.float64],
    one: list[int],
    other: list[int],
    idea_ids: tuple[IdeaId, ...],
    pairs_so_far: frozenset[Pair],
) -> Pair | None:
    """Return the new pair that narrows the difference of two groups most.

    It minimizes the variance of the groups' mean difference. None if no pair is left.
    """
    left, right = (draws[:, places] - draws[:, places].mean(axis=0) for places in (one, other))
    mean_differences = left.mean(axis=1) - right.mean(axis=1)
    covariance = (mean_differences @ left)[:, None] - (mean_differences @ right)[None, :]
    variance = (left**2).sum(axis=0)[:, None] + (right**2).sum(axis=0)[None, :]
    variance = variance - 2 * left.T @ right
    gap = draws[:, one].mean(axis=0)[:, None] - draws[:, other].mean(axis=0)[None, :]
    information = 0.25 / np.cosh(0.5 * gap) ** 2
    count = len(draws)
    narrowing = (covariance / count) ** 2 * information / (1.0 + information * variance / count)
    for number in np.argsort(-narrowing, axis=None, kind="stable"):
        place, opposite = divmod(int(number), len(other))
        pair = (idea_ids[one[place]], idea_ids[other[opposite]])
        if _key(pair) not in pairs_so_far:
            return pair
    return None


def chance_of_leading(draws: NDArray[np.float64], top: int) -> Vector:
    """Return each idea's probability of being among the `top` strongest: its share of draws."""
    count, size = draws.shape
    if top >= size:
        return np.ones(size)
    leading = np.argpartition(-draws, top - 1, axis=1)[:, :top]
    return np.asarray(np.bincount(leading.ravel(), minlength=size) / count)


def settled_share(leading: Vector, top: int) -> float:
    """Return the expected share of current leaders that are true leaders."""
    top = min(top, len(leading))
    return float(np.sort(leading)[::-1][:top].mean())


def _most_informative(
    results: Tally,
    posterior: Fit,
    draws: NDArray[np.float64],
    leading: Vector,
    pairs_so_far: frozenset[Pair],
    most_pairs: int,
) -> tuple[Pair, ...]:
    """Pair each idea at most once.

    The most undecided ideas choose first; ties are ordered by place.
    """
    ids = results.idea_ids
    place = {idea_id: number for number, idea_id in enumerate(ids)}
    opponents: list[list[int]] = [[] for _ in ids]
    for first, second in pairs_so_far:
        opponents[place[first]].append(place[second])
        opponents[place[second]].append(place[first])
    pair_counts = np.array([len(others) for others in opponents])
    openness = np.minimum(leading, 1.0 - leading)
    free = (pair_counts < most_pairs) & (
        (openness > OUT_OF_THE_RUNNING) | (pair_counts < MINIMUM_PAIRS)
    )
    available = pair_counts < most_pairs
    pairs: list[Pair] = []
    for number in np.lexsort(
        (np.arange(len(ids)), -openness, np.minimum(pair_counts, MINIMUM_PAIRS))
    ):
        if not (free[number] and available[number]):
            continue
        available[number] = False
        # Information of a match: p (1 - p) × variance of the difference. An undecided opponent
        # counts more.
        gap = posterior.strengths - posterior.strengths[number]
        variance = (draws - draws[:, number, None]).var(axis=0)
        information = variance * (0.1 + openness) / np.cosh(0.5 * gap) ** 2
        value = np.where(available, information, -math.inf)
        value[opponents[number]] = -math.inf
        other = int(np.argmax(value))
        if value[other] > -math.inf:
            available[other] = False
            pairs.append((ids[number], ids[other]))
    return tuple(pairs)


def _shuffled(names: tuple[NameT, ...], seed: int) -> tuple[NameT, ...]:
    ordered_names = sorted(names)
    return tuple(
        ordered_names[place]
        for place in np.random.default_rng([seed, len(ordered_names)]).permutation(
            len(ordered_names)
        )
    )


def _key(pair: Pair) -> Pair:
    return (pair[0], pair[1]) if pair[0] < pair[1] else (pair[1], pair[0])
