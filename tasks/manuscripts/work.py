"""Checks of manuscripts: their declaration, what they will ask, and hit rates by judge and by rule
(quality checker, section 2.3).

The manuscripts are read for an estimate, and nothing is asked. How many candidates a review raises
is not known: counted are as many as it may look at a second time.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.check_run import (
    CHECKS,
    CheckHead,
    CheckJob,
    CheckParameters,
    CheckRequest,
    CheckScore,
    EarlierReview,
    ManuscriptSource,
    SentManuscript,
)
from schemas.works.manuscripts import Decision, ManuscriptCheck
from tasks.accounting.ledger import Ledger
from tasks.judging.expected import CHARACTERS_PER_TOKEN, CallsByStep, ExpectedCalls, add_calls
from tasks.judging.messages import takes_pdf
from tasks.judging.step import Step
from tasks.manuscripts.check import TOKENS_PER_PAGE, check_manuscript, unread
from tasks.manuscripts.pool import BREADTH, DEPTH, POOL_STEPS, strong_claims
from tasks.manuscripts.problems import WORKS_SHOWN
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript
from tasks.manuscripts.resolve import resolve
from tasks.manuscripts.review import (
    ALL_NOTES_WORDS,
    CANDIDATES_PER_PROBLEM,
    MOST_DEBATES,
    MOST_SECTIONS,
    REVIEW_STEPS,
    REVISION_STEPS,
    WORKS_OF_ASPECTS,
)
from tasks.manuscripts.sections import sections_of
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from tasks.manuscripts.steps.read_section import NOTES_WORDS, READ_SECTION
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT, Aspect
from tasks.manuscripts.steps.weigh_problem import WEIGH_PROBLEM
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.metrics.estimate import Estimate, benchmark_score
from tasks.metrics.hit_rate import (
    CheckedPaper,
    Rule,
    checked_papers,
    hit_rate,
    mean_hit_rate,
    precision,
)
from tasks.shards.work import Cause, or_failure
from tasks.survey.expected import expected_survey
from tasks.work.declaration import Expected, Needs, Result, Work
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
    name, content = sent.file
    write_bytes(place / name, content)
    return place / name


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


PROBLEM_TOKENS = 150
"""Of one problem with place and explanation, as an answer."""
PASSAGES_TOKENS = 900
"""Of what a second look is shown: 25 sentences."""
WORK_TOKENS = 180
"""Of a work that was looked up, with its abstract."""
VERDICT_TOKENS = 90
LOOK_TOKENS = 160
"""Of a second look's answer: the innocent explanation, what decides, and the verdict."""
REVIEW_TOKENS = 500
_NOTES_TOKENS = NOTES_WORDS * 4 / 3


def expected_check(request: CheckRequest, settings: Settings) -> Expected:
    """Predict a check as if nothing of it were in the reply cache."""
    return asyncio.run(_expected(request, settings))


async def _expected(request: CheckRequest, settings: Settings) -> Expected:
    asked: list[CallsByStep] = []
    of_each_judge: list[CallsByStep] = []
    lost: list[str] = []
    titles: list[str] = []
    words = 0
    for source in request.units:
        read = await or_failure(
            _read(source, request, settings),
            f"the estimate of manuscript {source.manuscript_id!r}",
            lambda cause: Unreadable(*cause),  # its check fails as well, by itself
        )
        if isinstance(read, Unreadable):
            lost.append(f"{source.manuscript_id} cannot be read: {read.detail}")
            continue
        words += read.word_count
        titles.append(read.title or read.name)
        asked.append(_asked(source, read, request))
        if source.known_reason is not None:
            of_each_judge.append(_asked_of_a_judge(source.known_reason, request.parameters))
    return Expected(
        per_step=add_calls(asked),
        counts={"manuscripts": len(request.units), "manuscripts_read": len(asked), "words": words},
        note="calls are the most there may be, and sizes of answers may differ by half",
        of_each_judge=add_calls(of_each_judge),
        lost=tuple(lost),
        titles=tuple(titles[:_MOST_NAMED]),
    )


async def _read(
    source: ManuscriptSource, request: CheckRequest, settings: Settings
) -> Manuscript | Unreadable:
    model, parameters = request.engine.model, request.parameters
    return await read_manuscript(
        source,
        parameters.form,
        settings.documents,
        None,
        Ledger(IdeaId(source.manuscript_id)),
        lambda: not parameters.review and model is not None and takes_pdf(model),
    )


def _asked(source: ManuscriptSource, read: Manuscript, request: CheckRequest) -> CallsByStep:
    parameters = request.parameters
    if parameters.revises is not None:
        return _asked_by_revision(source, parameters.revises, parameters)
    if parameters.review:
        return asked_by_review(read, parameters, looks_up=request.literature is not None)
    return _asked_by_reading(read, parameters)


