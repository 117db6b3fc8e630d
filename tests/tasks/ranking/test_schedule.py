"""Schedules: every pair once in small groups, few and telling pairs in large ones."""

import random
from itertools import combinations

import numpy as np
import pytest

from schemas.judgement.ranking import Match, Winner
from tasks.ranking.schedule import (
    ADAPTIVE,
    FIXED,
    ROUND_ROBIN,
    kind_of,
    most_bridges,
    next_bridges,
    next_round,
    round_robin,
)
from tasks.ranking.strengths import fit
from tasks.ranking.tally import tally
from tests.support.ranking_fakes import match, parameters


def names(size: int) -> tuple[str, ...]:
    return tuple(f"{number:03d}" for number in range(size))


def played(size: int, noise: float, seed: int, **changes: int) -> tuple[list[Match], str, int]:
    """All matches of an adaptive schedule whose judge prefers the higher name, wrong with
    probability `noise`.
    """
    chance = random.Random(seed)
    found: list[Match] = []
    asked: set[tuple[str, str]] = set()
    for number in range(1, 200):
        turn = next_round(
            number, tally(names(size), found), frozenset(asked), parameters(**changes), seed
        )  # type: ignore[arg-type]
        for one, other in turn.pairs:
            asked.add((min(one, other), max(one, other)))
            for first, second in ((one, other), (other, one)):
                right = (first > second) != (chance.random() < noise)
                found.append(match(first, second, Winner.FIRST if right else Winner.SECOND, number))
        if turn.ended_because:
            return found, turn.ended_because, len(asked)
    raise AssertionError("the schedule never ended")


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8])
def test_a_round_robin_holds_every_pair_once_and_everyone_once_a_round(size: int) -> None:
    rounds = round_robin(names(size), seed=3)  # type: ignore[arg-type]
    pairs = [tuple(sorted(pair)) for one in rounds for pair in one]
    assert sorted(pairs) == list(combinations(names(size), 2))
    for one in rounds:
        players = [player for pair in one for player in pair]
        assert len(set(players)) == len(players)


def test_the_profile_says_from_which_size_a_group_is_scheduled() -> None:
    limited = parameters(round_robin_limit=8)
    assert kind_of(8, limited) == kind_of(8, limited, beforehand=True) == ROUND_ROBIN
    assert kind_of(9, limited) == ADAPTIVE
    assert kind_of(9, limited, beforehand=True) == FIXED


@pytest.mark.parametrize("size", [9, 10, 33])
@pytest.mark.parametrize("most", [2, 5])
def test_the_first_rounds_of_a_round_robin_join_everyone(size: int, most: int) -> None:
    rounds = round_robin(names(size), 3, most)  # type: ignore[arg-type]
    assert rounds == round_robin(names(size), 3)[:most]  # type: ignore[arg-type]
    found = [match(first, second, Winner.FIRST) for one in rounds for first, second in one]
    assert set(tally(names(size), found).islands.tolist()) == {0}  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [9, 10, 33])
def test_an_adaptive_schedule_keeps_its_budget_joins_everyone_and_asks_no_pair_twice(
    size: int,
) -> None:
    found, _, pair_count = played(size, 0.2, 1, matches_per_idea=6)
    assert len(found) == 2 * pair_count
    assert set(tally(names(size), found).islands.tolist()) == {0}
    for name in names(size):
        assert sum(name in (one.first_idea_id, one.second_idea_id) for one in found) <= 2 * 6


def test_a_clear_lead_ends_the_schedule_early() -> None:
    _, why, pair_count = played(60, 0.0, 2, matches_per_idea=59)
    assert why.startswith("the best 10 are settled")
    assert pair_count < 60 * 59 / 2 / 5


def test_few_matches_find_the_leaders_of_a_noisy_judge() -> None:
    hits = []
    for seed in range(2):
        found, _, pair_count = played(60, 0.2, seed, matches_per_idea=24)
        strengths = fit(tally(names(60), found)).strengths
        hits.append(len(set(np.argsort(-strengths)[:10]) & set(range(50, 60))))
        assert pair_count < 60 * 59 / 2 / 3
    assert np.mean(hits) >= 7


def bridged(group_count: int, size: int, **changes: int) -> tuple[list[Match], list[Match], str]:
    """Matches within groups and between, by a judge who prefers the higher name."""
    group_of = {f"{number:03d}": f"g{number // size}" for number in range(group_count * size)}
    within = [
        match(first, second, Winner.SECOND)
        for first, second in combinations(group_of, 2)
        if group_of[first] == group_of[second]
    ]
    between: list[Match] = []
    asked: set[tuple[str, str]] = set()
    for number in range(1, 200):
        counted = tally(tuple(group_of), [*within, *between], group_of=group_of)  # type: ignore[arg-type]
        turn = next_bridges(number, counted, group_of, frozenset(asked), parameters(**changes), 3)  # type: ignore[arg-type]
        if turn.ended_because:
            return within, between, turn.ended_because
        playing = [group_of[idea_id] for pair in turn.pairs for idea_id in pair]
        assert len(set(playing)) == len(playing), "a group plays once a round"
        for one, other in turn.pairs:
            first, second = sorted((one, other))
            assert (first, second) not in asked
            asked.add((first, second))
            between.append(match(first, second, Winner.SECOND, number))
    raise AssertionError("the schedule never ended")


@pytest.mark.parametrize("group_count", range(2, 12))
def test_two_rounds_of_bridges_join_all_groups(group_count: int) -> None:
    within, between, why = bridged(group_count, 2, bridge_pairs=2)
    ids = tuple(f"{number:03d}" for number in range(2 * group_count))
    assert set(tally(ids, [*within, *between]).islands.tolist()) == {0}  # type: ignore[arg-type]
    assert why == "every group has played its 2 pairs with others"


def test_bridges_are_no_more_than_were_announced_and_end_with_the_pairs_there_are() -> None:
    _, between, _ = bridged(5, 3, bridge_pairs=4)
    assert 0 < len(between) <= most_bridges(5, parameters(bridge_pairs=4)) == 8
    _, only, _ = bridged(2, 1, bridge_pairs=4)
    assert len(only) == 1, "two ideas meet once"


def test_bridges_end_early_when_the_best_of_all_groups_are_settled() -> None:
    _, between, why = bridged(2, 20, bridge_pairs=150, stable_top=20)
    assert why.startswith("the best 20 of all groups are settled")
    assert len(between) < 150
