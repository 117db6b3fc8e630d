"""Hit rates and precision of a manuscript checker, from judges' votes on its problems (quality
checker §2.3). A vote is True, False, or None where it cannot be told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.works.manuscripts import ManuscriptCheck
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, share_of


class Rule(StrEnum):
    """Number of judges who must say yes."""

    ANY = "any"
    MAJORITY = "majority"
    ALL = "all"


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
    papers = []
    for attempt in check.attempts:
        names = tuple(
            problem.problem_id for problem in check.standing if problem.attempt == attempt.attempt
        )
        ballots = tuple(
            Ballot(vote.problem_id, vote.judge, vote.hit)
            for vote in check.votes
            if vote.problem_id in names
        )
        papers.append(
            CheckedPaper(
                check.manuscript_id,
                attempt.attempt,
                None if attempt.problem_count is None else names,
                ballots,
            )
        )
    return tuple(papers)


def decided(votes: Sequence[bool | None], rule: Rule) -> bool | None:
    """Return what the votes come to; None where a missing vote could turn it, and of no vote at
    all.

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
    paper: CheckedPaper, judges: Sequence[str], rule: Rule, k: int | None = None
) -> bool | None:
    """Return whether the attempt found the known problem, among its first `k` problems (all without
    `k`).

    As published, a judge says yes to a paper by saying yes to any of its problems. Finding nothing
    is no hit. A failed attempt is None.
    """
    if paper.problem_ids is None or not judges:
        return None
    problems = paper.problem_ids[:k]
    if not problems:
        return False
    return decided(
        [
            decided([answer_of(paper.ballots, name, judge) for name in problems], Rule.ANY)
            for judge in judges
        ],
        rule,
    )


def hit_rate(
    papers: Sequence[CheckedPaper], judges: Sequence[str], rule: Rule, k: int | None = None
) -> Estimate:
    """HR@k: share of papers whose known problem is among the first k reported, from 0 to 1; Wilson
    interval.

    One attempt per paper.

    `k` is at most the number of problems the checker was allowed. `rule`: the article takes a
    majority of the judges, or all for a stricter evaluation; its two judges must both agree (Table
    2), and Table 3 has each alone.

    Bad input: failed attempts and papers that missing votes leave undecided are unscored; nothing
    decided is undefined.

    Raises:
        ValueError: a paper with several attempts; that is `mean_hit_rate`.
    """
    if len({paper.paper_id for paper in papers}) < len(papers):
        raise ValueError("a paper has several attempts: ask for the mean hit rate")
    return share_of([paper_hit(paper, judges, rule, k) for paper in papers])


def mean_hit_rate(
    papers: Sequence[CheckedPaper],
    judges: Sequence[str],
    rule: Rule,
    k: int | None = None,
    seed: int = 0,
) -> Estimate:
    """MHR@k: the share of a paper's attempts that are hits, averaged over papers; from 0 to 1; BCa
    bootstrap over papers.

    `count` is papers. Bad input: attempts that failed or stay undecided are left out of their
    paper's share; a paper with none left is unscored; no paper left is undefined.
    """
    outcomes: dict[str, list[bool | None]] = {}
    for paper in papers:
        outcomes.setdefault(paper.paper_id, []).append(paper_hit(paper, judges, rule, k))
    shares = [share_of(listed) for listed in outcomes.values()]
    return mean([one.value if one.defined else None for one in shares], seed)


def precision(
    papers: Sequence[CheckedPaper], judges: Sequence[str], rule: Rule, k: int | None = None
) -> Estimate:
    """Share of reported problems that are the known one, from 0 to 1; Wilson interval over
    problems.

    A lower bound of how many reported problems are real: a paper may have others than the one its
    authors gave.
    Bad input: problems that missing votes leave undecided (judges that stop at the first hit leave
    many) are unscored; a checker that reports nothing has no precision.
    """
    verdicts = [
        decided([answer_of(paper.ballots, problem, judge) for judge in judges], rule)
        for paper in papers
        if paper.problem_ids is not None
        for problem in paper.problem_ids[:k]
    ]
    return share_of(verdicts)
