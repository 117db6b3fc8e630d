"""Hit rates and precision of a manuscript checker (quality checker §2.3)."""

from collections.abc import Sequence

from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, share_of
from tasks.metrics.votes import CheckedPaper, Level, Rule, paper_hit, problem_hit


def hit_rate(
    papers: Sequence[CheckedPaper],
    judges: Sequence[str],
    rule: Rule,
    k: int | None = None,
    level: Level = "paper",
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
    return share_of([paper_hit(paper, judges, rule, k, level) for paper in papers])


def mean_hit_rate(
    papers: Sequence[CheckedPaper],
    judges: Sequence[str],
    rule: Rule,
    k: int | None = None,
    level: Level = "paper",
    seed: int = 0,
) -> Estimate:
    """MHR@k: the share of a paper's attempts that are hits, averaged over papers; from 0 to 1; BCa
    bootstrap over papers.

    `count` is papers. Bad input: attempts that failed or stay undecided are left out of their
    paper's share; a paper with none left is unscored; no paper left is undefined.
    """
    outcomes: dict[str, list[bool | None]] = {}
    for paper in papers:
        outcomes.setdefault(paper.paper_id, []).append(paper_hit(paper, judges, rule, k, level))
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
        many) are unscored;
    a checker that reports nothing has no precision.
    """
    found = [
        problem_hit(paper, problem, judges, rule)
        for paper in papers
        if paper.problem_ids is not None
        for problem in paper.problem_ids[:k]
    ]
    return share_of(found)