def _asked_by_reading(read: Manuscript, parameters: CheckParameters) -> CallsByStep:
    calls = parameters.attempt_count
    shown = (
        len(read.text) / CHARACTERS_PER_TOKEN
        if read.attachment is None
        else TOKENS_PER_PAGE * len(read.pages)
    )
    said = parameters.maximum_problems * PROBLEM_TOKENS
    return {FIND_PROBLEMS: ExpectedCalls(calls, calls * shown, calls * said)}


def asked_by_review(
    read: Manuscript, parameters: CheckParameters, *, looks_up: bool
) -> CallsByStep:
    """Predict what a review of a manuscript asks at most.

    Args:
        looks_up: whether related work is looked up.
    """
    reading = read.reading
    sections = sections_of(reading)[:MOST_SECTIONS]
    shown = sum(len(section.text) for section in sections) / CHARACTERS_PER_TOKEN
    count, attempts = len(sections), parameters.attempt_count
    looks = CANDIDATES_PER_PROBLEM * parameters.maximum_problems
    aspects = len(Aspect) - (not looks_up)
    beside = WORKS_SHOWN * WORK_TOKENS if looks_up else 0
    return {
        **(_asked_for_pool(reading) if looks_up else {}),
        READ_SECTION: ExpectedCalls(
            attempts * count,
            attempts * (shown + count * _NOTES_TOKENS),
            attempts * (count * _NOTES_TOKENS + looks * PROBLEM_TOKENS),
        ),
        REVIEW_ASPECT: ExpectedCalls(
            attempts * aspects,
            attempts * aspects * _aspect_tokens(count, literature=looks_up),
            attempts * aspects * (PROBLEM_TOKENS + VERDICT_TOKENS),
        ),
        REFUTE_PROBLEM: ExpectedCalls(
            attempts * looks,
            attempts * looks * (PASSAGES_TOKENS + PROBLEM_TOKENS + beside),
            attempts * looks * LOOK_TOKENS,
        ),
        WEIGH_PROBLEM: ExpectedCalls(
            attempts * min(looks, MOST_DEBATES),
            attempts * min(looks, MOST_DEBATES) * (PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + beside),
            attempts * min(looks, MOST_DEBATES) * 2 * VERDICT_TOKENS,
        ),
        WRITE_REVIEW: ExpectedCalls(
            attempts,
            attempts * (2 * _NOTES_TOKENS + parameters.maximum_problems * PROBLEM_TOKENS),
            attempts * REVIEW_TOKENS,
        ),
    }


def _asked_by_revision(
    source: ManuscriptSource, before: EarlierReview, parameters: CheckParameters
) -> CallsByStep:
    again = sum(one.decision is Decision.LOOK_AGAIN for one in source.preferences)
    works = WORKS_SHOWN * WORK_TOKENS if before.literature else 0
    shown = PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + works
    attempts = parameters.attempt_count
    problems = attempts * parameters.maximum_problems * PROBLEM_TOKENS
    return {
        REFUTE_PROBLEM: ExpectedCalls(again, again * shown, again * LOOK_TOKENS),
        WEIGH_PROBLEM: ExpectedCalls(again, again * shown, again * 2 * VERDICT_TOKENS),
        WRITE_REVIEW: ExpectedCalls(
            attempts, attempts * 2 * _NOTES_TOKENS + problems, attempts * REVIEW_TOKENS
        ),
    }


def _aspect_tokens(section_count: int, *, literature: bool) -> float:
    """Of what a reviewer of one aspect is shown."""
    notes = min(section_count * NOTES_WORDS, ALL_NOTES_WORDS) * 4 / 3
    works = WORKS_OF_ASPECTS * WORK_TOKENS if literature else 0
    return notes + 2 * PASSAGES_TOKENS + works


def _asked_for_pool(reading: Reading) -> CallsByStep:
    """Once a manuscript, however many attempts are made at it."""
    parts = [BREADTH, *(DEPTH for _ in strong_claims(reading))]
    surveys = [expected_survey(replace(part, papers_read=0), full_text=False) for part in parts]
    return add_calls({step: one[step.name] for step in POOL_STEPS} for one in surveys)


def _asked_of_a_judge(reason: str, parameters: CheckParameters) -> CallsByStep:
    calls = parameters.maximum_problems * parameters.attempt_count * parameters.repetition_count
    shown = calls * (PROBLEM_TOKENS + len(reason) / CHARACTERS_PER_TOKEN)
    return {JUDGE_HIT: ExpectedCalls(calls, shown, calls * VERDICT_TOKENS)}


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
