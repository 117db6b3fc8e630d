"""The same run with other models: one line each, the cheapest first."""

import math
from collections.abc import Iterable, Sequence

from pydantic import Field

from flows.works.evaluate.request import with_assessment
from schemas.base import Noun, replace
from schemas.choices import EngineChoice
from schemas.idea import Idea
from schemas.judgement.run_request import RunRequest
from schemas.run import Module
from schemas.settings import Settings
from tasks.evaluation.expected import Estimate, estimate_run


class ModelCost(Noun):
    """What a whole run is expected to take with one engine where the profile names no model."""

    engine: EngineChoice
    model_calls: int
    prompt_tokens: int
    cached_tokens: int = Field(
        description="Of the prompt tokens, expected from the provider's cache."
    )
    thinking_tokens: int = Field(description="Of the completion tokens.")
    completion_tokens: int = Field(description="As they are billed: answers and thinking.")
    cost_usd_per_idea: float | None = Field(description="None: the price of a model is unknown.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...]
    hours: float


def named_engines(texts: Iterable[str]) -> tuple[EngineChoice, ...]:
    """`openai/gpt-5,o3` → engines, each once; `litellm:` may stand in front.

    Raises:
        ConfigurationError: no name of a model.
    """
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    return tuple(dict.fromkeys(EngineChoice.named(name) for name in names))


def compare_engines(
    engines: Iterable[EngineChoice],
    ideas: Sequence[Idea],
    request: RunRequest,
    settings: Settings,
    *,
    not_covered: int = 0,
) -> tuple[ModelCost, ...]:
    """One line for each engine, by what it costs; those of an unknown price stand last.

    All ideas count, also those that one of the engines has evaluated before.

    Args:
        not_covered: ideas whose field the literature does not cover.
    """
    lines = [
        _line(
            engine,
            estimate_run(
                ideas, 0, _with_engine(request, engine), settings, not_covered=not_covered
            ),
        )
        for engine in engines
    ]
    return tuple(
        sorted(
            lines,
            key=lambda line: (
                math.inf if line.cost_usd is None else line.cost_usd,
                line.engine.text,
            ),
        )
    )


def _with_engine(request: RunRequest, engine: EngineChoice) -> RunRequest:
    """The same request of another engine: whether plans are assessed depends on it."""
    asked = request.parameters
    others = tuple(module for module in asked.modules if module is not Module.ASSESSMENT)
    profile, modules = with_assessment(request.profile, others, engine)
    parameters = replace(asked, modules=modules or asked.modules)
    return replace(request, engine=engine, profile=profile, parameters=parameters)


def _line(engine: EngineChoice, estimate: Estimate) -> ModelCost:
    shared = {name: getattr(estimate, name) for name in ModelCost.model_fields if name != "engine"}
    return ModelCost(engine=engine, **shared)
