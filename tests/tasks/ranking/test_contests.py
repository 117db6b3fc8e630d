"""What votes say: strengths as choix has them, Elo as a table worked by hand, known taste found."""

import math
from datetime import timedelta

import numpy as np
import pytest

from schemas.identifiers import IdeaId, RunId
from schemas.people.votes import Choice, Contender, Contest, HumanVote, Track
from tasks.ranking import strengths
from tasks.ranking.biases import biases
from tasks.ranking.contests import standing_of, votes_on_ideas
from tests.support.votes import NOON, make_vote

DAY = timedelta(days=1)


def contest(size: int) -> Contest:
    return Contest(
        track=Track.IDEAS,
        group="energy",
        contenders=tuple(
            Contender(run_id=RunId("run-a"), item_id=IdeaId(f"idea-{number}"))
            for number in range(size)
        ),
    )


def vote(number: int, first: int, second: int, choice: Choice, **changes: object) -> HumanVote:
    return make_vote(
        f"vote-{number:05}",
        first_id=IdeaId(f"idea-{first}"),
        second_id=IdeaId(f"idea-{second}"),
        choice=choice,
        voted_at=NOON + timedelta(seconds=number),
        **changes,
    )


def test_elo_is_that_of_a_table_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """K = 32, α = 2 while either is new (1 match), γ = ½ per encounter, λ = 0.1 per day.

    day 1  0 beats 1: E = ½, K = 32       -> 1016, 984, 1000
           0 ties 2:  2 is new: ΔR = 2·(1000 - 1016) = -32, E = 1 / (1 + 10^(-32/400)) = 0.54592,
                      K = 32              -> 1016 - 1.46950, 1000 + 1.46950
    day 2  1 beats 0: met once: K = 16; ΔR = 984 - 1014.53050, E(0) = 0.54382
                                          -> 0: 1014.53050 - 8.70119, 1: 984 + 8.70119
           2 is idle: mean = 1000         -> 1001.46950 - 0.14695
    """
    monkeypatch.setattr(strengths, "COLD_START_ALPHA", 2.0)
    monkeypatch.setattr(strengths, "COLD_START_MATCHES", 1)
    monkeypatch.setattr(strengths, "PAIR_DECAY_GAMMA", 0.5)
    monkeypatch.setattr(strengths, "ACTIVITY_LAMBDA", 0.1)
    votes = [
        vote(1, 0, 1, Choice.FIRST),
        vote(2, 2, 0, Choice.BOTH_GOOD),
        vote(3, 1, 0, Choice.FIRST).model_copy(update={"voted_at": NOON + DAY}),
    ]
    standing = standing_of(contest(3), votes)
    elo = {one.name.partition("/")[2]: one.elo for one in standing.strengths}
    assert elo["idea-0"] == pytest.approx(1005.82931, abs=1e-4)
    assert elo["idea-1"] == pytest.approx(992.70119, abs=1e-4)
    assert elo["idea-2"] == pytest.approx(1001.32255, abs=1e-4)


def test_both_good_and_both_bad_count_half_and_attention_checks_not_at_all() -> None:
    votes = [
        vote(1, 0, 1, Choice.BOTH_GOOD),
        vote(2, 0, 1, Choice.BOTH_BAD),
        vote(3, 0, 1, Choice.FIRST, check_passed=True),
    ]
    standing = standing_of(contest(2), votes)
    assert standing.vote_count == 2
    assert [one.strength for one in standing.strengths] == [0.0, 0.0]
    assert standing.next_pairs == (("run-a/idea-0", "run-a/idea-1"),) or standing.next_pairs == (
        ("run-a/idea-1", "run-a/idea-0"),
    )


def test_votes_about_other_ideas_or_across_groups_are_left_out() -> None:
    group_of = {IdeaId("idea-0"): "a", IdeaId("idea-1"): "a", IdeaId("idea-2"): "b"}
    votes = [vote(1, 0, 1, Choice.SECOND), vote(2, 0, 2, Choice.FIRST), vote(3, 7, 1, Choice.FIRST)]
    votes.append(vote(4, 0, 1, Choice.FIRST, track=Track.REVIEWS))
    (match,) = votes_on_ideas(votes, group_of)
    assert (match.group, match.winner_idea_id, match.judge) == ("a", "idea-1", "human:voter-1")


IDEAS, VOTES = 24, 3_000


def votes_with(per_doubling: float, for_standing_first: float, seed: int) -> list[HumanVote]:
    draw = np.random.default_rng(seed)
    taste = draw.normal(0, 1, IDEAS)
    words = draw.integers(100, 800, IDEAS)
    found = []
    for number in range(VOTES):
        one, other = (int(each) for each in draw.choice(IDEAS, 2, replace=False))
        gap = taste[one] - taste[other] + for_standing_first
        gap += per_doubling * math.log2(words[one] / words[other])
        wins = draw.random() < 1 / (1 + math.exp(-gap))
        found.append(
            make_vote(
                f"vote-{number}",
                first_id=IdeaId(f"idea-{one}"),
                second_id=IdeaId(f"idea-{other}"),
                choice=Choice.FIRST if wins else Choice.SECOND,
                first_words=int(words[one]),
                second_words=int(words[other]),
            )
        )
    return found


@pytest.mark.parametrize(("per_doubling", "first"), [(0.0, 0.0), (1.5, 0.4)])
def test_the_interval_holds_what_sways_the_voters(per_doubling: float, first: float) -> None:
    length, citations, shown_first = biases(votes_with(per_doubling, first, seed=3))
    assert length.lower is not None
    assert length.upper is not None
    assert length.lower <= per_doubling <= length.upper
    assert shown_first.lower is not None
    assert shown_first.upper is not None
    assert shown_first.lower <= first <= shown_first.upper
    assert (shown_first.lower > 0) is (first > 0)
    assert (citations.log_odds, citations.lower) == (None, None)


def test_no_votes_show_no_bias() -> None:
    assert [one.log_odds for one in biases([])] == [None, None, None]
