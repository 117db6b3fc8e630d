"""What work of a declared kind is expected to take, before it is paid for."""

from collections import Counter
from typing import Any

from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from flows.run.following import estimate_following
from schemas.settings import Settings
from schemas.work import Request
from tasks.work.declaration import Work


def estimate(
    work: Work[Any, Any, Any], request: Request[Any, Any], settings: Settings
) -> WorkEstimate:
    """Predict what a command of which nothing has landed yet will take; nothing is asked."""
    expected = work.expected(request, settings)
    judging, engine = request.profile.judging, request.engine
    steps = estimate_steps(expected.asked, judging, engine, settings)
    _, *judges = request.engines
    for judge in judges:
        alone = judging.without_models()
        steps += estimate_steps(expected.of_each_judge, alone, judge.engine, settings)
    counts = Counter(expected.counts)
    follows = () if work.course is None else work.course.follows(request, settings)
    for follow in follows:
        following = estimate_following(follow, settings)
        steps += following.steps
        counts.update(following.counts)
    return WorkEstimate.of(steps, counts=dict(counts), note=expected.note, lost=expected.lost)
