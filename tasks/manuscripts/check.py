"""Check of one manuscript: reading, attempts at finding problems, and votes of judges.

An attempt is one pass over the whole text or a review by section. Judges vote if the authors' own
reason is known (quality checker, section 2.3).
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from schemas.failure import Failure
from schemas.outcome import Outcome, Scored
from schemas.reasons import Reason
from schemas.work import Judge
from schemas.works.check_run import CheckParameters, ManuscriptSource
from schemas.works.manuscripts import (
    JUDGES,
    Attempt,
    ManuscriptCheck,
    ManuscriptForm,
    Problem,
    Vote,
)
from tasks.accounting.ledger import Ledger
from tasks.documents.document import Refusal
from tasks.judging.messages import Attachment, takes_pdf
from tasks.manuscripts.collect import TEX_SUFFIXES
from tasks.manuscripts.find import find_problems, with_usage
from tasks.manuscripts.read import Manuscript, read_manuscript
from tasks.manuscripts.reference_pool import Pool, frozen_pool, gather_pool
from tasks.manuscripts.review import Review, review_manuscript, revise_review, with_debate
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput, HitReply
from tasks.sources.crossref import CrossrefSource
from tasks.sources.http_source import HttpSource
from tasks.sources.openalex import OpenAlexSource
from tasks.sources.registry import open_sources
from tasks.work.tools import Tools

TOKENS_PER_PAGE = 1_500
"""Tokens of an attached page as text and picture; Table 2 of the quality checker implies 330 to
3,100.
"""


async def check_manuscript(source: ManuscriptSource, tools: Tools) -> ManuscriptCheck:
    """Check one manuscript; failures of reading or of an engine do not raise."""
    parameters: CheckParameters = tools.request.parameters
    ledger, settings, model = tools.ledger, tools.settings, tools.request.engine.model
    manuscript = await read_manuscript(
        source,
        parameters.form,
        settings.documents,
        settings.grobid_url,
        ledger,
        lambda: not parameters.review and model is not None and takes_pdf(model),
    )
    if isinstance(manuscript, Refusal):
        return failed_check(source, parameters, manuscript, ledger)
    count = parameters.attempt_count
    pool = frozen_pool(source.earlier) if source.earlier else await _pool(manuscript, tools)
    reviews: Sequence[Review] = ()
    if parameters.review:  # which never attaches the file
        reviews = await asyncio.gather(
            *(
                _review(manuscript, source, tools, number, pool or Pool())
                for number in range(1, count + 1)
            )
        )
        attempts = tuple(review.attempt for review in reviews)
        problems = tuple(problem for review in reviews for problem in review.problems)
    else:
        attachment: Attachment | None = None
        if manuscript.attachment is not None:
            tokens = TOKENS_PER_PAGE * len(manuscript.pages)
            attachment = Attachment(
                manuscript.name, manuscript.content_sha256, tokens, manuscript.attachment
            )
        attempts, problems = await find_problems(
            manuscript,
            lambda number: tools.engine_of(attachment, _of_several(number, count)),
            maximum_problems=parameters.maximum_problems,
            attempt_count=count,
            wording=parameters.wording,
        )
    reason = source.known_reason
    votes = await _votes(problems, reason, tools) if reason is not None else ()
    failures = [
        Failure(
            stage="find_problems",
            subject=f"{source.manuscript_id} attempt {attempt.attempt}",
            reason=attempt.unscored_reason,
            detail=attempt.unscored_detail,
        )
        for attempt in attempts
        if attempt.unscored_reason is not None
    ]
    # Of several judges, those without a reply; the others' problems count.
    failures += [
        Failure(
            stage=JUDGES,
            subject=vote.judge,
            reason=vote.unscored_reason,
            detail=f"{vote.step}: {vote.unscored_detail}",
        )
        for vote in ledger.judge_votes
        if vote.unscored_reason is not None
    ]
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title=manuscript.title,
        form=manuscript.form,
        content_sha256=source.content_sha256,
        word_count=manuscript.word_count,
        missing_files=manuscript.missing_files,
        missing_preamble_files=manuscript.missing_preamble_files,
        page_count=len(manuscript.pages) or None,
        known_reason=source.known_reason,
        attempts=tuple(with_usage(attempt, ledger.llm_calls) for attempt in attempts),
        problems=problems,
        votes=votes,
        reviews=tuple(review.written for review in reviews if review.written is not None),
        works=pool.works if pool else (),
        reference_count=pool.reference_count if pool else None,
        searched_reference_count=pool.searched_reference_count if pool else None,
        unanswered_count=pool.unanswered_count if pool else None,
        failures=(
            *([manuscript.passed_over] if manuscript.passed_over else ()),
            *failures,
            *(pool.failures if pool else ()),
            *(failure for review in reviews for failure in review.failures),
            *ledger.failures,
        ),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


def _of_several(number: int, count: int) -> int | None:
    """Return the repetition number of a prompt, or None for a single call.

    A single call uses the profile's temperature. Repetitions use the model's own, with increasing
    seeds and separate cache entries; otherwise all replies would equal the first.
    """
    return number if count > 1 else None


async def _pool(manuscript: Manuscript, tools: Tools) -> Pool | None:
    """Look up the evidence; None without literature."""
    request = tools.request
    if request.literature is None:
        return None
    # Retractions are looked up by DOI, and only if the live API is used.
    retractions: Sequence[HttpSource] = ()
    if request.literature.asks_upstream:
        names = [OpenAlexSource.name, CrossrefSource.name]
        retractions = open_sources(tools.settings, tools.sources, names)
    return await gather_pool(
        manuscript.title,
        manuscript.reading,
        tools.engine_of(None, _of_several(1, request.parameters.attempt_count)),
        tools.literature(with_retracted=True),  # the check reports cited works that were retracted
        request.cutoff_date,
        retractions,
    )


async def _review(
    manuscript: Manuscript, source: ManuscriptSource, tools: Tools, number: int, pool: Pool
) -> Review:
    """Review the manuscript, or revise a review, and debate the disputed problems."""
    parameters: CheckParameters = tools.request.parameters
    engine = tools.engine_of(None, _of_several(number, parameters.attempt_count))
    review = (
        await review_manuscript(manuscript, engine, number, parameters.maximum_problems, pool)
        if source.earlier is None
        else await revise_review(
            manuscript, source.earlier, source.preferences, number, engine, pool
        )
    )
    return await with_debate(review, manuscript, engine, pool)


async def _votes(problems: Sequence[Problem], reason: str, tools: Tools) -> tuple[Vote, ...]:
    """Collect votes in the order of standing problems, judges, repetitions.

    Voting continues after a hit, because precision needs every vote. A failed call is a vote without
    an answer.
    """
    parameters: CheckParameters = tools.request.parameters
    count = parameters.repetition_count

    async def vote(problem: Problem, judge: Judge, repetition: int) -> Vote:
        question = HitInput(
            problem=problem.problem,
            location=problem.location,
            explanation=problem.explanation,
            reason=reason,
            wording=parameters.wording,
        )
        engine = tools.judge(judge, _of_several(repetition, count))
        outcome: Outcome[HitReply] = await engine.run(JUDGE_HIT, question)
        answer: dict[str, Any] = (
            {"hit": outcome.value.hit, "explanation": outcome.value.explanation}
            if isinstance(outcome, Scored)
            else {
                "hit": None,
                "unscored_reason": outcome.reason,
                "unscored_detail": outcome.detail,
            }
        )
        return Vote(
            problem_id=problem.problem_id,
            judge=judge.engine.text,
            repetition=repetition,
            provenance=outcome.provenance,
            **answer,
        )

    votes = [
        vote(problem, judge, repetition)
        for problem in problems
        if problem.stands
        for judge in parameters.judges
        for repetition in range(1, count + 1)
    ]
    return tuple(await asyncio.gather(*votes))


def failed_check(
    source: ManuscriptSource, parameters: CheckParameters, why: Refusal, ledger: Ledger
) -> ManuscriptCheck:
    """Return a check whose attempts are all unscored: an unreadable paper may have problems."""
    suffix = source.path.suffix.lower()
    form = ManuscriptForm.PDF if suffix == ".pdf" else ManuscriptForm.TEXT
    if suffix in TEX_SUFFIXES or (form is ManuscriptForm.TEXT and source.path.is_dir()):
        form = ManuscriptForm.LATEX
    failure = Failure(
        stage="documents", subject=source.manuscript_id, reason=why.reason, detail=why.detail
    )
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title="",
        form=form,
        content_sha256=source.content_sha256,
        word_count=0,
        known_reason=source.known_reason,
        unread_reason=why.reason,
        attempts=tuple(
            Attempt(
                attempt=number,
                problem_count=None,
                unscored_reason=Reason.SOURCE_UNAVAILABLE,
                unscored_detail=why.detail,
            )
            for number in range(1, parameters.attempt_count + 1)
        ),
        problems=(),
        llm_calls=tuple(ledger.llm_calls),
        failures=(failure, *ledger.failures),
        api_calls=tuple(ledger.api_calls),
    )
