"""From votes to hits: three judges, missing votes, failed attempts, several attempts."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.outcome import Provenance
from schemas.reasons import Reason
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm, Problem, Vote
from tasks.metrics.hit_rate import (
    Ballot,
    CheckedPaper,
    Rule,
    answer_of,
    checked_papers,
    combine_votes,
    hit_rate,
    mean_hit_rate,
    paper_hit,
    precision,
)

JUDGES = ("x", "y")


def paper(
    name: str = "p", attempt: int = 1, problems: int | None = 2, **votes: str
) -> CheckedPaper:
    """Votes: per judge one letter a problem: y(es), n(o), `-` for none."""
    ballots = [
        Ballot(f"{number}", judge, {"y": True, "n": False}[letter])
        for judge, letters in votes.items()
        for number, letter in enumerate(letters)
        if letter != "-"
    ]
    return CheckedPaper(
        name,
        attempt,
        None if problems is None else tuple(str(number) for number in range(problems)),
        tuple(ballots),
    )


def test_judges_may_meet_on_a_paper_without_meeting_on_a_problem() -> None:
    apart = paper(x="yn", y="ny")
    assert paper_hit(apart, JUDGES, Rule.ALL) is True
    assert paper_hit(apart, JUDGES, Rule.ALL, k=1) is False
    rules = [paper_hit(paper(x="yn", y="nn"), JUDGES, rule) for rule in Rule]
    assert rules == [True, False, False], "one of two is no majority"


def test_a_judge_that_stops_at_the_first_hit_has_decided_the_paper() -> None:
    assert paper_hit(paper(problems=5, x="y----", y="ny---"), JUDGES, Rule.ALL) is True
    assert paper_hit(paper(problems=5, x="n----", y="ny---"), JUDGES, Rule.ALL) is None


def test_finding_nothing_is_no_hit_and_failing_is_unscored() -> None:
    papers = [
        paper("found", x="yn", y="yn"),
        paper("nothing", problems=0),
        paper("failed", problems=None),
        paper("half", x="nn"),
    ]
    found = hit_rate(papers, JUDGES, Rule.ALL)
    assert (found.value, found.count, found.unscored_count) == (pytest.approx(1 / 3), 3, 1)
    undecided = hit_rate([paper("silent", y="yn")], JUDGES, Rule.ALL)
    assert (undecided.undefined_reason, undecided.unscored_count) == (
        "none of the 1 items has a value",
        1,
    )


def test_the_most_frequent_of_a_judges_repeated_answers_counts_and_a_tie_is_none() -> None:
    ballots = [Ballot("0", "x", hit) for hit in (True, False, True, None)]
    assert answer_of(ballots, "0", "x") is True
    assert answer_of(ballots[:2], "0", "x") is None
    assert answer_of([], "0", "x") is None


def test_hit_rate_grows_with_k() -> None:
    papers = [paper("a", x="ny", y="ny"), paper("b", x="yn", y="yn"), paper("c", x="nn", y="nn")]
    assert [hit_rate(papers, JUDGES, Rule.ALL, k).value for k in (1, 2)] == [
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    ]


def test_mean_hit_rate_averages_attempts_within_papers() -> None:
    papers = [
        paper("a", 1, x="yn", y="yn"),
        paper("a", 2, x="nn", y="nn"),
        paper("b", 1, x="yn", y="yn"),
        paper("b", 2, problems=None),
    ]
    found = mean_hit_rate(papers, JUDGES, Rule.ALL)
    assert (found.value, found.count) == (0.75, 2)
    with pytest.raises(ValueError, match="several attempts"):
        hit_rate(papers, JUDGES, Rule.ALL)


def test_precision_counts_problems_and_leaves_out_the_undecided() -> None:
    found = precision(
        [
            paper("a", x="yn", y="y-"),
            paper("b", problems=3, x="nnn", y="nnn"),
            paper("c", problems=0),
        ],
        JUDGES,
        Rule.ALL,
    )
    assert (found.value, found.count, found.unscored_count) == (pytest.approx(1 / 5), 5, 0)
    assert precision([paper("a", x="y-", y="y-")], JUDGES, Rule.ALL).unscored_count == 1
    assert math.isnan(precision([paper("c", problems=0)], JUDGES, Rule.ALL).value)


def test_a_check_becomes_its_attempts_with_their_own_votes() -> None:
    made = Provenance(
        step="s",
        step_version=1,
        prompt_sha256="0",
        engine="e",
        model_requested="m",
        model_answered=None,
        seed=1,
        created_at=datetime.now(UTC),
    )
    check = ManuscriptCheck(
        manuscript_id="m",
        title="Title",
        form=ManuscriptForm.TEXT,
        content_sha256="0",
        word_count=9,
        attempts=(
            Attempt(attempt=1, problem_count=1, provenance=made),
            Attempt(
                attempt=2, problem_count=None, unscored_reason=Reason.TIMED_OUT, provenance=made
            ),
            Attempt(attempt=3, problem_count=0, provenance=made),
        ),
        problems=(
            Problem(
                problem_id="a1p1",
                attempt=1,
                rank=1,
                problem="Sign",
                location="(1)",
                explanation="",
                provenance=made,
            ),
        ),
        votes=tuple(
            Vote(problem_id="a1p1", judge=judge, repetition=1, hit=True, provenance=None)
            for judge in JUDGES
        ),
        failures=(),
    )
    found = checked_papers(check)
    assert [paper_hit(one, JUDGES, Rule.ALL) for one in found] == [True, None, False]
    rate = mean_hit_rate(found, JUDGES, Rule.ALL)
    assert (rate.value, rate.count) == (0.5, 1)


@given(st.lists(st.sampled_from([True, False, None]), max_size=6), st.sampled_from(Rule))
def test_a_missing_vote_is_none_exactly_when_it_could_turn_the_decision(
    votes: list[bool | None], rule: Rule
) -> None:
    best, worst = (
        [missing if vote is None else vote for vote in votes] for missing in (True, False)
    )
    expected = (
        None
        if not votes or combine_votes(best, rule) != combine_votes(worst, rule)
        else combine_votes(best, rule)
    )
    assert combine_votes(votes, rule) is expected
