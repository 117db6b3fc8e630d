"""What holds for every rating, whatever the matches."""

import random
from itertools import combinations
from typing import Any

import choix
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.judgement.ranking import Match, Rating, RatingMethod, Winner
from tasks.ranking.rating import rate, rate_across
from tasks.ranking.strengths import fit
from tasks.ranking.tally import PRIOR_DEVIATION, tally
from tests.support.ranking_fakes import match, matches

IDEAS = ["a", "b", "c", "d", "e", "f"]
results = st.lists(
    st.tuples(
        st.sampled_from(IDEAS), st.sampled_from(IDEAS), st.sampled_from([*Winner, None])
    ).filter(lambda one: one[0] != one[1]),
    max_size=40,
)


def rated(
    played: list[Match], ideas: list[str] = IDEAS, method: RatingMethod = RatingMethod.BRADLEY_TERRY
) -> dict[str, Rating]:
    with_votes = method is RatingMethod.ELO  # else replays that nobody reads
    found: Any = rate("g", ideas, played, "overall", seed=1, with_votes=with_votes)
    return {rating.idea_id: rating for rating in found if rating.method is method}


@given(results, st.randoms(use_true_random=False))
def test_the_order_of_matches_and_ideas_changes_nothing(
    played: list[Any], chance: random.Random
) -> None:
    ordered = matches(played)
    shuffled, ideas = ordered.copy(), IDEAS.copy()
    chance.shuffle(shuffled)
    chance.shuffle(ideas)
    assert rate("g", ideas, shuffled, "overall", 1) == rate("g", IDEAS, ordered, "overall", 1)


@given(results, st.sampled_from(IDEAS), st.sampled_from(IDEAS))
def test_an_extra_win_never_lowers_an_idea(played: list[Any], winner: str, loser: str) -> None:
    if winner == loser:
        return
    known = matches(played)
    before = rated(known)[winner]
    after = rated([*known, match(winner, loser, Winner.FIRST, 99)])[winner]
    assert after.strength is not None
    assert after.rank is not None
    if before.strength is not None and before.rank is not None:
        assert after.strength >= before.strength - 1e-7
        assert after.rank <= before.rank
        assert after.best_rank <= before.best_rank


@given(results)
def test_ranks_lie_within_their_ranges_and_intervals_around_strengths(played: list[Any]) -> None:
    for method in RatingMethod:
        found = rated(matches(played), method=method)
        counted = [rating for rating in found.values() if rating.rank is not None]
        for rating in counted:
            assert 1 <= rating.best_rank <= rating.rank <= rating.worst_rank <= len(counted)
            assert rating.lower <= rating.strength <= rating.upper
        for rating in found.values():
            assert (
                (rating.strength is None)
                == (rating.rank is None)
                == (rating.unranked_reason is not None)
            )
        if counted:
            assert min(rating.rank for rating in counted) == 1


@given(results)
def test_an_unscored_match_is_not_a_loss(played: list[Any]) -> None:
    scored = [one for one in matches(played) if one.winner]
    without, with_unscored = (
        rated(scored),
        rated([*scored, match("a", "b", None, 98), match("a", "c", None, 99)]),
    )
    assert with_unscored["a"].unscored_count == without["a"].unscored_count + 2
    for idea in IDEAS:
        for field in ("strength", "rank", "wins", "losses"):
            assert getattr(with_unscored[idea], field) == getattr(without[idea], field)


@pytest.mark.parametrize("method", list(RatingMethod))
def test_ties_everywhere_share_the_first_rank(method: RatingMethod) -> None:
    tied = matches([(one, other, Winner.TIE) for one in IDEAS for other in IDEAS if one != other])
    found = rated(tied, method=method).values()
    assert {(rating.rank, rating.best_rank, rating.worst_rank) for rating in found} == {
        (1, 1, len(IDEAS))
    }
    assert len({rating.strength for rating in found}) == 1


@pytest.mark.parametrize("method", list(RatingMethod))
def test_a_tie_is_counted_as_a_tie_and_not_as_half_a_win(method: RatingMethod) -> None:
    played = matches([("a", "b", Winner.FIRST), ("b", "a", Winner.TIE), ("a", "c", Winner.TIE)])
    found = rated(played, ["a", "b", "c"], method)
    counts = {idea: (one.wins, one.losses, one.ties) for idea, one in found.items()}
    assert counts == {"a": (1, 0, 2), "b": (0, 1, 1), "c": (0, 0, 1)}


def test_a_pair_won_in_both_orders_has_a_winner_but_not_beyond_doubt() -> None:
    found = rated(matches([("a", "b", Winner.FIRST), ("b", "a", Winner.SECOND)]), ["a", "b"])
    assert (found["a"].rank, found["a"].best_rank, found["a"].worst_rank) == (1, 1, 2)
    assert (found["b"].rank, found["b"].best_rank, found["b"].worst_rank) == (2, 1, 2)


def test_an_undefeated_idea_stays_finite_and_grows_with_every_win() -> None:
    strengths = [
        rated(matches([("a", "b", Winner.FIRST)] * count), ["a", "b"])["a"].strength
        for count in (1, 10, 1000)
    ]
    assert strengths == sorted(strengths)
    assert 0 < strengths[0] < strengths[-1] < 20


def test_parts_that_no_chain_of_matches_joins_are_counted_and_taken_to_be_equally_good() -> None:
    apart = matches([("a", "b", Winner.FIRST)] * 9 + [("c", "d", Winner.FIRST)] * 9)
    assert set(tally(["a", "b", "c", "d"], apart).islands.tolist()) == {0, 1}
    found = rated(apart, ["a", "b", "c", "d"])
    assert {idea: rating.rank for idea, rating in found.items()} == {"a": 1, "b": 3, "c": 1, "d": 3}


