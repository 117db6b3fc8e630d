"""ScienceArena's equations, by hand."""

from datetime import timedelta

import pytest

from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Winner
from tasks.ranking import strengths
from tasks.ranking.strengths import ELO_START, elo
from tests.support.ranking_fakes import MIDNIGHT, match, matches


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elo's own equation; each test adds what it is about."""
    monkeypatch.setattr(strengths, "COLD_START_MATCHES", 0)
    monkeypatch.setattr(strengths, "PAIR_DECAY_GAMMA", 1.0)
    monkeypatch.setattr(strengths, "ACTIVITY_LAMBDA", 0.0)


@pytest.fixture
def regressing(monkeypatch: pytest.MonkeyPatch, plain: None) -> None:
    monkeypatch.setattr(strengths, "ACTIVITY_LAMBDA", 0.25)


def points(played: list[Match], ideas: str = "ab") -> dict[str, float]:
    found = elo([*map(IdeaId, ideas)], played, seed=1)
    return dict(zip(sorted(ideas), found.points.tolist(), strict=True))


def vote(first: str, second: str, winner: Winner | None, day: int) -> Match:
    when = MIDNIGHT + timedelta(days=day)
    name = f"{first}-{second}-v{day}"
    return match(first, second, winner, 1, match_id=name, judge="human:ada", created_at=when)


@pytest.mark.usefixtures("regressing")
def test_rounds_of_a_schedule_leave_the_idle_where_they_are() -> None:
    played = [match("a", "b", Winner.FIRST, 1), match("c", "d", Winner.TIE, 2)]
    assert points(played, "abcd")["a"] == ELO_START + 16


@pytest.mark.usefixtures("regressing")
def test_an_unscored_vote_counts_as_activity_and_moves_nobody() -> None:
    played = [
        vote("a", "b", Winner.FIRST, 1),
        vote("a", "b", None, 2),
        vote("c", "d", Winner.TIE, 2),
    ]
    assert points(played, "abcd")["a"] == ELO_START + 16


def test_both_orders_of_a_round_are_one_event_with_the_mean_of_the_two_probabilities() -> None:
    both = [
        match("a", "b", Winner.FIRST, 1, first_better_0_to_1=0.9),
        match("b", "a", Winner.FIRST, 1, match_id="back", first_better_0_to_1=0.6),
    ]
    assert points(both)["a"] == pytest.approx(ELO_START + 32 * (0.65 - 0.5))


def test_votes_come_after_the_schedule_and_in_order_of_time() -> None:
    votes = [
        match(
            "a",
            "b",
            Winner.SECOND,
            1,
            match_id=f"v{day}",
            judge="human:ada",
            created_at=MIDNIGHT + timedelta(days=day),
        )
        for day in (2, 1)
    ]
    votes[1] = votes[1].model_copy(update={"winner": Winner.FIRST})
    scheduled = match("a", "b", Winner.FIRST, 1, created_at=MIDNIGHT + timedelta(days=9))
    as_events = matches(
        [("a", "b", Winner.FIRST), ("a", "b", Winner.FIRST), ("a", "b", Winner.SECOND)]
    )
    assert points([*votes, scheduled]) == points(as_events)


def test_the_moment_an_engine_answered_changes_nothing() -> None:
    early, late = match("a", "b", Winner.FIRST, 1), match("a", "b", Winner.SECOND, 2)
    swapped = [
        early.model_copy(update={"created_at": late.created_at}),
        late.model_copy(update={"created_at": early.created_at}),
    ]
    assert points([early, late]) == points(swapped)
