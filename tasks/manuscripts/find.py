"""Attempts at a manuscript: each an independent reading that reports up to k problems (quality checker, section 2.2)."""

import asyncio
from collections.abc import Callable, Sequence

from schemas.calls import LlmCall
from schemas.manuscripts import Attempt, ManuscriptForm, Problem
from schemas.outcome import Outcome, Scored
from tasks.judging.step import Engine
from tasks.manuscripts.locations import location_found
from tasks.manuscripts.manuscript import Manuscript
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS, ProblemsInput, ProblemsReply

EngineOfAttempt = Callable[[int], Engine]


async def find_problems(
    manuscript: Manuscript,
    engine_of: EngineOfAttempt,
    *,
    maximum_problems: int = 5,
    attempt_count: int = 1,
) -> tuple[tuple[Attempt, ...], tuple[Problem, ...]]:
    """`attempt_count` attempts, and what they reported; of a reply with more than `maximum_problems` the first ones count.

    An attempt that found nothing has a count of 0; one that failed has none, and a reason.
    """
    question = ProblemsInput(
        title=manuscript.title,
        form=_shown_form(manuscript),
        text="" if manuscript.attachment is not None else manuscript.text,
        attached=manuscript.attachment is not None,
        maximum_problems=maximum_problems,
    )
    numbers = range(1, attempt_count + 1)
    outcomes = await asyncio.gather(
        *(engine_of(number).run(FIND_PROBLEMS, question) for number in numbers)
    )
    attempts, problems = [], []
    for number, outcome in zip(numbers, outcomes, strict=True):
        found = _problems(number, outcome, manuscript, maximum_problems)
        attempts.append(_attempt(number, outcome, len(found)))
        problems.extend(found)
    return tuple(attempts), tuple(problems)


def with_usage(attempt: Attempt, calls: Sequence[LlmCall]) -> Attempt:
    """The attempt with what its calls used, as far as the provider said. What a reply from the cache once used is not known."""
    made = attempt.provenance.call_ids if attempt.provenance else ()
    own = [
        call
        for call in calls
        if call.call_id in made and call.prompt_tokens + call.completion_tokens > 0
    ]
    if not own:
        return attempt
    thinking = [call.thinking_tokens for call in own]
    told = (
        None
        if any(tokens is None for tokens in thinking)
        else sum(tokens or 0 for tokens in thinking)
    )
    costs = [call.cost_usd for call in own]
    return attempt.model_copy(
        update={
            "input_tokens": sum(call.prompt_tokens for call in own),
            "thinking_tokens": told,
            "output_tokens": sum(call.completion_tokens for call in own) - (told or 0),
            "cost_usd": None
            if any(cost is None for cost in costs)
            else sum(cost or 0.0 for cost in costs),
        }
    )


def _shown_form(manuscript: Manuscript) -> str:
    """As the prompt words it: text read from pages is told apart from text that came as text."""
    return ManuscriptForm.PDF.value if manuscript.pages else manuscript.form.value


def _attempt(number: int, outcome: Outcome[ProblemsReply], count: int) -> Attempt:
    if isinstance(outcome, Scored):
        return Attempt(attempt=number, problem_count=count, provenance=outcome.provenance)
    return Attempt(
        attempt=number,
        problem_count=None,
        unscored_reason=outcome.reason,
        unscored_detail=outcome.detail,
        provenance=outcome.provenance,
    )


def _problems(
    number: int, outcome: Outcome[ProblemsReply], manuscript: Manuscript, most: int
) -> list[Problem]:
    if not isinstance(outcome, Scored):
        return []
    return [
        Problem(
            problem_id=f"a{number}p{place}",
            attempt=number,
            problem=reported.problem,
            location=reported.location,
            explanation=reported.explanation,
            location_found=location_found(reported.location, manuscript),
            provenance=outcome.provenance,
        )
        for place, reported in enumerate(outcome.value.problems[:most], start=1)
    ]
