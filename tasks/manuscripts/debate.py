"""Problems over which reviewers disagree: in what, and both readings of each, side by side for a
person to decide (TIMAR, section 3.6).
"""

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Any

from schemas.base import replace
from schemas.outcome import Outcome, Scored
from schemas.works.manuscripts import Attempt, Problem
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.review import Review
from tasks.manuscripts.second_look import in_order, works_beside
from tasks.manuscripts.sections import passages_about
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.weigh_problem import WEIGH_PROBLEM, WeighInput, WeighReply
from tasks.manuscripts.writing import unanswered
from tasks.text.quotations import normal

MOST_DEBATES = 5
"""Of one review; the others are marked as disputed all the same."""


async def with_debate(review: Review, manuscript: Manuscript, engine: Engine, pool: Pool) -> Review:
    """The review with both readings of the disputed problems that have none yet and that nobody
    decided.
    """
    told = [_beside_others(one, review.problems) for one in review.problems]
    open_ = [one for one in told if one.dispute and not one.is_decided and not one.optimistic]
    asked = in_order(open_)[:MOST_DEBATES]
    reading = manuscript.reading
    weighed = await asyncio.gather(*(_weighed(one, reading, engine, pool) for one in asked))
    places = [one.location for one in asked]
    read = {
        one.problem_id: _with_readings(one, outcome, pool)
        for one, outcome in zip(asked, weighed, strict=True)
    }
    failures = unanswered(WEIGH_PROBLEM, manuscript, zip(places, weighed, strict=True))
    return dataclasses.replace(
        review,
        attempt=_paid(review.attempt, weighed),
        problems=tuple(read.get(one.problem_id, one) for one in told),
        failures=(*review.failures, *failures),
    )


def _paid(attempt: Attempt, weighed: Sequence[Outcome[WeighReply]]) -> Attempt:
    """With the calls of the debate among its own."""
    if attempt.provenance is None:
        return attempt
    calls = (call for outcome in weighed for call in outcome.provenance.call_ids)
    all_calls = (*attempt.provenance.call_ids, *calls)
    return replace(attempt, provenance=replace(attempt.provenance, call_ids=all_calls))


def _beside_others(problem: Problem, problems: Sequence[Problem]) -> Problem:
    """Disputed too where another objection to the same sentence met the opposite end."""
    if problem.dispute or not normal(problem.quote) or problem.is_decided or problem.is_open:
        return problem
    for other in problems:
        same = normal(other.quote) == normal(problem.quote) and other.attempt == problem.attempt
        looked_at = None not in (other.refuted, problem.refuted) and not other.is_open
        if same and looked_at and other.stands != problem.stands:
            end = "was refuted" if problem.stands else "stands"
            told = f"Another objection to the same sentence {end}: {other.problem}"
            return replace(problem, dispute=told)
    return problem


async def _weighed(
    problem: Problem, reading: Reading, engine: Engine, pool: Pool
) -> Outcome[WeighReply]:
    return await engine.run(
        WEIGH_PROBLEM,
        WeighInput(
            problem=problem.problem,
            location=problem.location,
            quote=problem.quote,
            explanation=problem.explanation,
            second_look=problem.second_look,
            dispute=problem.dispute,
            passages=passages_about(problem.problem, problem.quote, reading),
            works=pool.worded(works_beside(problem.problem, problem.quote, pool)),
        ),
    )


def _with_readings(problem: Problem, outcome: Outcome[WeighReply], pool: Pool) -> Problem:
    if not isinstance(outcome, Scored):
        return problem
    shown = works_beside(problem.problem, problem.quote, pool)
    said: dict[str, Any] = outcome.value.model_dump()
    if len(shown):
        said = {name: settle(text, shown).markdown for name, text in said.items()}
    return replace(problem, **said)
