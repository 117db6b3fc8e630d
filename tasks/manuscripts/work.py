"""Declaration of manuscript checks: expected calls, and hit rates by judge and by rule.

Hit rates follow the quality checker, section 2.3. An estimate reads the manuscripts without model
calls. The number of candidates is unknown; the estimate uses the limit of second looks.
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
)
from schemas.works.manuscripts import Decision, ManuscriptCheck
from tasks.accounting.ledger import Ledger
from tasks.documents.document import Refusal
from tasks.judging.expected import CHARACTERS_PER_TOKEN, CallsByStep, ExpectedCalls, add_calls
from tasks.judging.messages import takes_pdf
from tasks.judging.step import Step
from tasks.manuscripts.check import TOKENS_PER_PAGE, check_manuscript, failed_check
from tasks.manuscripts.problems import WORKS_SHOWN
from tasks.manuscripts.read import Manuscript, read_manuscript
from tasks.manuscripts.reference_pool import BREADTH, DEPTH, POOL_STEPS, strong_claims
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
from tasks.manuscripts.steps.review import (
    NOTES_WORDS,
    READ_SECTION,
    REFUTE_PROBLEM,
    REVIEW_ASPECT,
    WEIGH_PROBLEM,
    WRITE_REVIEW,
    Aspect,
)
from tasks.metrics.estimate import benchmark_score
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
from tasks.work.declaration import Expected, Result, Work
from tasks.work.tools import Tools
from warehouse.parquet import write_bytes


def check_scores(
    checks: Sequence[ManuscriptCheck], judges: Sequence[str], *, maximum_problems: int
) -> tuple[CheckScore, ...]:
    """Compute HR@k (MHR@k for several attempts) and precision.

    Rows are for each judge, and for several judges by any, majority and all. Where several models
    looked for problems, they are of all problems (k of each model), then of each model's own.
    Manuscripts without a known reason are skipped; without judges there are no scores.
    """
    known_checks = [check for check in checks if check.known_reason is not None]
    finders = dict.fromkeys(
        model for check in known_checks for one in check.attempts for model in one.answered_by
    )
    if not judges or not known_checks:
        return ()
    return tuple(
        score
        for finder in ("", *finders)
        for score in _scores_of(
            finder,
            [paper for check in known_checks for paper in checked_papers(check, finder)],
            judges,
            maximum_problems,
            # The union has as many problems as the models have together.
            maximum_problems * (1 if finder else max(len(finders), 1)),
        )
    )


def _scores_of(
    finder: str,
    papers: Sequence[CheckedPaper],
    judges: Sequence[str],
    maximum_problems: int,
    k: int,
) -> Iterator[CheckScore]:
    """Yield the scores of the first `k` problems, under the name of the requested number."""
    several = len({paper.paper_id for paper in papers}) < len(papers)
    name, rate = ("mean_hit_rate", mean_hit_rate) if several else ("hit_rate", hit_rate)
    # For a single judge all rules agree.
    panels: list[tuple[str, tuple[str, ...], Rule]] = [
        (judge, (judge,), Rule.ALL) for judge in judges
    ]
    if len(judges) > 1:
        panels += [(rule.value, tuple(judges), rule) for rule in Rule]
    for panel_name, panel, rule in panels:
        for metric, estimate in (
            (f"{name}@{maximum_problems}", rate(papers, panel, rule, k)),
            (f"precision@{maximum_problems}", precision(papers, panel, rule, k)),
        ):
            row = benchmark_score(estimate, "critical_problems", metric, panel_name)
            values = {field: getattr(row, field) for field in _SCORE_FIELDS}
            yield CheckScore(metric=metric, judges=panel_name, found_by=finder, **values)


_SCORE_FIELDS = CheckScore.model_fields.keys() - {"metric", "judges", "found_by"}
MAXIMUM_FAILED_SHARE = 0.1
"""Largest share of failed attempts with exit code 0."""
_MOST_NAMED = 10


def _given(job: CheckJob, folder: Path) -> tuple[tuple[Path, ...]]:
    place = folder / "manuscripts"
    place.mkdir(parents=True, exist_ok=True)
    files = {place / name: content for name, content in (each.file for each in job.manuscripts)}
    for path, content in files.items():
        write_bytes(path, content)
    return (tuple(files),)


def _steps(request: CheckRequest) -> tuple[Step[Any, Any], ...]:
    parameters = request.parameters
    review = REVIEW_STEPS if parameters.revises is None else REVISION_STEPS
    check_steps = review if parameters.review else (FIND_PROBLEMS,)
    pool_steps = POOL_STEPS if request.literature is not None else ()
    return (*pool_steps, *check_steps, JUDGE_HIT)


def _failed(source: ManuscriptSource, tools: Tools, cause: Cause) -> ManuscriptCheck:
    return failed_check(source, tools.request.parameters, Refusal(*cause), tools.ledger)


def _head(request: CheckRequest) -> Mapping[str, Any]:
    """Return head fields; a revision has the look-ups of its review."""
    earlier_review = request.parameters.revises
    fields = {
        "judges": tuple(judge.engine.text for judge in request.parameters.judges),
        "revises": earlier_review.run_id if earlier_review else "",
    }
    look_ups = (
        {"literature": earlier_review.literature, "cutoff_date": earlier_review.cutoff_date}
        if earlier_review
        else {}
    )
    return {**fields, **look_ups}


def _result(_: CheckHead, checks: Sequence[ManuscriptCheck]) -> Result:
    """Summarize; a manuscript with missing text files counts as failed."""
    attempts = [(check, attempt) for check in checks for attempt in check.attempts]
    failed_count = sum(
        attempt.problem_count is None or check.is_partly_read for check, attempt in attempts
    )
    loss_lines = []
    for check in checks:
        if check.unread_reason is not None:
            reason = str(check.unread_reason).replace("_", " ")
            loss_lines.append(f"{check.manuscript_id} could not be read ({reason})")
        elif check.is_partly_read:
            files, more = check.missing_files[:_MOST_NAMED], len(check.missing_files) - _MOST_NAMED
            names = ", ".join(files) + (f" and {more:,} more" if more > 0 else "")
            loss_lines.append(
                f"{check.manuscript_id} was read in part, without {names}: no all-clear"
            )
    in_order = failed_count <= MAXIMUM_FAILED_SHARE * len(attempts)
    return Result("checked", in_order=in_order, lost=tuple(loss_lines))


def _figures(page: Any, _: CheckRequest | None) -> Mapping[str, Any]:
    head: CheckHead = page.head
    most = head.maximum_problems
    return {"scores": check_scores(page.checks, head.judges, maximum_problems=most)}


PROBLEM_TOKENS = 150
"""Tokens of one problem with place and explanation, as a reply."""
PASSAGES_TOKENS = 900
"""Tokens of the 25 sentences shown in a second look."""
WORK_TOKENS = 180
"""Tokens of a work with its abstract."""
VERDICT_TOKENS = 90
LOOK_TOKENS = 160
"""Tokens of a second look's reply: innocent explanation, reason and verdict."""
REVIEW_TOKENS = 500
_NOTES_TOKENS = NOTES_WORDS * 4 / 3


