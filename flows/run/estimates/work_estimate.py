"""What a piece of work of any kind is expected to ask of models, before it is paid for."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EngineChoice
from schemas.judging import JudgingParameters
from schemas.settings import Settings
from tasks.judging.expected import Asked, StepEstimate, estimate_step, total_usd, unpriced
from tasks.judging.step import Step


class WorkEstimate(Noun):
    """What a whole run is expected to take. `cost_usd` is None when a price is unknown, 0 without
    a model.
    """

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
    def of(cls, steps: Sequence[StepEstimate], units: int = 1, **told: Any) -> Self:
        """Of so many units, each of which takes `steps`; `told`: the fields of a subclass."""
        cost = total_usd(step.cost_usd for step in steps)
        return cls(
            model_calls=round(units * sum(step.calls for step in steps)),
            prompt_tokens=round(units * sum(step.prompt_tokens for step in steps)),
            completion_tokens=round(units * sum(step.completion_tokens for step in steps)),
            cost_usd=None if cost is None else units * cost,
            unpriced_models=unpriced(steps),
            steps=tuple(steps),
            **told,
        )


def estimate_steps(
    asked: Mapping[Step[Any, Any], Asked],
    judging: JudgingParameters,
    engine: EngineChoice,
    settings: Settings,
    *,
    by_batch: bool = False,
) -> list[StepEstimate]:
    """What each step takes; those that the engine answers by itself are left out.

    Args:
        by_batch: at the price of batches.
    """
    limits = settings.language_model
    estimates = (
        estimate_step(step, each, 0.0, judging, engine, limits, by_batch=by_batch)
        for step, each in asked.items()
    )
    return [each for each in estimates if each is not None]
