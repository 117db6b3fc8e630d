"""Checks one manuscript: read it, find problems, let judges vote where the authors' own reason is
known (quality checker, section 2.3).
"""

import asyncio
from collections.abc import Sequence

from schemas.failure import Failure
from schemas.outcome import Outcome, Scored
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.check_run import CheckRequest, ManuscriptSource
from schemas.works.manuscripts import (
    Attempt,
    ManuscriptCheck,
    ManuscriptForm,
    Problem,
    Vote,
)
from tasks.accounting.ledger import Ledger
from tasks.judging.messages import Attachment
from tasks.manuscripts.attempts import attempts_at
from tasks.manuscripts.collect import TEX_SUFFIXES
from tasks.manuscripts.find import with_usage
from tasks.manuscripts.pool import Pool, frozen_pool, gather_pool
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput, HitReply
from tasks.manuscripts.tools import CheckTools, EngineOfRepetition


async def judge_problems(
    problems: Sequence[Problem],
    reason: str,
    judges: Sequence[tuple[str, EngineOfRepetition]],
    repetition_count: int = 1,
) -> tuple[Vote, ...]:
    """A vote of every judge on every problem, `repetition_count` times; problems in order, then
    judges, then repetitions.

    Nobody stops at a first hit: precision needs every vote. An answer that could not be had is a
        vote without one.
    """
    asked = [
        (problem, judge, engine_of, repetition)
        for problem in problems
        for judge, engine_of in judges
        for repetition in range(1, repetition_count + 1)
    ]
    return tuple(await asyncio.gather(*(_vote(*each, reason) for each in asked)))


async def _vote(
    problem: Problem, judge: str, engine_of: EngineOfRepetition, repetition: int, reason: str
) -> Vote:
    question = HitInput(
        problem=problem.problem,
        location=problem.location,
        explanation=problem.explanation,
        reason=reason,
    )
    outcome: Outcome[HitReply] = await engine_of(repetition).run(JUDGE_HIT, question)
    if isinstance(outcome, Scored):
        return Vote(
            problem_id=problem.problem_id,
            judge=judge,
            repetition=repetition,
            hit=outcome.value.hit,
            explanation=outcome.value.explanation,
            provenance=outcome.provenance,
        )
    return Vote(
        problem_id=problem.problem_id,
        judge=judge,
        repetition=repetition,
        hit=None,
        unscored_reason=outcome.reason,
        unscored_detail=outcome.detail,
        provenance=outcome.provenance,
    )


TOKENS_PER_PAGE = 1_500
"""An attached page as text and picture: between the 330 and 3,100 that Table 2 of the quality
checker comes to.
"""


async def check_manuscript(
    source: ManuscriptSource,
    request: CheckRequest,
    tools: CheckTools,
    settings: Settings,
    ledger: Ledger,
) -> ManuscriptCheck:
    """Check one manuscript; never raises for what it or an engine does."""
    read = await read_manuscript(
        source,
        request.form,
        settings.documents,
        settings.grobid_url,
        ledger,
        (lambda: False) if request.review else tools.takes_pdf,
    )
    if isinstance(read, Unreadable):
        return unread(source, request, read, ledger)
    earlier = request.revision.check_of(source.manuscript_id) if request.revision else None
    pool = frozen_pool(earlier) if earlier else await _pool(read, request, tools, ledger)
    made = await attempts_at(
        read,
        request,
        lambda attempt, attachment: tools.checker(ledger, attempt, attachment),
        _attachment(read),
        pool or Pool(),
    )
    votes: tuple[Vote, ...] = ()
    if source.known_reason is not None and request.judges:
        judges = [(judge.engine.text, tools.judge(ledger, judge)) for judge in request.judges]
        votes = await judge_problems(
            [problem for problem in made.problems if problem.stands],
            source.known_reason,
            judges,
            request.repetition_count,
        )
    looked = pool.failures if pool else ()
    failures = [*_failures(made.attempts, source), *looked, *made.failures, *ledger.failures]
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title=read.title,
        form=read.form,
        content_sha256=source.content_sha256,
        word_count=read.word_count,
        missing_files=read.missing_files,
        missing_preamble_files=read.missing_preamble_files,
        page_count=len(read.pages) or None,
        known_reason=source.known_reason,
        attempts=tuple(with_usage(attempt, ledger.llm_calls) for attempt in made.attempts),
        problems=made.problems,
        votes=votes,
        reviews=made.reviews,
        works=pool.works if pool else (),
        reference_count=pool.reference_count if pool else None,
        searched_reference_count=pool.searched_reference_count if pool else None,
        unanswered_count=pool.unanswered_count if pool else None,
        failures=tuple([read.passed_over, *failures] if read.passed_over else failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


async def _pool(
    read: Manuscript, request: CheckRequest, tools: CheckTools, ledger: Ledger
) -> Pool | None:
    """None: nothing is looked up."""
    literature = tools.literature(ledger)
    if literature is None:
        return None
    reading = read.reading
    engine = tools.checker(ledger, 1, None)
    retractions = tools.retractions(ledger)
    return await gather_pool(
        read.title, reading, engine, literature, request.cutoff_date, retractions
    )


def _attachment(manuscript: Manuscript) -> Attachment | None:
    if manuscript.attachment is None:
        return None
    return Attachment(
        manuscript.name,
        manuscript.content_sha256,
        TOKENS_PER_PAGE * len(manuscript.pages),
        manuscript.attachment,
    )


def _failures(attempts: Sequence[Attempt], source: ManuscriptSource) -> list[Failure]:
    return [
        Failure(
            stage="find_problems",
            subject=f"{source.manuscript_id} attempt {attempt.attempt}",
            reason=attempt.unscored_reason,
            detail=attempt.unscored_detail,
        )
        for attempt in attempts
        if attempt.unscored_reason is not None
    ]


def unread(
    source: ManuscriptSource, request: CheckRequest, why: Unreadable, ledger: Ledger
) -> ManuscriptCheck:
    """Every attempt at it is unscored: a paper that could not be read is not one without
    problems.
    """
    attempts = tuple(
        Attempt(
            attempt=number,
            problem_count=None,
            unscored_reason=Reason.SOURCE_UNAVAILABLE,
            unscored_detail=why.detail,
        )
        for number in range(1, request.attempt_count + 1)
    )
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title="",
        form=_form_of_name(source),
        content_sha256=source.content_sha256,
        word_count=0,
        known_reason=source.known_reason,
        unread_reason=why.reason,
        attempts=attempts,
        problems=(),
        llm_calls=tuple(ledger.llm_calls),
        failures=(
            Failure(
                stage="documents",
                subject=source.manuscript_id,
                reason=why.reason,
                detail=why.detail,
            ),
            *ledger.failures,
        ),
        api_calls=tuple(ledger.api_calls),
    )


def _form_of_name(source: ManuscriptSource) -> ManuscriptForm:
    suffix = source.path.suffix.lower()
    if suffix == ".pdf":
        return ManuscriptForm.PDF
    return (
        ManuscriptForm.LATEX
        if source.path.is_dir() or suffix in TEX_SUFFIXES
        else ManuscriptForm.TEXT
    )