@pytest.mark.parametrize("size", [3, 20, 60])
def test_strengths_are_those_of_a_published_library(size: int) -> None:
    generator = np.random.default_rng(size)
    pairs = [
        tuple(int(one) for one in generator.choice(size, 2, replace=False)) for _ in range(size * 8)
    ]
    names = [f"{number:03d}" for number in range(size)]
    fitted = fit(
        tally(
            names, matches([(names[winner], names[loser], Winner.FIRST) for winner, loser in pairs])
        )
    )
    expected = choix.opt_pairwise(
        size, pairs, alpha=1 / (2 * PRIOR_DEVIATION**2), method="Newton-CG", tol=1e-12
    )
    assert np.allclose(fitted.strengths, expected, atol=1e-6)


@pytest.mark.parametrize("agreeing", [True, False])
def test_intervals_hold_when_every_pair_is_asked_in_both_orders(agreeing: bool) -> None:
    """Two answers to one question are one observation: counted as two, 84 % would hold."""
    generator = np.random.default_rng(11)
    size, held, total = 16, 0, 0
    names = [f"{number:03d}" for number in range(size)]
    for _ in range(60):
        truth = generator.normal(0, 1.5, size=size)
        truth -= truth.mean()
        played = []
        for turn, (one, other) in enumerate(combinations(range(size), 2), start=1):
            chance = 1 / (1 + np.exp(truth[other] - truth[one]))
            there, back = generator.random(2) < chance
            for first, second, wins in (
                (one, other, there),
                (other, one, not (there if agreeing else back)),
            ):
                winner = Winner.FIRST if wins else Winner.SECOND
                played.append(match(names[first], names[second], winner, turn))
        for place, rating in enumerate(rated(played, names).values()):
            held += rating.lower <= truth[place] <= rating.upper
            total += 1
    assert held / total >= 0.93
    assert held / total <= (0.97 if agreeing else 0.995)


@pytest.mark.parametrize("size", [500, pytest.param(5_000, marks=pytest.mark.long)])
def test_a_large_group_is_ranked(size: int) -> None:
    generator = np.random.default_rng(1)
    names = [f"{number:04d}" for number in range(size)]
    order = generator.permutation(size)
    played = [
        match(
            names[one],
            names[other],
            Winner.FIRST if (one > other) != (generator.random() < 0.1) else Winner.SECOND,
            turn + 1,
        )
        for turn in range(6)
        for one, other in zip(order, np.roll(order, turn + 1), strict=True)
    ]
    found = rated(played, names)
    top = sorted(names, key=lambda name: -found[name].strength)[: size // 10]
    assert np.mean([int(name) for name in top]) > 0.8 * size
    assert found[top[0]].rank == 1
    assert all(found[name].worst_rank >= found[name].rank for name in names)


def test_a_prior_moves_strengths_before_the_matches_do_and_less_with_every_match() -> None:
    even = [("a", "b", Winner.FIRST), ("b", "a", Winner.FIRST)]
    prior: Any = {"a": 1.0, "b": -1.0}
    gaps = []
    for rounds in (1, 10):
        results = [
            match(first, second, winner, 2 * number + place)
            for number in range(1, rounds + 1)
            for place, (first, second, winner) in enumerate(even)
        ]
        fitted = fit(tally(list(prior), results, prior))
        gaps.append(float(fitted.strengths[0] - fitted.strengths[1]))
    assert 2.0 > gaps[0] > gaps[1] > 0.0


def test_a_rating_names_what_was_expected_and_ranks_nothing_by_it_alone() -> None:
    ids: Any = ["a", "b", "c"]
    found: Any = rate(
        "g",
        ids,
        matches([("a", "b", Winner.SECOND)]),
        "overall",
        seed=0,
        prior={"a": 0.5, "c": 2.5},
    )
    by_idea = {one.idea_id: one for one in found if one.method is RatingMethod.BRADLEY_TERRY}
    assert [by_idea[one].prior_strength for one in ids] == [-1.0, None, 1.0]
    assert by_idea["c"].rank is None


def test_over_several_groups_their_means_have_a_prior_of_their_own() -> None:
    group_of = {"a": "x", "b": "x", "c": "x", "d": "y", "e": "y"}
    counted: Any = tally(tuple(group_of), [], group_of=group_of)  # type: ignore[arg-type]
    same = np.array([[group_of[one] == group_of[other] for other in group_of] for one in group_of])
    expected = PRIOR_DEVIATION**2 * (np.eye(5) + same)
    assert np.linalg.inv(counted.prior_precision.toarray()) == pytest.approx(expected)


@pytest.mark.parametrize("size", [4, 20])
def test_few_matches_between_groups_set_one_above_the_other(size: int) -> None:
    """Within each group all are alike; the ideas of one beat those of the other three times."""
    group_of = {f"{group}{number}": group for group in "xy" for number in range(size)}
    within = [
        match(first, second, Winner.TIE)
        for first, second in combinations(group_of, 2)
        if group_of[first] == group_of[second]
    ]
    between = [match(f"x{number}", f"y{number}", Winner.FIRST) for number in range(3)]
    found: Any = rate_across(group_of, [*within, *between], "overall")  # type: ignore[arg-type]
    strengths = {rating.idea_id: rating.strength for rating in found}
    assert sum(strengths.values()) == pytest.approx(0, abs=1e-6)
    for number in range(size):
        assert strengths[f"x{number}"] - strengths[f"y{number}"] > 1
    assert {rating.group for rating in found if rating.idea_id.startswith("x")} == {"x"}
    assert all(rating.lower < rating.strength < rating.upper for rating in found)
