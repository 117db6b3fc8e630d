"""Checks of manuscripts: their declaration, and hit rates by judge and by rule (quality checker,
section 2.3).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.works.check_run import (
    CHECKS,
    CheckHead,
    CheckJob,
    CheckParameters,
    CheckRequest,
    CheckScore,
    ManuscriptSource,
    SentManuscript,
)
from schemas.works.manuscripts import ManuscriptCheck
from tasks.judging.step import Step
from tasks.manuscripts.check import check_manuscript, unread
from tasks.manuscripts.expected import expected_check
from tasks.manuscripts.pool import POOL_STEPS
from tasks.manuscripts.read import Unreadable
from tasks.manuscripts.resolve import resolve
from tasks.manuscripts.review import REVIEW_STEPS, REVISION_STEPS
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from tasks.metrics.estimate import Estimate, benchmark_score
from tasks.metrics.hit_rate import (
    CheckedPaper,
    Rule,
    checked_papers,
    hit_rate,
    mean_hit_rate,
    precision,
)
from tasks.shards.work import Cause
from tasks.work.declaration import Needs, Result, Work
from tasks.work.tools import Tools
from warehouse.parquet import write_bytes


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


MAXIMUM_FAILED_SHARE = 0.1
"""Of attempts, without exit code 1."""
_MOST_NAMED = 10


def _given(job: CheckJob, folder: Path) -> tuple[tuple[Path, ...]]:
    place = folder / "manuscripts"
    place.mkdir(parents=True, exist_ok=True)
    return (tuple(_written(place, sent) for sent in job.manuscripts),)


def _written(place: Path, sent: SentManuscript) -> Path:
    ending = "tex" if r"\documentclass" in sent.text else "md"
    path = place / f"{sent.manuscript_id}.{ending}"
    write_bytes(path, sent.text.encode("utf-8", "replace"))
    return path


def _steps(request: CheckRequest) -> tuple[Step[Any, Any], ...]:
    review = REVIEW_STEPS if request.parameters.revises is None else REVISION_STEPS
    found = review if request.parameters.review else (FIND_PROBLEMS,)
    looked_up = POOL_STEPS if request.literature is not None else ()
    return (*looked_up, *found, JUDGE_HIT)


def _failed(source: ManuscriptSource, tools: Tools, cause: Cause) -> ManuscriptCheck:
    return unread(source, tools.request.parameters, Unreadable(*cause), tools.ledger)


def _head(request: CheckRequest) -> Mapping[str, Any]:
    """A revision looked up what the review before it did."""
    before = request.parameters.revises
    named = {"judges": tuple(judge.engine.text for judge in request.parameters.judges)}
    if before is None:
        return {**named, "revises": ""}
    return {
        **named,
        "revises": before.run_id,
        "literature": before.literature,
        "cutoff_date": before.cutoff_date,
    }


def _result(_: CheckHead, checks: Sequence[ManuscriptCheck]) -> Result:
    """A manuscript of whose text files are missing counts as one that could not be checked."""
    attempts = [(check, attempt) for check in checks for attempt in check.attempts]
    failed = sum(
        attempt.problem_count is None or check.is_partly_read for check, attempt in attempts
    )
    in_order = failed <= MAXIMUM_FAILED_SHARE * len(attempts)
    return Result("checked", in_order=in_order, lost=tuple(_lost(checks)))


def _lost(checks: Sequence[ManuscriptCheck]) -> Iterator[str]:
    for check in checks:
        if check.unread_reason is not None:
            why = str(check.unread_reason).replace("_", " ")
            yield f"{check.manuscript_id} could not be read ({why})"
        elif check.is_partly_read:
            files, more = check.missing_files[:_MOST_NAMED], len(check.missing_files) - _MOST_NAMED
            named = ", ".join(files) + (f" and {more:,} more" if more > 0 else "")
            yield f"{check.manuscript_id} was read in part, without {named}: no all-clear"


def _figures(page: Any, _: CheckRequest | None) -> Mapping[str, Any]:
    head: CheckHead = page.head
    most = head.maximum_problems
    return {"scores": check_scores(page.checks, head.judges, maximum_problems=most)}


CHECK: Work[ManuscriptSource, CheckParameters, ManuscriptCheck] = Work(
    schema=CHECKS,
    job=CheckJob,
    given=_given,
    request=CheckRequest,
    resolve=resolve,
    identity=("manuscript_id", "content_sha256", "known_reason", "preferences"),
    needs=Needs(documents=True),
    steps=_steps,
    do=check_manuscript,
    failed=_failed,
    expects=expected_check,
    result=_result,
    head=_head,
    figures=_figures,
)
