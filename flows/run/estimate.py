"""Estimates of model calls, tokens and cost of declared work."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from pydantic import Field

from schemas.base import Noun, replace
from schemas.choices import EngineChoice
from schemas.judging import JudgingParameters
from schemas.settings import Settings
from schemas.work import Request
from tasks.judging.expected import ExpectedCalls, StepEstimate, estimate_step, total_usd, unpriced
from tasks.judging.step import Step
from tasks.work.declaration import Expected, Work
from tasks.works import work_named


class WorkEstimate(Noun):
    """Estimate of a whole run. `cost_usd` is None when a price is unknown, 0 without a model."""

    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...] = Field(description="Models whose price is unknown.")
    steps: tuple[StepEstimate, ...]
    counts: dict[str, int] = Field(default={}, description="What the run is made of.")
    note: str = Field(default="", description="What the estimate does not know.")
    lost: tuple[str, ...] = Field(
        default=(), description="Units that cannot be worked on, a line each."
    )

    @classmethod
    def of(cls, steps: Sequence[StepEstimate], units: int = 1, **fields: Any) -> Self:
        """Build the estimate of some units, each of which takes `steps`.

        Args:
            fields: values of further fields.
        """
        cost = total_usd(step.cost_usd for step in steps)
        return cls(
            model_calls=round(units * sum(step.calls for step in steps)),
            prompt_tokens=round(units * sum(step.prompt_tokens for step in steps)),
            completion_tokens=round(units * sum(step.completion_tokens for step in steps)),
            cost_usd=None if cost is None else units * cost,
            unpriced_models=unpriced(steps),
            steps=tuple(steps),
            **fields,
        )


def estimate_steps(
    questions: Mapping[Step[Any, Any], ExpectedCalls],
    judging: JudgingParameters,
    engine: EngineChoice,
    settings: Settings,
    *,
    by_batch: bool = False,
) -> list[StepEstimate]:
    """Return the estimates of the steps that call a model.

    Args:
        by_batch: use the price of batches.
    """
    limits = settings.language_model
    estimates = (
        estimate_step(step, each, 0.0, judging, engine, limits, by_batch=by_batch)
        for step, each in questions.items()
    )
    return [each for each in estimates if each is not None]


def estimate(
    work: Work[Any, Any, Any], request: Request[Any, Any], settings: Settings
) -> WorkEstimate:
    """Estimate a command without landed units; make no calls."""
    expected_work = work.expected(request, settings)
    steps, counts = _steps(expected_work, request, settings), Counter(expected_work.counts)
    with TemporaryDirectory(prefix="assay-") as folder:
        for name, follow, times in work.follows(request, settings, Path(folder)):
            other = work_named(name).expected(follow, settings)
            steps += [_times(step, times) for step in _steps(other, follow, settings)]
            if requests := other.counts.get("literature_requests", 0):
                counts["literature_requests"] += times * requests
    texts = {name: getattr(expected_work, name) for name in ("note", "lost")}
    return WorkEstimate.of(steps, counts=dict(counts), **texts)


def _steps(
    expected_usage: Expected, request: Request[Any, Any], settings: Settings
) -> list[StepEstimate]:
    judging = request.profile.judging
    by_batch = getattr(request.parameters, "batch", False)
    steps = estimate_steps(
        expected_usage.per_step, judging, request.engine, settings, by_batch=by_batch
    )
    _, *judges = request.engines
    for judge in judges:
        panel_judging = judging.without_models()
        steps += estimate_steps(expected_usage.of_each_judge, panel_judging, judge.engine, settings)
    return steps


def _times(step: StepEstimate, times: int) -> StepEstimate:
    names = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "thinking_tokens")
    cost = None if step.cost_usd is None else times * step.cost_usd
    totals = {name: times * getattr(step, name) for name in names}
    return replace(step, cost_usd=cost, **totals)
