"""What a model costs: LiteLLM's table, or the prices of the settings for a model it does not know."""

from dataclasses import dataclass
from typing import Any

from schemas.settings import LanguageModelSettings
from tasks.judging.engines import parse_engine_name
from tasks.judging.litellm_library import library

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per token."""

    prompt_usd: float
    completion_usd: float
    cached_usd: float

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Dollars for a call; `cached_tokens` are part of `prompt_tokens`."""
        cached = min(cached_tokens, prompt_tokens)
        return (prompt_tokens - cached) * self.prompt_usd + cached * self.cached_usd + completion_tokens * self.completion_usd


def price_of(model: str, settings: LanguageModelSettings) -> Price | None:
    """The model's price; None when neither LiteLLM nor the settings know one.

    The settings count only where LiteLLM has no price, and only when both a prompt and a completion price are set.
    """
    return known_price(model_info(model)) or own_price(settings)


def price_per_token(engine: str, settings: LanguageModelSettings) -> tuple[float, float] | None:
    """Dollars per prompt token and per completion token of an engine's model; None when unknown, or without a model.

    Raises:
        ConfigurationError: no such engine.
    """
    model = parse_engine_name(engine).model
    price = price_of(model, settings) if model else None
    return (price.prompt_usd, price.completion_usd) if price else None


def model_info(model: str) -> dict[str, Any]:
    """What LiteLLM knows of a model; empty when it does not know it."""
    litellm = library()
    name = model
    if model not in litellm.model_cost:
        _, _, bare = model.partition("/")
        provider = model.partition("/")[0]
        entry = litellm.model_cost.get(bare)
        if entry is None or entry.get("litellm_provider") != provider:
            return {}
        name = bare
    return dict(litellm.model_cost[name])


def known_price(info: dict[str, Any]) -> Price | None:
    prompt, completion = info.get("input_cost_per_token"), info.get("output_cost_per_token")
    if prompt is None or completion is None:
        return None
    cached = info.get("cache_read_input_token_cost")
    return Price(float(prompt), float(completion), float(prompt if cached is None else cached))


def own_price(settings: LanguageModelSettings) -> Price | None:
    prompt, completion = settings.prompt_price_usd_per_million_tokens, settings.completion_price_usd_per_million_tokens
    if prompt is None or completion is None:
        return None
    cached = settings.cached_price_usd_per_million_tokens
    return Price(prompt / _MILLION, completion / _MILLION, (prompt if cached is None else cached) / _MILLION)
