"""The pages of votes: blind, both sides alike, for voters alone; questions of their own."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboards.app.site_pages.votes import fold
from schemas.people.job import JobState
from schemas.people.live_question import LiveQuestion
from schemas.people.role import Role
from schemas.people.votes import Choice, HumanVote
from tasks.ranking.contests import standing_of
from tests.support.questions import QUESTION, end_both, end_job, publish_answer
from tests.support.site import Page, copied, opened, pressed, signed_in
from tests.warehouse.conftest import publish_ideas
from warehouse.app import voting
from warehouse.app.accounts import set_role
from warehouse.app.contests import Part
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import job_ids, jobs
from warehouse.app.records import records_of
from warehouse.app.voting import VOTES, contests, store_standing
from warehouse.warehouse import Warehouse

ANSWERS = ["A is better", "B is better", "Both are good", "Both are bad", "Skip"]


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
    return copied(nine_ideas, tmp_path)


@pytest.fixture
def voter(own: Warehouse) -> TestClient:
    return signed_in(own, Role.VOTER)


def votes(warehouse: Warehouse) -> list[HumanVote]:
    with ServiceDatabase(warehouse) as database:
        return list(records_of(database, VOTES, HumanVote))


def pair(site: TestClient, place: str = "/decide/votes") -> Page:
    page = opened(site, place)
    assert page.status == 200
    return page


CHOOSING = "//details[@class='choosing'][@open]"


def test_a_voter_sees_two_sides_without_names_and_each_answer_is_kept(
    own: Warehouse, voter: TestClient
) -> None:
    page = pair(voter)
    assert page.tree.xpath("//h2/text()") == ["A", "B"]
    assert page.buttons == ANSWERS
    assert page.tree.xpath("//button/@data-key") == ["a", "b", "g", "x", "s"]
    assert len(page.tree.xpath(CHOOSING)) == 1
    held = page.answer.text.partition("<main")[2].partition('<form method="post"')[2]
    told = ("run-a", "idea-0", "extractive", "economy", "score", "href=", "first_", "scrambled")
    assert [each for each in told if each in held] == []
    assert page.menu == ["Decide"]
    assert not [link for link in page.links("") if link.startswith(("/idea", "/runs", "/paper"))]
    answer = pressed(voter, page, "A is better", reason="<b>It can be tested</b>")
    assert (answer.status_code, answer.headers["location"]) == (303, "/decide/votes")
    (vote,) = votes(own)
    assert (vote.choice, vote.reason) == (Choice.FIRST, "<b>It can be tested</b>")
    assert "voter" not in vote.voter
    after = pair(voter, "/decide/votes?path=/ideas")
    assert "Answered in the last day: 1 of" in after.words
    assert after.tree.xpath(CHOOSING) == []
    assert after.form("Skip")[1]["offer"] != page.form("Skip")[1]["offer"]
    handed_on = pressed(voter, after, "Skip").headers["location"]
    assert handed_on == "/decide/votes?path=%2Fideas"
    assert "You have seen every pair" in pair(voter, "/decide/votes?track=surveys").words


def test_a_voter_goes_through_all_pairs_and_then_is_done(own: Warehouse, voter: TestClient) -> None:
    page, labels = pair(voter), iter(ANSWERS * 2)
    while page.buttons:
        pressed(voter, page, next(labels))
        page = pair(voter)
    assert "You have seen every pair" in page.words
    pairs = [frozenset((vote.first_id, vote.second_id)) for vote in votes(own)]
    assert len(pairs) == len(set(pairs)) == 8  # the fifth of nine was skipped


def test_a_vote_sent_twice_counts_once_and_leads_to_the_next_pair(
    own: Warehouse, voter: TestClient
) -> None:
    page = pair(voter)
    assert pair(voter).form("Skip") == page.form("Skip"), "reading again changes nothing"
    for label in ("A is better", "A is better", "B is better", "Skip"):
        assert pressed(voter, page, label).status_code == 303
    assert [vote.choice for vote in votes(own)] == [Choice.FIRST]


def test_a_pair_of_another_voter_and_an_answer_that_is_none_are_refused(
    own: Warehouse, voter: TestClient
) -> None:
    page = pair(voter)
    other = signed_in(own, Role.VOTER, "eve")
    pair(other)
    assert pressed(other, page, "A is better").status_code == 403
    assert pressed(voter, page, "A is better", choice="third").status_code == 400
    assert pressed(voter, page, "A is better", reason="x" * 2_001).status_code == 400
    assert votes(own) == []


def test_who_votes_too_fast_is_told_so_and_loses_no_reason(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voting, "MOST_PER_MINUTE", 1)
    site = signed_in(own, Role.VOTER)
    pressed(site, pair(site), "A is better")
    page = Page(pressed(site, pair(site), "B is better", reason="It cites trials."))
    assert "Not taken: 1 pairs in a minute" in page.words
    assert page.form("B is better")[1]["reason"] == "It cites trials."
    assert len(votes(own)) == 1


def test_who_was_made_a_reader_meanwhile_casts_no_vote_and_asks_nothing(
    own: Warehouse, voter: TestClient
) -> None:
    page = pair(voter)
    pressed(voter, opened(voter, "/decide/ask"), "See what it takes", text=QUESTION)
    draft = opened(voter, "/decide/ask")
    with ServiceDatabase(own) as database:
        set_role(database, "voter", Role.READER)
    assert pressed(voter, page, "A is better").status_code == 403
    assert pressed(voter, draft, "Ask").status_code == 403
    assert votes(own) == []
    assert list(job_ids(own)) == []


def test_an_attention_check_is_announced_and_shows_one_side_in_random_order(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "random order" not in pair(signed_in(own, Role.VOTER)).words
    monkeypatch.setenv("ASSAY_VOTING__CHECK_SHARE", "0.5")
    site = signed_in(own, Role.VOTER, "eve")
    page = pair(site)
    while page.buttons:
        assert "In one pair of 2 the words of one side are in random order" in page.words
        assert pair(site).words == page.words
        pressed(site, page, "A is better")
        page = pair(site)
    assert {vote.check_passed for vote in votes(own)} <= {None, True, False}
    assert any(vote.check_passed is not None for vote in votes(own))


def test_standings_show_what_the_votes_come_to(own: Warehouse, voter: TestClient) -> None:
    assert "Nobody has voted here yet" in opened(voter, "/decide/standings").words
    pressed(voter, pair(voter), "A is better")
    (vote,) = votes(own)
    with ServiceDatabase(own) as database:
        for contest, _ in contests(database):
            if contest.group == vote.group:
                store_standing(database, contest, standing_of(contest, [vote]))
    page = opened(voter, "/decide/standings")
    first, *_ = page.table("Strength")
    assert first["Rank"] == "1"
    assert float(first["Strength"]) > 0
    assert "1 vote, attention checks left out" in page.words


def test_without_a_contest_the_pages_say_what_would_make_one(tmp_path: Path) -> None:
    site = signed_in(Warehouse(tmp_path), Role.VOTER)
    for path in ("/decide/votes", "/decide/standings"):
        assert "There is nothing to vote on yet" in opened(site, path).words


def test_a_text_is_folded_behind_a_sentence_and_loses_no_word() -> None:
    said = [Part("One", "A b c. D e f\n\ng."), Part("Two", "H i. J k l m. N"), Part("Three", "O.")]
    opening, rest = fold(said, 10)
    assert opening == [
        Part("One", "A b c. D e f"),
        Part("", "g."),
        Part("Two", "H i."),
    ]
    assert rest == [Part("", "J k l m. N"), Part("Three", "O.")]
    assert fold([Part("", "A b c d e f. G")], 3) == ([Part("", "A b c d e f.")], [Part("", "G")])
    assert fold([Part("", "a b c d")], 3) == ([Part("", "a b c d")], [])
    assert fold([], 5) == ([], [])


def questions_in(database: ServiceDatabase) -> list[LiveQuestion]:
    return [
        LiveQuestion.model_validate_json(row[0]) for row in database.rows("questions", "question")
    ]


@pytest.fixture
def asked(own: Warehouse, voter: TestClient) -> LiveQuestion:
    """A voter has asked a question on the page; what it takes was told first."""
    pressed(voter, opened(voter, "/decide/ask"), "See what it takes", text=QUESTION)
    draft = opened(voter, "/decide/ask")
    assert "nothing is paid" in draft.words
    assert list(job_ids(own)) == []
    for _ in range(2):
        assert pressed(voter, draft, "Ask").status_code == 303
    assert len(list(job_ids(own))) == 2
    with ServiceDatabase(own) as database:
        (question,) = questions_in(database)
    return question


def test_a_question_is_asked_answered_blind_and_voted_on_once(
    own: Warehouse, voter: TestClient, asked: LiveQuestion
) -> None:
    waits = opened(voter, "/decide/ask")
    assert "job runner" in waits.words  # none is at work here
    assert waits.tree.xpath("//main[@data-live]")
    names = ("extractive", "faithful", "economy", "USD", "ask-a", "ask-b", *asked.job_ids)
    assert not [name for name in names if name in waits.answer.text]
    publish_answer(own, "ask-a", "Bats listen [1](https://e.org/1).")
    publish_answer(own, "ask-b", "Bats hear echoes.", profile="faithful")
    end_both(own, asked, ("ask-a", "ask-b"))
    page = opened(voter, "/decide/ask")
    assert page.buttons == ANSWERS
    assert "Bats listen" in page.words
    assert "Bats hear echoes" in page.words
    assert not [name for name in names if name in page.answer.text]
    assert pressed(signed_in(own, Role.VOTER, "eve"), page, "A is better").status_code == 303
    assert votes(own) == []
    for label in ("A is better", "B is better"):
        assert pressed(voter, page, label).status_code == 303
    (vote,) = votes(own)
    assert {vote.run_id, vote.second_run_id} == {"ask-a", "ask-b"}
    assert vote.choice is Choice.FIRST
    assert "See what it takes" in opened(voter, "/decide/ask").buttons


def test_a_question_one_side_failed_at_says_so_and_takes_no_vote(
    own: Warehouse, voter: TestClient, asked: LiveQuestion
) -> None:
    publish_answer(own, "ask-b", "Bats hear <b>echoes</b>.")
    end_job(own, asked.job_ids[0], None, JobState.FAILED, 1)
    end_job(own, asked.job_ids[1], "ask-b")
    page = opened(voter, "/decide/ask")
    assert "One of the two gave no answer" in page.words
    assert "Bats hear" in page.words
    assert page.unsafe == []
    assert page.buttons == ["Ask another question"]
    pressed(voter, page, "Ask another question")
    assert "Two engines or profiles answer it" in opened(voter, "/decide/ask").words
    assert votes(own) == []


def test_a_question_that_is_left_stops_both_answers(
    own: Warehouse, voter: TestClient, asked: LiveQuestion
) -> None:
    page = opened(voter, "/decide/ask")
    other = signed_in(own, Role.VOTER, "eve")
    pressed(other, page, "Leave this question")
    assert not any(job.stop_requested for job in jobs(own)), "it is another's"
    pressed(voter, page, "Leave this question")
    assert all(job.stop_requested for job in jobs(own))
    assert "Two engines or profiles answer it" in opened(voter, "/decide/ask").words


def test_what_is_no_question_is_refused_in_one_line_and_what_was_written_stays(
    own: Warehouse, voter: TestClient
) -> None:
    form = opened(voter, "/decide/ask?asked=topic")
    assert "The topic, as a question" in form.words
    page = Page(pressed(voter, form, "See what it takes", text=QUESTION))
    assert "none is offered here" in page.words
    assert page.form("See what it takes")[1] == {
        "asked": "topic",
        "text": QUESTION,
        "do": "estimate",
    }
    empty = Page(pressed(voter, opened(voter, "/decide/ask"), "See what it takes", text=" "))
    assert "ask a question" in empty.words
    pressed(voter, opened(voter, "/decide/ask"), "See what it takes", text=QUESTION)
    changed = Page(pressed(voter, opened(voter, "/decide/ask"), "Change it"))
    assert changed.form("See what it takes")[1]["text"] == QUESTION
    assert list(job_ids(own)) == []
