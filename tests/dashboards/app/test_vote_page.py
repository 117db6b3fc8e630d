"""The page Vote: blind, both sides alike, and for voters alone."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboards.app.voting.ballot import folded
from schemas.people.job import JobState
from schemas.people.live_question import LiveQuestion
from schemas.people.role import Role
from schemas.people.votes import Choice, HumanVote
from tasks.ranking.voted import standing_by
from tests.support.dashboard import open_page, sign_in_as, words
from tests.support.questions import QUESTION, end_both, end_job, publish_answer
from tests.warehouse.conftest import publish_ideas
from warehouse.app.contests import Part
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import job_ids, jobs
from warehouse.app.records import recorded
from warehouse.app.voting import VOTES, contests, keep_standing
from warehouse.warehouse import Warehouse

ANSWERS = ("A is better", "B is better", "Both are good", "Both are bad", "Skip")


@pytest.fixture(scope="module")
def nine_ideas(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """In three groups of three: nine pairs."""
    found = Warehouse(tmp_path_factory.mktemp("ideas"))
    publish_ideas(found, "run-a", range(9))
    return found


@pytest.fixture
def own(nine_ideas: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A lake to vote in, without attention checks."""
    monkeypatch.setenv("ASSAY_VOTING__CHECK_SHARE", "0")
    return Warehouse(shutil.copytree(nine_ideas.root, tmp_path / "warehouse"))


def votes(warehouse: Warehouse) -> list[HumanVote]:
    with ServiceDatabase(warehouse) as database:
        return list(recorded(database, VOTES, HumanVote))


def answers(page: AppTest) -> dict[str, str]:
    """Keys of the buttons by label."""
    return {button.label: str(button.key) for button in page.button if button.label in ANSWERS}


