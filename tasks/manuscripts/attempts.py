"""Attempts at one manuscript: one reading of the whole each, or a review section by section."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from schemas.failure import Failure
from schemas.works.check_run import CheckParameters, ManuscriptSource
from schemas.works.manuscripts import Attempt, ManuscriptReview, Problem
from tasks.judging.messages import Attachment
from tasks.judging.step import Engine
from tasks.manuscripts.debate import with_debate
from tasks.manuscripts.find import find_problems
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.review import Review, review_manuscript
from tasks.manuscripts.revise import revise_review

EngineOfAttempt = Callable[[int, Attachment | None], Engine]
"""The engine of an attempt, counted from 1, whose questions take an attachment along."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """What all attempts gave; `failures` are the questions of reviews that got no answer."""

    attempts: tuple[Attempt, ...]
    problems: tuple[Problem, ...]
    reviews: tuple[ManuscriptReview, ...] = ()
    failures: tuple[Failure, ...] = ()


async def attempts_at(
    manuscript: Manuscript,
    source: ManuscriptSource,
    parameters: CheckParameters,
    engine_of: EngineOfAttempt,
    attachment: Attachment | None,
    pool: Pool,
) -> Attempted:
    """As many attempts as were asked for, independent of each other; a review takes no attachment
    along, and judges beside `pool`, and a revision goes on from each of an earlier one.
    """
    if not parameters.review:
        attempts, problems = await find_problems(
            manuscript,
            lambda number: engine_of(number, attachment),
            maximum_problems=parameters.maximum_problems,
            attempt_count=parameters.attempt_count,
        )
        return Attempted(attempts, problems)
    reviews = await asyncio.gather(
        *(
            _reviewed(manuscript, source, parameters, engine_of(number, None), number, pool)
            for number in range(1, parameters.attempt_count + 1)
        )
    )
    return Attempted(
        attempts=tuple(review.attempt for review in reviews),
        problems=tuple(problem for review in reviews for problem in review.problems),
        reviews=tuple(review.written for review in reviews if review.written is not None),
        failures=tuple(failure for review in reviews for failure in review.failures),
    )


async def _reviewed(
    manuscript: Manuscript,
    source: ManuscriptSource,
    parameters: CheckParameters,
    engine: Engine,
    number: int,
    pool: Pool,
) -> Review:
    """A review of its own or a revised one, with both readings of what is disputed in it."""
    review = (
        await review_manuscript(manuscript, engine, number, parameters.maximum_problems, pool)
        if source.earlier is None
        else await revise_review(
            manuscript, source.earlier, source.preferences, number, engine, pool
        )
    )
    return await with_debate(review, manuscript, engine, pool)
