"""What a check of manuscripts will ask, before it is paid for.

The manuscripts are read for it, and nothing is asked. How many candidates a review raises is not
known: counted are as many as it may look at a second time.
"""

import asyncio

from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.check_run import (
    CheckParameters,
    CheckRequest,
    EarlierReview,
    ManuscriptSource,
)
from schemas.works.manuscripts import Decision
from tasks.accounting.ledger import Ledger
from tasks.judging.expected import CHARACTERS_PER_TOKEN, Asked, StepsAsked, together
from tasks.judging.messages import takes_pdf
from tasks.manuscripts.check import TOKENS_PER_PAGE
from tasks.manuscripts.pool import BREADTH, DEPTH, POOL_STEPS, strong_claims
from tasks.manuscripts.problems import WORKS_SHOWN
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript
from tasks.manuscripts.review import (
    ALL_NOTES_WORDS,
    CANDIDATES_PER_PROBLEM,
    MOST_DEBATES,
    MOST_SECTIONS,
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
from tasks.shards.work import or_failure
from tasks.survey.expected import expected_survey
from tasks.work.declaration import Expected

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
    asked: list[StepsAsked] = []
    of_each_judge: list[StepsAsked] = []
    lost: list[str] = []
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
        asked.append(_asked(source, read, request))
        if source.known_reason is not None:
            of_each_judge.append(_asked_of_a_judge(source.known_reason, request.parameters))
    return Expected(
        asked=together(asked),
        counts={"manuscripts": len(request.units), "manuscripts_read": len(asked), "words": words},
        note="calls are the most there may be, and sizes of answers may differ by half",
        of_each_judge=together(of_each_judge),
        lost=tuple(lost),
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


def _asked(source: ManuscriptSource, read: Manuscript, request: CheckRequest) -> StepsAsked:
    parameters = request.parameters
    if parameters.revises is not None:
        return _asked_by_revision(source, parameters.revises, parameters)
    if parameters.review:
        return asked_by_review(read, parameters, looks_up=request.literature is not None)
    return _asked_by_reading(read, parameters)


def _asked_by_reading(read: Manuscript, parameters: CheckParameters) -> StepsAsked:
    calls = parameters.attempt_count
    shown = (
        len(read.text) / CHARACTERS_PER_TOKEN
        if read.attachment is None
        else TOKENS_PER_PAGE * len(read.pages)
    )
    said = parameters.maximum_problems * PROBLEM_TOKENS
    return {FIND_PROBLEMS: Asked(calls, calls * shown, calls * said)}


def asked_by_review(read: Manuscript, parameters: CheckParameters, *, looks_up: bool) -> StepsAsked:
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
        READ_SECTION: Asked(
            attempts * count,
            attempts * (shown + count * _NOTES_TOKENS),
            attempts * (count * _NOTES_TOKENS + looks * PROBLEM_TOKENS),
        ),
        REVIEW_ASPECT: Asked(
            attempts * aspects,
            attempts * aspects * _aspect_tokens(count, literature=looks_up),
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
            attempts * (2 * _NOTES_TOKENS + parameters.maximum_problems * PROBLEM_TOKENS),
            attempts * REVIEW_TOKENS,
        ),
    }


def _asked_by_revision(
    source: ManuscriptSource, before: EarlierReview, parameters: CheckParameters
) -> StepsAsked:
    again = sum(one.decision is Decision.LOOK_AGAIN for one in source.preferences)
    works = WORKS_SHOWN * WORK_TOKENS if before.literature else 0
    shown = PASSAGES_TOKENS + 2 * PROBLEM_TOKENS + works
    attempts = parameters.attempt_count
    problems = attempts * parameters.maximum_problems * PROBLEM_TOKENS
    return {
        REFUTE_PROBLEM: Asked(again, again * shown, again * LOOK_TOKENS),
        WEIGH_PROBLEM: Asked(again, again * shown, again * 2 * VERDICT_TOKENS),
        WRITE_REVIEW: Asked(
            attempts, attempts * 2 * _NOTES_TOKENS + problems, attempts * REVIEW_TOKENS
        ),
    }


def _aspect_tokens(section_count: int, *, literature: bool) -> float:
    """Of what a reviewer of one aspect is shown."""
    notes = min(section_count * NOTES_WORDS, ALL_NOTES_WORDS) * 4 / 3
    works = WORKS_OF_ASPECTS * WORK_TOKENS if literature else 0
    return notes + 2 * PASSAGES_TOKENS + works


def _asked_for_pool(reading: Reading) -> StepsAsked:
    """Once a manuscript, however many attempts are made at it."""
    parts = [BREADTH, *(DEPTH for _ in strong_claims(reading))]
    surveys = [expected_survey(replace(part, papers_read=0), full_text=False) for part in parts]
    return together({step: one[step.name] for step in POOL_STEPS} for one in surveys)


def _asked_of_a_judge(reason: str, parameters: CheckParameters) -> StepsAsked:
    calls = parameters.maximum_problems * parameters.attempt_count * parameters.repetition_count
    shown = calls * (PROBLEM_TOKENS + len(reason) / CHARACTERS_PER_TOKEN)
    return {JUDGE_HIT: Asked(calls, shown, calls * VERDICT_TOKENS)}
