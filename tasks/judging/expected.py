"""Estimates of a step's calls, tokens and dollars before a run.

Cache hits at the provider and the length of thinking are rough expectations.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EngineChoice
from schemas.judging import Effort, JudgingParameters
from schemas.settings import LanguageModelSettings
from tasks.judging.models import BATCH_RATE, model_info, price_of, takes_cache_markers
from tasks.judging.panel import models_of_step
from tasks.judging.step import Step

CHARACTERS_PER_TOKEN = 4.0
FRAME_TOKENS = 40
"""Tokens of tags and reply format, in addition to template, idea and evidence."""
EXPECTED_THINKING_TOKENS = {
    Effort.NONE: 0,
    Effort.LOW: 500,
    Effort.MEDIUM: 2_000,
    Effort.HIGH: 4_000,
}
"""Thinking tokens per call. Medium, the default of most models, lies between the means of published checks: 294
(o3) and 995 (Gemini 2.5 Pro) for 6,197 questions of 290 tokens; 3,152 (o3), 3,582 (o4-mini) and
more (Gemini, without a budget) for 245 manuscripts of 17,000 tokens each. A step's prompt has 1,000
to 16,000. Low and high follow LiteLLM's budgets for Claude and Gemini (1,024, 2,048 and 4,096): half
of the first, and about all of the others. Single calls differ by a factor of ten.
"""
LEAST_THINKING_TOKENS = 100
"""Per call at effort none, for models that always think; Gemini 2.5 Pro's minimum is 128."""
CACHED_FROM_TOKENS = 1_024
CACHED_FROM_TOKENS_GEMINI = 2_048
"""Shortest prompt prefix that a provider caches, where LiteLLM does not list it
(`prompt_cache_min_tokens`; Claude: 512 to 4,096 by model).

https://developers.openai.com/api/docs/guides/prompt-caching ("How it works"; Azure likewise),
https://platform.claude.com/docs/en/build-with-claude/prompt-caching ("Cache limitations"),
https://ai.google.dev/gemini-api/docs/caching ("Implicit caching": 2.5 Flash and Pro).
"""
CLAIM_TOKENS = 700.0
"""Tokens of all claims extracted from an idea."""


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """Expected calls of a step, for any model.

    Tokens are totals, except `shared_tokens`.

    Attributes:
        data_tokens: tokens of the prompts, without template and idea.
        shared_tokens: data that every call shares with the first of its group, directly after
            instructions and idea.
        first_calls: calls that run before the others of their group, one per group, to fill the
            provider's cache; None: all calls run at once, without cache hits.
        most_idea_tokens: limit of the idea's part in a prompt; None: the whole idea.
    """

    calls: float
    data_tokens: float
    answer_tokens: float
    shared_tokens: float = 0.0
    first_calls: float | None = None
    most_idea_tokens: float | None = None


CallsByStep = Mapping[Step[Any, Any], ExpectedCalls]


def add_calls(parts: Iterable[CallsByStep]) -> CallsByStep:
    """Add up the calls of several independent units."""
    total: dict[Step[Any, Any], ExpectedCalls] = {}
    for part in parts:
        for step, calls in part.items():
            sum_so_far = total.get(step, ExpectedCalls(0, 0, 0))
            total[step] = ExpectedCalls(
                sum_so_far.calls + calls.calls,
                sum_so_far.data_tokens + calls.data_tokens,
                sum_so_far.answer_tokens + calls.answer_tokens,
            )
    return total


class StepEstimate(Noun):
    """Calls, tokens and dollars of one step.

    Each of its models answers every question.
    """

    step: str
    models: tuple[str, ...] = Field(description="LiteLLM's names of the models that answer.")
    calls: float = Field(ge=0)
    prompt_tokens: float = Field(ge=0)
    cached_tokens: float = Field(
        ge=0, description="Of the prompt tokens, expected from the provider's cache."
    )
    completion_tokens: float = Field(ge=0, description="As they are billed: answers and thinking.")
    thinking_tokens: float = Field(ge=0, description="Of the completion tokens.")
    cost_usd: float | None = Field(description="None: the price of a model is unknown.")
    unpriced_models: tuple[str, ...] = Field(
        default=(), description="Models whose price is unknown."
    )


