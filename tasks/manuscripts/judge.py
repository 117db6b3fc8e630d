"""Judges vote: is a reported problem the one the authors gave as their reason? (quality checker,
section 2.3)
"""

import asyncio
from collections.abc import Callable, Sequence

from schemas.manuscripts import Problem, Vote
from schemas.outcome import Outcome, Scored
from tasks.judging.step import Engine
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput, HitReply

EngineOfRepetition = Callable[[int], Engine]
"""The engine that gives a judge's n-th answer, from 1."""


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
