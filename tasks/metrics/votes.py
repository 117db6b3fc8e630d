"""From judges' votes on problems to hits on papers (quality checker §2.3).

True, False, or None where it cannot be told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from schemas.manuscripts import ManuscriptCheck


class Rule(StrEnum):
    """How many judges must say yes."""

    ANY = "any"
    MAJORITY = "majority"
    ALL = "all"


Level = Literal["paper", "problem"]
"""`paper`: a judge says yes to a paper by saying yes to any of its problems, as published;
`problem`: judges must meet on one problem.
"""


@dataclass(frozen=True, slots=True)
class Ballot:
    """One answer of one judge about one problem; None where it could not be had."""

    problem_id: str
    judge: str
    hit: bool | None


@dataclass(frozen=True, slots=True)
class CheckedPaper:
    """One attempt of a checker at one paper.

    Attributes:
        problem_ids: in the order reported, most critical first; () when it found nothing, None when
            the attempt failed.
        ballots: of every judge, several per problem where a judge was asked several times.
    """

    paper_id: str
    attempt: int
    problem_ids: tuple[str, ...] | None
    ballots: tuple[Ballot, ...]


def checked_papers(check: ManuscriptCheck) -> tuple[CheckedPaper, ...]:
    """The attempts of a check, with their votes."""
    found = []
    for attempt in check.attempts:
        names = tuple(
            problem.problem_id for problem in check.problems if problem.attempt == attempt.attempt
        )
        ballots = tuple(
            Ballot(vote.problem_id, vote.judge, vote.hit)
            for vote in check.votes
            if vote.problem_id in names
        )
        found.append(
            CheckedPaper(
                check.manuscript_id,
                attempt.attempt,
                None if attempt.problem_count is None else names,
                ballots,
            )
        )
    return tuple(found)


def decided(votes: Sequence[bool | None], rule: Rule) -> bool | None:
    """What the votes come to; None where a missing vote could turn it, and of no vote at all.

    A majority is more than half.
    """
    if not votes:
        return None
    yes, no, unknown = votes.count(True), votes.count(False), votes.count(None)
    needed = {Rule.ANY: 1, Rule.MAJORITY: len(votes) // 2 + 1, Rule.ALL: len(votes)}[rule]
    assert yes + no + unknown == len(votes)
    if yes >= needed:
        return True
    return None if yes + unknown >= needed else False


def answer_of(ballots: Sequence[Ballot], problem_id: str, judge: str) -> bool | None:
    """The judge's most frequent answer about the problem (§2.3, "most self-consistent"); None when
    tied or never given.
    """
    given = [
        one.hit
        for one in ballots
        if one.problem_id == problem_id and one.judge == judge and one.hit is not None
    ]
    return (
        None if given.count(True) == given.count(False) else given.count(True) > given.count(False)
    )


def paper_hit(
    paper: CheckedPaper,
    judges: Sequence[str],
    rule: Rule,
    k: int | None = None,
    level: Level = "paper",
) -> bool | None:
    """Whether the attempt found the known problem, among its first `k` problems (all without `k`).

    Finding nothing is no hit. A failed attempt is None. Judges who stop at a paper's first hit
    leave later problems without
    a vote: at the level of papers that changes nothing; at the level of problems such a problem may
        stay undecided.
    """
    if paper.problem_ids is None or not judges:
        return None
    problems = paper.problem_ids[:k]
    if not problems:
        return False
    if level == "problem":
        return decided(
            [problem_hit(paper, problem, judges, rule) for problem in problems], Rule.ANY
        )
    return decided(
        [
            decided([answer_of(paper.ballots, name, judge) for name in problems], Rule.ANY)
            for judge in judges
        ],
        rule,
    )


def problem_hit(
    paper: CheckedPaper, problem_id: str, judges: Sequence[str], rule: Rule
) -> bool | None:
    """Whether the judges say that this problem is the known one."""
    return decided([answer_of(paper.ballots, problem_id, judge) for judge in judges], rule)