def estimate_step(
    step: Step[Any, Any],
    expected_calls: ExpectedCalls,
    idea_tokens: float,
    judging: JudgingParameters,
    engine: EngineChoice,
    settings: LanguageModelSettings,
    *,
    by_batch: bool = False,
) -> StepEstimate | None:
    """Estimate one step; None without a model.

    Several judges answer only steps with scores.

    Args:
        idea_tokens: tokens of the idea in every prompt.
        engine: its model answers steps without an assigned model.
        by_batch: use batch prices, without cache hits.
    """
    default_model = engine.model
    if default_model is None:
        return None
    effort = judging.assignment(step.name, step.kind, step.answer_tokens).effort
    models = models_of_step(step, judging) or (default_model,)
    if expected_calls.most_idea_tokens is not None:
        idea_tokens = min(idea_tokens, expected_calls.most_idea_tokens)
    frame_tokens = len(step.template) / CHARACTERS_PER_TOKEN + FRAME_TOKENS + idea_tokens
    prompt_tokens = expected_calls.calls * frame_tokens + expected_calls.data_tokens
    marked_tokens = len(step.instructions) / CHARACTERS_PER_TOKEN + idea_tokens
    pictures = expected_calls.calls if step.draws else 0.0
    total_cached, total_thinking, costs = 0.0, 0.0, []
    for model in models:
        info, price = model_info(model), price_of(model, settings)
        cached_tokens, written_tokens = 0.0, 0.0
        if not by_batch:
            # Without a marker only automatically cached tokens count as cached.
            marked_prefix = marked_tokens if step.shares_prefix else 0.0
            prefix_tokens = (
                marked_prefix
                if takes_cache_markers(model)
                else marked_tokens + expected_calls.shared_tokens
            )
            cached_tokens, written_tokens = _cached_tokens(
                model, info, expected_calls, prompt_tokens, prefix_tokens
            )
        thinking_tokens = expected_calls.calls * _thinking_tokens(model, info, effort, settings)
        total_cached, total_thinking = (
            total_cached + cached_tokens,
            total_thinking + thinking_tokens,
        )
        completion_tokens = expected_calls.answer_tokens + thinking_tokens
        rate = BATCH_RATE if by_batch else 1.0
        costs.append(
            rate
            * price.of(prompt_tokens, completion_tokens, cached_tokens, written_tokens, pictures)
            if price
            else None
        )
    return StepEstimate(
        step=step.name,
        models=models,
        calls=expected_calls.calls * len(models),
        prompt_tokens=prompt_tokens * len(models),
        cached_tokens=total_cached,
        completion_tokens=expected_calls.answer_tokens * len(models) + total_thinking,
        thinking_tokens=total_thinking,
        cost_usd=total_usd(costs),
        unpriced_models=tuple(
            model for model, cost in zip(models, costs, strict=True) if cost is None
        ),
    )


def total_usd(costs: Iterable[float | None]) -> float | None:
    """Return the sum; None when one of the costs is unknown."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def unpriced(steps: Sequence[StepEstimate]) -> tuple[str, ...]:
    """Return the models without a price, each once."""
    return tuple(dict.fromkeys(model for step in steps for model in step.unpriced_models))


def _thinking_tokens(
    model: str, info: dict[str, Any], effort: Effort, settings: LanguageModelSettings
) -> int:
    """Return the thinking tokens of one call, 0 without thinking."""
    supports_thinking = bool(info.get("supports_reasoning"))
    if not (supports_thinking if settings.thinking == "auto" else settings.thinking == "yes"):
        return 0
    if expected_tokens := EXPECTED_THINKING_TOKENS[effort]:
        return expected_tokens
    if info.get("thinking_always_on"):
        can_stop = False
    elif "gemini" in model:
        can_stop = "gemini-2.5-flash" in model
    else:  # OpenAI's models can stop thinking only if LiteLLM lists it, others unless it denies it
        openai = str(info.get("litellm_provider", "")).startswith(("openai", "azure"))
        can_stop = bool(info.get("supports_none_reasoning_effort", not openai))
    return 0 if can_stop else LEAST_THINKING_TOKENS


def _cached_tokens(
    model: str,
    info: dict[str, Any],
    expected_calls: ExpectedCalls,
    prompt_tokens: float,
    beginning_tokens: float,
) -> tuple[float, float]:
    """Return (tokens read from the cache, tokens billed as written).

    Args:
        beginning_tokens: tokens of the cacheable prefix that a group of calls shares.
    """
    if not info.get("supports_prompt_caching") or not expected_calls.calls:
        return 0.0, 0.0
    default = CACHED_FROM_TOKENS_GEMINI if "gemini" in model else CACHED_FROM_TOKENS
    least_tokens = float(info.get("prompt_cache_min_tokens", default))
    if info.get("supports_prompt_cache_breakpoint"):
        # From GPT-5.6 on, OpenAI caches whole prompts: a prompt that continues differently misses.
        return 0.0, prompt_tokens if prompt_tokens / expected_calls.calls >= least_tokens else 0.0
    if beginning_tokens < least_tokens:
        return 0.0, 0.0
    first_calls = (
        expected_calls.calls
        if expected_calls.first_calls is None
        else min(expected_calls.first_calls, expected_calls.calls)
    )
    written_tokens = first_calls * beginning_tokens if takes_cache_markers(model) else 0.0
    return (expected_calls.calls - first_calls) * beginning_tokens, written_tokens
