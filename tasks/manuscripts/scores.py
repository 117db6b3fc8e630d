"""Hit rates of a check by judge and by rule (quality checker, section 2.3)."""

from collections.abc import Iterator, Sequence

from schemas.works.check_run import CheckScore
from schemas.works.manuscripts import ManuscriptCheck
from tasks.metrics.estimate import Estimate, benchmark_score
from tasks.metrics.hit_rate import (
    CheckedPaper,
    Rule,
    checked_papers,
    hit_rate,
    mean_hit_rate,
    precision,
)


def check_scores(
    checks: Sequence[ManuscriptCheck], judges: Sequence[str], *, maximum_problems: int
) -> tuple[CheckScore, ...]:
    """HR@k or, with several attempts, MHR@k, and precision: of each judge alone, and of several by
    any, majority and all.

    Manuscripts whose own reason is not known take no part; without judges there are no scores.
    """
    judged = [check for check in checks if check.known_reason is not None]
    papers = [paper for check in judged for paper in checked_papers(check)]
    if not judges or not judged:
        return ()
    return tuple(_scores(papers, judges, maximum_problems))


def _scores(papers: Sequence[CheckedPaper], judges: Sequence[str], k: int) -> Iterator[CheckScore]:
    several = len({paper.paper_id for paper in papers}) < len(papers)
    name, rate = ("mean_hit_rate", mean_hit_rate) if several else ("hit_rate", hit_rate)
    # Of one judge all rules say the same.
    panels: list[tuple[str, tuple[str, ...], Rule]] = [
        (judge, (judge,), Rule.ALL) for judge in judges
    ]
    if len(judges) > 1:
        panels += [(rule.value, tuple(judges), rule) for rule in Rule]
    for shown, panel, rule in panels:
        yield _score(rate(papers, panel, rule, k), f"{name}@{k}", shown)
        yield _score(precision(papers, panel, rule, k), f"precision@{k}", shown)


def _score(estimate: Estimate, metric: str, judges: str) -> CheckScore:
    row = benchmark_score(estimate, "critical_problems", metric, judges)
    return CheckScore(
        metric=metric,
        judges=judges,
        value=row.value,
        lower=row.lower,
        upper=row.upper,
        count=row.count,
        unscored_count=row.unscored_count,
        undefined_reason=row.undefined_reason,
    )