def _expected(request: CheckRequest, settings: Settings) -> Expected:
    """Estimate a check without using the reply cache."""
    return asyncio.run(_estimate(request, settings))


async def _estimate(request: CheckRequest, settings: Settings) -> Expected:
    model, parameters = request.engine.model, request.parameters
    calls_of_sources: list[CallsByStep] = []
    of_each_judge: list[CallsByStep] = []
    failures: list[str] = []
    titles: list[str] = []
    words = 0
    for source in request.units:
        reading = read_manuscript(
            source,
            parameters.form,
            settings.documents,
            None,
            Ledger(IdeaId(source.manuscript_id)),
            lambda: not parameters.review and model is not None and takes_pdf(model),
        )
        manuscript = await or_failure(
            reading,
            f"the estimate of manuscript {source.manuscript_id!r}",
            lambda cause: Refusal(*cause),  # its check reports the failure
        )
        if isinstance(manuscript, Refusal):
            failures.append(f"{source.manuscript_id} cannot be read: {manuscript.detail}")
            continue
        words += manuscript.word_count
        titles.append(manuscript.title or manuscript.name)
        if parameters.revises is not None:
            calls = _calls_of_revision(source, parameters.revises, parameters)
        elif parameters.review:
            calls = _calls_of_review(
                manuscript, parameters, looks_up=request.literature is not None
            )
        else:
            text_tokens = (
                len(manuscript.text) / CHARACTERS_PER_TOKEN
                if manuscript.attachment is None
                else TOKENS_PER_PAGE * len(manuscript.pages)
            )
            reply_tokens = parameters.maximum_problems * PROBLEM_TOKENS
            calls = {FIND_PROBLEMS: _each(parameters.attempt_count, text_tokens, reply_tokens)}
        calls_of_sources.append(calls)
        if source.known_reason is not None:
            problems = parameters.maximum_problems * parameters.attempt_count
            prompt_tokens = PROBLEM_TOKENS + len(source.known_reason) / CHARACTERS_PER_TOKEN
            votes = problems * parameters.repetition_count
            of_each_judge.append({JUDGE_HIT: _each(votes, prompt_tokens, VERDICT_TOKENS)})
    titles_in_words = f"as read: {'; '.join(titles[:_MOST_NAMED])}; " if titles else ""
    return Expected(
        per_step=add_calls(calls_of_sources),
        counts={
            "manuscripts": len(request.units),
            "manuscripts_read": len(calls_of_sources),
            "words": words,
        },
        note=f"{titles_in_words}calls are the most there may be, and sizes of answers may differ"
        " by half",
        of_each_judge=add_calls(of_each_judge),
        lost=tuple(failures),
    )


