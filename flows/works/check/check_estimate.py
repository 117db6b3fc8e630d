"""What a check of manuscripts will ask, before it is paid for: calls, tokens and dollars of each.

The manuscripts are read for it, and nothing is asked. How many candidates a review raises is not
known: counted are as many as it may look at a second time.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from flows.run.estimates.work_estimate import estimate_steps
from schemas.base import Noun, replace
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.check_run import CheckRequest, ManuscriptSource, Revision
from schemas.works.manuscripts import Decision
from tasks.accounting.ledger import Ledger
from tasks.judging.expected import (
    CHARACTERS_PER_TOKEN,
    Asked,
    StepEstimate,
    total_usd,
)
from tasks.judging.messages import takes_pdf
from tasks.judging.step import Step
from tasks.manuscripts.aspects import NOTES_WORDS as ALL_NOTES_WORDS
from tasks.manuscripts.aspects import WORKS_SHOWN as WORKS_OF_ASPECTS
from tasks.manuscripts.check import TOKENS_PER_PAGE
from tasks.manuscripts.debate import MOST_DEBATES
from tasks.manuscripts.pool import BREADTH, DEPTH, POOL_STEPS, strong_claims
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript
from tasks.manuscripts.review import CANDIDATES_PER_PROBLEM, MOST_SECTIONS
from tasks.manuscripts.second_look import WORKS_SHOWN
from tasks.manuscripts.sections import sections_of
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from tasks.manuscripts.steps.read_section import NOTES_WORDS, READ_SECTION
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT, Aspect
from tasks.manuscripts.steps.weigh_problem import WEIGH_PROBLEM
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.survey.expected import expected_survey

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


class ManuscriptEstimate(Noun):
    """What one manuscript is expected to ask; `cost_usd` None: a price is unknown."""

    manuscript_id: str
    word_count: int = Field(ge=0)
    model_calls: int = Field(ge=0, description="At most.")
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    cost_usd: float | None
    unread_reason: Reason | None = Field(default=None, description="None: it can be read.")
    unread_detail: str = ""


def estimate_check(request: CheckRequest, settings: Settings) -> tuple[ManuscriptEstimate, ...]:
    """Each manuscript in order, as if nothing of it were in the reply cache."""
    return asyncio.run(_estimated(request, settings))


async def _estimated(request: CheckRequest, settings: Settings) -> tuple[ManuscriptEstimate, ...]:
    model = request.engine.model
    attaches = not request.review and model is not None and takes_pdf(model)
    found = []
    for source in request.sources:
        ledger = Ledger(IdeaId(source.manuscript_id))
        read = await read_manuscript(
            source, request.form, settings.documents, None, ledger, lambda: attaches
        )
        found.append(_of_manuscript(source, read, request, settings))
    return tuple(found)


def _of_manuscript(
    source: ManuscriptSource,
    read: Manuscript | Unreadable,
    request: CheckRequest,
    settings: Settings,
) -> ManuscriptEstimate:
    if isinstance(read, Unreadable):
        return ManuscriptEstimate(
            manuscript_id=source.manuscript_id,
            word_count=0,
            model_calls=0,
            prompt_tokens=0,
            completion_tokens=0,
            cost_usd=0.0,
            unread_reason=read.reason,
            unread_detail=read.detail,
        )
    if request.revision is not None:
        asked = _asked_by_revision(source, request.revision, request, settings)
    elif request.review:
        asked = asked_by_review(read, request, settings)
    else:
        asked = _asked_by_reading(read, request, settings)
    steps = [*asked, *_asked_by_judges(source, request, settings)]
    return ManuscriptEstimate(
        manuscript_id=source.manuscript_id,
        word_count=read.word_count,
        model_calls=round(sum(step.calls for step in steps)),
        prompt_tokens=round(sum(step.prompt_tokens for step in steps)),
        completion_tokens=round(sum(step.completion_tokens for step in steps)),
        cost_usd=total_usd(step.cost_usd for step in steps),
    )


def _asked_by_reading(
    read: Manuscript, request: CheckRequest, settings: Settings
) -> list[StepEstimate]:
    calls = request.attempt_count
    shown = (
        len(read.text) / CHARACTERS_PER_TOKEN
        if read.attachment is None
        else TOKENS_PER_PAGE * len(read.pages)
    )
    said = request.maximum_problems * PROBLEM_TOKENS
    asked: dict[Step[Any, Any], Asked] = {FIND_PROBLEMS: Asked(calls, calls * shown, calls * said)}
    return estimate_steps(asked, request.judging, request.engine, settings)


def asked_by_review(
    read: Manuscript, request: CheckRequest, settings: Settings
) -> list[StepEstimate]:
    """What a review of that manuscript asks at most."""
    reading = read.reading
    sections = sections_of(reading)[:MOST_SECTIONS]
    shown = sum(len(section.text) for section in sections) / CHARACTERS_PER_TOKEN
    count, attempts = len(sections), request.attempt_count
    looks = CANDIDATES_PER_PROBLEM * request.maximum_problems
    aspects = len(Aspect) - (request.literature is None)
    beside = WORKS_SHOWN * WORK_TOKENS if request.literature is not None else 0
    asked: dict[Step[Any, Any], Asked] = {
        **(_asked_for_pool(reading) if request.literature is not None else {}),
        READ_SECTION: Asked(
            attempts * count,
            attempts * (shown + count * _NOTES_TOKENS),
            attempts * (count * _NOTES_TOKENS + looks * PROBLEM_TOKENS),
        ),
        REVIEW_ASPECT: Asked(
            attempts * aspects,
            attempts * aspects * _aspect_tokens(count, literature=request.literature is not None),
            attempts * aspects * (PROBLEM_TOKENS + VERDICT_TOKENS),
        ),
        REFUTE_PROBLEM: Asked(
            attempts * looks,
            attempts * looks * (PASSAGES_TOKENS + PROBLEM_TOKENS + beside),
            attempts * looks * LOOK_TOKENS,
        ),
        WEIGH_PROBLEM: Asked(
            attempts * min(looks, MOST_DEBATES),
            attempts * min(looks, MOST_DEBATES) * (PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + beside),
            attempts * min(looks, MOST_DEBATES) * 2 * VERDICT_TOKENS,
        ),
        WRITE_REVIEW: Asked(
            attempts,
            attempts * (2 * _NOTES_TOKENS + request.maximum_problems * PROBLEM_TOKENS),
            attempts * REVIEW_TOKENS,
        ),
    }
    return estimate_steps(asked, request.judging, request.engine, settings)


def _asked_by_revision(
    source: ManuscriptSource, revision: Revision, request: CheckRequest, settings: Settings
) -> list[StepEstimate]:
    """A look at each finding that it is asked for, and the review of the whole."""
    said = revision.preferences_of(source.manuscript_id).values()
    again = sum(one.decision is Decision.LOOK_AGAIN for one in said)
    works = WORKS_SHOWN * WORK_TOKENS if revision.head.literature else 0
    shown = PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + works
    attempts = request.attempt_count
    problems = attempts * request.maximum_problems * PROBLEM_TOKENS
    asked: dict[Step[Any, Any], Asked] = {
        REFUTE_PROBLEM: Asked(again, again * shown, again * LOOK_TOKENS),
        WEIGH_PROBLEM: Asked(again, again * shown, again * 2 * VERDICT_TOKENS),
        WRITE_REVIEW: Asked(
            attempts, attempts * 2 * _NOTES_TOKENS + problems, attempts * REVIEW_TOKENS
        ),
    }
    return estimate_steps(asked, request.judging, request.engine, settings)


def _aspect_tokens(section_count: int, *, literature: bool) -> float:
    """Of what a reviewer of one aspect is shown."""
    notes = min(section_count * NOTES_WORDS, ALL_NOTES_WORDS) * 4 / 3
    works = WORKS_OF_ASPECTS * WORK_TOKENS if literature else 0
    return notes + 2 * PASSAGES_TOKENS + works


def _asked_for_pool(reading: Reading) -> dict[Step[Any, Any], Asked]:
    """Once a manuscript, however many attempts are made at it."""
    parts = [BREADTH, *(DEPTH for _ in strong_claims(reading))]
    surveys = [expected_survey(replace(part, papers_read=0), full_text=False) for part in parts]
    return {
        step: Asked(
            sum(one[step.name].calls for one in surveys),
            sum(one[step.name].data_tokens for one in surveys),
            sum(one[step.name].answer_tokens for one in surveys),
        )
        for step in POOL_STEPS
    }


def _asked_by_judges(
    source: ManuscriptSource, request: CheckRequest, settings: Settings
) -> Iterator[StepEstimate]:
    """Every judge about every problem, where the authors' own reason is known."""
    if source.known_reason is None:
        return
    calls = request.maximum_problems * request.attempt_count * request.repetition_count
    shown = calls * (PROBLEM_TOKENS + len(source.known_reason) / CHARACTERS_PER_TOKEN)
    for judge in request.judges:
        asked: dict[Step[Any, Any], Asked] = {
            JUDGE_HIT: Asked(calls, shown, calls * VERDICT_TOKENS)
        }
        yield from estimate_steps(asked, request.judging, judge.engine, settings)
