"""Hit rates and precision of a manuscript checker, from judges' votes.

Source: quality checker §2.3. A vote is True, False, or None where it is missing.
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
    """One vote of one judge on one problem.

    The vote is None if it is missing.
    """

    problem_id: str
    judge: str
    hit: bool | None


@dataclass(frozen=True, slots=True)
class CheckedPaper:
    """One attempt of a checker at one paper.

    Attributes:
        problem_ids: most critical first; () when the attempt found nothing, None when it failed.
        ballots: of every judge; several per problem with repetitions.
    """

    paper_id: str
    attempt: int
    problem_ids: tuple[str, ...] | None
    ballots: tuple[Ballot, ...]


def checked_papers(check: ManuscriptCheck, finder: str = "") -> tuple[CheckedPaper, ...]:
    """Return the attempts of a check, with their votes.

    Args:
        finder: model whose own problems count; an attempt that it did not answer has failed. Empty:
            all problems count.
    """
    papers = []
    for attempt in check.attempts:
        names = tuple(
            problem.problem_id
            for problem in check.standing
            if problem.attempt == attempt.attempt and (not finder or finder in problem.found_by)
        )
        failed = attempt.problem_count is None or (finder and finder not in attempt.answered_by)
        ballots = tuple(
            Ballot(vote.problem_id, vote.judge, vote.hit)
            for vote in check.votes
            if vote.problem_id in names
        )
        papers.append(
            CheckedPaper(
                check.manuscript_id,
                attempt.attempt,
                None if failed else names,
                ballots,
            )
        )
    return tuple(papers)


def combine_votes(votes: Sequence[bool | None], rule: Rule) -> bool | None:
    """Combine votes by a rule.

    The result is None without votes, or where a missing vote could decide. A majority is more than
    half.
    """
    if not votes:
        return None
    yes, no, missing = votes.count(True), votes.count(False), votes.count(None)
    needed_votes = {Rule.ANY: 1, Rule.MAJORITY: len(votes) // 2 + 1, Rule.ALL: len(votes)}[rule]
    assert yes + no + missing == len(votes)
    if yes >= needed_votes:
        return True
    return None if yes + missing >= needed_votes else False


def answer_of(ballots: Sequence[Ballot], problem_id: str, judge: str) -> bool | None:
    """Return the judge's most frequent vote on the problem.

    The result is None when tied or missing.

    Source: quality checker §2.3, "most self-consistent".
    """
    hits = [
        one.hit
        for one in ballots
        if one.problem_id == problem_id and one.judge == judge and one.hit is not None
    ]
    return None if hits.count(True) == hits.count(False) else hits.count(True) > hits.count(False)


def paper_hit(
    paper: CheckedPaper, judges: Sequence[str], rule: Rule, k: int | None = None
) -> bool | None:
    """Return whether the attempt's first `k` problems include the known one.

    By default all problems count. A judge's vote on a paper is yes if any of its problems is a hit,
    as published. An attempt that found nothing is no hit; a failed attempt is None.
    """
    if paper.problem_ids is None or not judges:
        return None
    problems = paper.problem_ids[:k]
    if not problems:
        return False
    return combine_votes(
        [
            combine_votes([answer_of(paper.ballots, name, judge) for name in problems], Rule.ANY)
            for judge in judges
        ],
        rule,
    )


def hit_rate(
    papers: Sequence[CheckedPaper], judges: Sequence[str], rule: Rule, k: int | None = None
) -> Estimate:
    """Estimate HR@k, the share of papers with a top-k hit.

    A hit is a known problem among the first k. The share is from 0 to 1. One attempt per paper;
    Wilson interval. `k` is at most the checker's maximum number of problems. `rule`: the article
    takes a majority of the judges, or all for a stricter evaluation; its two judges must agree in
    Table 2, and Table 3 reports each alone.

    Bad input: failed attempts and papers left undecided by missing votes are unscored; without a
    decided paper the rate is undefined.

    Raises:
        ValueError: a paper has several attempts; use `mean_hit_rate`.
    """
    if len({paper.paper_id for paper in papers}) < len(papers):
        raise ValueError("a paper has several attempts: use mean_hit_rate")
    return share_of([paper_hit(paper, judges, rule, k) for paper in papers])


def mean_hit_rate(
    papers: Sequence[CheckedPaper],
    judges: Sequence[str],
    rule: Rule,
    k: int | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate MHR@k, the mean over papers of their share of hits.

    From 0 to 1; BCa bootstrap over papers; `count` is papers.

    Bad input: failed and undecided attempts are left out of their paper's share; a paper without
    any other attempt is unscored; without a scored paper the rate is undefined.
    """
    outcomes: dict[str, list[bool | None]] = {}
    for paper in papers:
        outcomes.setdefault(paper.paper_id, []).append(paper_hit(paper, judges, rule, k))
    shares = [share_of(hits) for hits in outcomes.values()]
    return mean([one.value if one.defined else None for one in shares], seed)


def precision(
    papers: Sequence[CheckedPaper], judges: Sequence[str], rule: Rule, k: int | None = None
) -> Estimate:
    """Estimate the share of reported problems that match, from 0 to 1.

    Wilson interval over problems. A lower bound on the share of real problems, because a paper may
    have others than the one that its authors named.

    Bad input: problems left undecided by missing votes are unscored (there are many where judges
    stop at the first hit); a checker that reports nothing has no precision.
    """
    verdicts = [
        combine_votes([answer_of(paper.ballots, problem, judge) for judge in judges], rule)
        for paper in papers
        if paper.problem_ids is not None
        for problem in paper.problem_ids[:k]
    ]
    return share_of(verdicts)