def _each(calls: int, prompt_tokens: float, reply_tokens: float) -> ExpectedCalls:
    """Return calls with the tokens of each."""
    return ExpectedCalls(calls, calls * prompt_tokens, calls * reply_tokens)


def _calls_of_review(
    manuscript: Manuscript, parameters: CheckParameters, *, looks_up: bool
) -> CallsByStep:
    """Return the most calls that a review of a manuscript makes.

    Args:
        looks_up: whether related work is looked up, once for all attempts.
    """
    reading = manuscript.reading
    sections = sections_of(reading)[:MOST_SECTIONS]
    text_tokens = sum(len(section.text) for section in sections) / CHARACTERS_PER_TOKEN
    count, attempts = len(sections), parameters.attempt_count
    looks = CANDIDATES_PER_PROBLEM * parameters.maximum_problems
    aspects = len(Aspect) - (not looks_up)
    work_tokens = WORKS_SHOWN * WORK_TOKENS if looks_up else 0
    calls: CallsByStep = {}
    if looks_up:
        parts = [BREADTH, *(DEPTH for _ in strong_claims(reading))]
        surveys = [expected_survey(replace(one, papers_read=0), full_text=False) for one in parts]
        calls = add_calls({step: one[step.name] for step in POOL_STEPS} for one in surveys)
    notes_tokens = min(count * NOTES_WORDS, ALL_NOTES_WORDS) * 4 / 3
    aspect_works = WORKS_OF_ASPECTS * WORK_TOKENS if looks_up else 0
    return {
        **calls,
        READ_SECTION: ExpectedCalls(
            attempts * count,
            attempts * (text_tokens + count * _NOTES_TOKENS),
            attempts * (count * _NOTES_TOKENS + looks * PROBLEM_TOKENS),
        ),
        REVIEW_ASPECT: _each(
            attempts * aspects,
            notes_tokens + 2 * PASSAGES_TOKENS + aspect_works,
            PROBLEM_TOKENS + VERDICT_TOKENS,
        ),
        REFUTE_PROBLEM: _each(
            attempts * looks, PASSAGES_TOKENS + PROBLEM_TOKENS + work_tokens, LOOK_TOKENS
        ),
        WEIGH_PROBLEM: _each(
            attempts * min(looks, MOST_DEBATES),
            PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + work_tokens,
            2 * VERDICT_TOKENS,
        ),
        WRITE_REVIEW: _each(
            attempts,
            2 * _NOTES_TOKENS + parameters.maximum_problems * PROBLEM_TOKENS,
            REVIEW_TOKENS,
        ),
    }


def _calls_of_revision(
    source: ManuscriptSource, earlier_review: EarlierReview, parameters: CheckParameters
) -> CallsByStep:
    recheck_count = sum(one.decision is Decision.LOOK_AGAIN for one in source.preferences)
    work_tokens = WORKS_SHOWN * WORK_TOKENS if earlier_review.literature else 0
    look_tokens = PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + work_tokens
    problems = parameters.maximum_problems * PROBLEM_TOKENS
    return {
        REFUTE_PROBLEM: _each(recheck_count, look_tokens, LOOK_TOKENS),
        WEIGH_PROBLEM: _each(recheck_count, look_tokens, 2 * VERDICT_TOKENS),
        WRITE_REVIEW: _each(parameters.attempt_count, 2 * _NOTES_TOKENS + problems, REVIEW_TOKENS),
    }


CHECK: Work[ManuscriptSource, CheckParameters, ManuscriptCheck] = Work(
    schema=CHECKS,
    job=CheckJob,
    given=_given,
    resolve=resolve,
    identity=("manuscript_id", "content_sha256", "known_reason", "preferences"),
    documents=True,
    steps=_steps,
    do=check_manuscript,
    failed=_failed,
    expects=_expected,
    result=_result,
    head=_head,
    figures=_figures,
)