def test_a_voter_sees_two_sides_without_names_and_each_answer_is_kept(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = sign_in_as(Role.VOTER, own, monkeypatch)
    page = open_page("vote", own)
    assert [one.value for one in page.subheader] == ["A", "B"]
    assert list(answers(page)) == list(ANSWERS)
    assert not any(told in words(page) for told in ("extractive", "economy", "0 to 10"))
    page.text_area[0].set_value("<b>It can be tested</b>").run()
    page.button(answers(page)["A is better"]).click().run()
    assert not page.exception
    (vote,) = votes(own)
    assert (vote.choice, vote.reason) == (Choice.FIRST, "<b>It can be tested</b>")
    assert name not in vote.model_dump_json()
    assert "Your vote is kept." in words(page)


def test_a_voter_goes_through_all_pairs_and_then_is_done(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, own, monkeypatch)
    page, labels = open_page("vote", own), iter(ANSWERS * 2)
    while answers(page):
        page.button(answers(page)[next(labels)]).click().run()
        assert not page.exception
    assert "You have seen every pair" in words(page)
    pairs = [frozenset((vote.first_id, vote.second_id)) for vote in votes(own)]
    assert len(pairs) == len(set(pairs)) == 8  # the fifth of nine was skipped


def test_an_answer_to_a_pair_that_is_closed_elsewhere_is_refused_in_one_line(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, own, monkeypatch)
    one, other = open_page("vote", own), open_page("vote", own)
    assert answers(one) == answers(other)
    one.button(answers(one)["A is better"]).click().run()
    other.button(answers(other)["B is better"]).click().run()
    assert not other.exception
    assert "voted already" in words(other)
    assert [vote.choice for vote in votes(own)] == [Choice.FIRST]


@pytest.mark.parametrize("role", [None, Role.READER, Role.SUBMITTER])
def test_who_may_not_vote_is_shown_no_pair_and_asks_nothing(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch, role: Role | None
) -> None:
    if role is not None:
        sign_in_as(role, own, monkeypatch)
    for state in ({}, {"part": "Ask"}):
        page = open_page("vote", own, **state)
        assert not answers(page)
        assert not page.text_area
        assert "signs in as a voter" in words(page)


def test_who_was_made_a_reader_meanwhile_casts_no_vote(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, own, monkeypatch)
    page = open_page("vote", own)
    key = answers(page)["A is better"]
    sign_in_as(Role.READER, own, monkeypatch)
    page.button(key).click().run()
    assert not page.exception
    assert votes(own) == []


def test_standings_show_what_the_votes_come_to(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, own, monkeypatch)
    assert "Nobody has voted here yet" in words(open_page("vote", own, part="Standings"))
    page = open_page("vote", own)
    page.button(answers(page)["A is better"]).click().run()
    (vote,) = votes(own)
    with ServiceDatabase(own) as database:
        for contest, _ in contests(database):
            if contest.group == vote.group:
                standing = standing_by(contest, [vote])
                keep_standing(database, contest, standing)
    shown = open_page("vote", own, part="Standings")
    (table,) = shown.dataframe
    assert table.value["rank"].iloc[0] == 1
    assert table.value["strength"].iloc[0] > 0
    assert "1 vote, attention checks left out" in words(shown)


def test_a_text_is_folded_after_the_same_words_and_loses_none() -> None:
    parts = [Part("One", "a b\n\nc"), Part("Two", "d e f g  "), Part("Three", "h")]
    opening, rest = folded(parts, 5)
    assert opening == [Part("One", "a b\n\nc"), Part("Two", "d e ")]
    assert rest == [Part("", "f g  "), Part("Three", "h")]
    assert folded(parts, 8) == (parts, [])
    assert folded([], 5) == ([], [])


def questions_in(database: ServiceDatabase) -> list[LiveQuestion]:
    return [LiveQuestion.model_validate_json(row[0]) for row in database.ask("questions")]


@pytest.fixture
def asked(own: Warehouse, monkeypatch: pytest.MonkeyPatch) -> tuple[Warehouse, AppTest]:
    """A voter has asked a question on the page; what it takes was told first."""
    sign_in_as(Role.VOTER, own, monkeypatch)
    page = open_page("vote", own, part="Ask", asked="question")
    page.text_area[0].set_value(QUESTION)
    page.button("question_estimate").click().run()
    assert not page.exception
    assert "nothing is paid" in words(page)
    assert job_ids(own) == []
    page.button("question_ask").click().run()
    assert not page.exception
    return own, page


def test_a_question_is_asked_answered_blind_and_voted_on(asked: tuple[Warehouse, AppTest]) -> None:
    warehouse, page = asked
    told = words(page)
    assert "job runner" in told  # none is at work here
    assert not any(name in told for name in ("extractive", "faithful", "economy", "USD"))
    publish_answer(warehouse, "ask-a", "Bats listen [1](https://e.org/1).")
    publish_answer(warehouse, "ask-b", "Bats hear echoes.", profile="faithful")
    with ServiceDatabase(warehouse) as database:
        (question,) = questions_in(database)
        end_both(warehouse, question, ("ask-a", "ask-b"))
    page.run()
    assert not page.exception
    assert [one.value for one in page.subheader] == ["A", "B"]
    shown = words(page)
    assert "Bats listen" in shown
    assert "Bats hear echoes" in shown
    names = ("extractive", "faithful", "economy", "ask-a", "ask-b", "USD")
    assert not any(name in shown for name in names)
    page.button(answers(page)["A is better"]).click().run()
    assert not page.exception
    assert "Your vote is kept." in words(page)
    (vote,) = votes(warehouse)
    assert {vote.run_id, vote.second_run_id} == {"ask-a", "ask-b"}
    assert page.text_area[0].value in ("", None)


def test_a_question_one_side_failed_at_says_so_and_takes_no_vote(
    asked: tuple[Warehouse, AppTest],
) -> None:
    warehouse, page = asked
    publish_answer(warehouse, "ask-b", "Bats hear <b>echoes</b>.")
    with ServiceDatabase(warehouse) as database:
        (question,) = questions_in(database)
        end_job(warehouse, question.job_ids[0], None, JobState.FAILED, 1)
        end_job(warehouse, question.job_ids[1], "ask-b")
    page.run()
    assert not page.exception
    assert "One of the two gave no answer" in words(page)
    assert "Bats hear" in words(page)
    assert not answers(page)
    page.button("question_another").click().run()
    assert not page.exception
    assert "Two engines or profiles answer it" in words(page)
    assert votes(warehouse) == []


def test_a_question_that_is_left_stops_both_answers(asked: tuple[Warehouse, AppTest]) -> None:
    warehouse, page = asked
    page.button("question_leave").click().run()
    assert not page.exception
    assert all(job.stop_requested for job in jobs(warehouse))
    assert "Two engines or profiles answer it" in words(page)


def test_who_was_made_a_reader_meanwhile_asks_nothing(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, own, monkeypatch)
    page = open_page("vote", own, part="Ask", asked="question")
    page.text_area[0].set_value(QUESTION)
    page.button("question_estimate").click().run()
    sign_in_as(Role.READER, own, monkeypatch)
    page.button("question_ask").click().run()
    assert not page.exception
    assert job_ids(own) == []


def test_what_is_no_question_is_refused_in_one_line(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, own, monkeypatch)
    page = open_page("vote", own, part="Ask", asked="question")
    page.text_area[0].set_value(" ")
    page.button("question_estimate").click().run()
    assert not page.exception
    assert "ask a question" in words(page)
    assert job_ids(own) == []
