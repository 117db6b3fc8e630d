"""What work of a declared kind is expected to take, before it is paid for."""

from collections import Counter
from typing import Any

from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from flows.run.following import expected_of, following
from schemas.base import replace
from schemas.settings import Settings
from schemas.work import Request
from tasks.judging.expected import StepEstimate
from tasks.work.declaration import Expected, Work


def estimate(
    work: Work[Any, Any, Any], request: Request[Any, Any], settings: Settings
) -> WorkEstimate:
    """Predict what a command of which nothing has landed yet will take; nothing is asked."""
    expected = work.expected(request, settings)
    steps, counts = _steps(expected, request, settings), Counter(expected.counts)
    for follow in following(work, request, settings):
        asked, other = expected_of(follow, settings)
        steps += [_times(step, follow.times) for step in _steps(other, asked, settings)]
        requests = other.counts.get("literature_requests", 0)
        if requests:
            counts["literature_requests"] += follow.times * requests
    return WorkEstimate.of(steps, counts=dict(counts), note=expected.note, lost=expected.lost)


def _steps(
    expected: Expected, request: Request[Any, Any], settings: Settings
) -> list[StepEstimate]:
    judging = request.profile.judging
    by_batch = getattr(request.parameters, "batch", False)
    steps = estimate_steps(expected.asked, judging, request.engine, settings, by_batch=by_batch)
    _, *judges = request.engines
    for judge in judges:
        alone = judging.without_models()
        steps += estimate_steps(expected.of_each_judge, alone, judge.engine, settings)
    return steps


def _times(step: StepEstimate, times: int) -> StepEstimate:
    names = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "thinking_tokens")
    cost = None if step.cost_usd is None else times * step.cost_usd
    more = {name: times * getattr(step, name) for name in names}
    return replace(step, cost_usd=cost, **more)
