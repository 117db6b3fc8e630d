"""Address, price and rate limits of models.

LiteLLM reads keys from the environment.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.settings import LanguageModelSettings
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.step import end_of_first_block
from tasks.web.headers import plain_number, seconds_until
from tasks.web.litellm_library import library
from tasks.web.shared_limits import SharedRateLimit


def provider_of(model: str) -> str:
    """Return the provider in LiteLLM's name of a model.

    A bare name is OpenAI's.
    """
    provider, slash, _ = model.partition("/")
    return provider if slash else "openai"


def shared_api_base(model: str, named_model: str, api_base: str | None) -> str | None:
    """Return the API base of `model` when `api_base` is configured for `named_model`.

    Another provider's model uses its default address (None), so that its key stays there.
    """
    return api_base if provider_of(model) == provider_of(named_model) else None


def access(model: str, api_base: str | None) -> dict[str, str]:
    """Return LiteLLM's address parameters for `model`.

    A self-hosted server often takes no key, but the OpenAI protocol requires one.
    """
    if api_base is None:
        return {}
    needs_key = provider_of(model) in ("openai", "text-completion-openai")
    return {
        "api_base": api_base,
        **({"api_key": "none"} if needs_key and not os.environ.get("OPENAI_API_KEY") else {}),
    }


_CLAUDE = bounded(r"^anthropic/|(^|[/.])claude-", IGNORECASE)


def is_claude(model: str) -> bool:
    """Return whether `model` is one of Anthropic's, wherever it is hosted."""
    return _CLAUDE.search(model) is not None


def takes_cache_markers(model: str) -> bool:
    """Return whether the model's API caches only marked prefixes.

    Others, such as OpenAI's, cache prefixes of 1,024 tokens and more automatically.
    """
    return is_claude(model)


def with_cache_markers(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mark the prefix that all calls of a step share.

    It consists of the instructions and the first block. LiteLLM passes `cache_control` of a content
    part to the provider.
    """
    system, user, *rest = messages
    end = end_of_first_block(user["content"])
    same, varying = user["content"][:end], user["content"][end:]
    if not same or not varying.strip():
        return [dict(message) for message in messages]
    shared_part = {"type": "text", "text": same, "cache_control": {"type": "ephemeral"}}
    return [
        dict(system),
        {**user, "content": [shared_part, {"type": "text", "text": varying}]},
        *(dict(message) for message in rest),
    ]


_MILLION = 1_000_000

BATCH_RATE = 0.5
"""Price of a question by batch relative to a call, at OpenAI, Azure, Anthropic and Gemini."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per token.

    `written_usd`: per prompt token written to the provider's cache. `picture_usd`: per picture, if
    pictures are not billed by tokens.
    """

    prompt_usd: float
    completion_usd: float
    cached_usd: float
    written_usd: float
    picture_usd: float = 0.0

    def of(
        self,
        prompt_tokens: float,
        completion_tokens: float,
        cached_tokens: float = 0,
        written_tokens: float = 0,
        pictures: float = 0,
    ) -> float:
        """Return dollars; `prompt_tokens` includes tokens read from and written to the cache."""
        cache_reads = min(cached_tokens, prompt_tokens)
        cache_writes = min(written_tokens, prompt_tokens - cache_reads)
        uncached_tokens = prompt_tokens - cache_reads - cache_writes
        prompt = (
            uncached_tokens * self.prompt_usd
            + cache_reads * self.cached_usd
            + cache_writes * self.written_usd
        )
        return prompt + completion_tokens * self.completion_usd + pictures * self.picture_usd


def price_of(model: str, settings: LanguageModelSettings) -> Price | None:
    """Return LiteLLM's price of the model, else the settings' price; None: unknown."""
    info = model_info(model)
    prompt_price, completion_price = (
        info.get("input_cost_per_token"),
        info.get("output_cost_per_token"),
    )
    if info.get("mode") == _DRAWS:
        completion_price = info.get("output_cost_per_image_token", completion_price)
        picture_price = info.get("output_cost_per_image")
        if picture_price is not None and (prompt_price is None or completion_price is None):
            return Price(0.0, 0.0, 0.0, 0.0, float(picture_price))
    cached_price = info.get("cache_read_input_token_cost")
    write_price = info.get("cache_creation_input_token_cost")
    unit = 1.0
    if prompt_price is None or completion_price is None:
        prompt_price = settings.prompt_price_usd_per_million_tokens
        completion_price = settings.completion_price_usd_per_million_tokens
        cached_price, write_price = settings.cached_price_usd_per_million_tokens, None
        unit = _MILLION
    if prompt_price is None or completion_price is None:
        return None
    cached_price = prompt_price if cached_price is None else cached_price
    write_price = prompt_price if write_price is None else write_price
    return Price(
        prompt_price / unit, completion_price / unit, cached_price / unit, write_price / unit
    )


def model_info(model: str) -> dict[str, Any]:
    """Return LiteLLM's table entry of a model; empty for an unknown model."""
    models = library().model_cost
    if model in models:
        return dict(models[model])
    provider, _, bare = model.partition("/")
    entry = models.get(bare, {})
    return dict(entry) if _is_of(entry.get("litellm_provider", ""), provider) else {}


_DRAWS = "image_generation"


def draws_pictures(model: str) -> bool:
    """Return whether the model gives pictures.

    The result is True for a model unknown to LiteLLM.
    """
    info = model_info(model)
    modalities = info.get("supported_output_modalities") or ()
    return not info or info.get("mode") == _DRAWS or "image" in modalities


def _is_of(listed_provider: str, provider: str) -> bool:
    """Compare providers; LiteLLM lists `vertex_ai/…` under vertex_ai-language-models, for example."""
    return listed_provider.partition("-")[0].removesuffix("_converse") == provider


# Rate limits in response headers. Sources:
# https://platform.openai.com/docs/guides/rate-limits ("Rate limits in headers"; Azure and
# OpenRouter use the same names) and https://platform.claude.com/docs/en/api/rate-limits.


@dataclass(frozen=True, slots=True)
class RateLimitHeaders:
    """Rate limits from response headers; None: not reported.

    Attributes:
        wait_seconds: until requests are allowed again; 0 while some are left.
    """

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    wait_seconds: float = 0.0


NO_REPORTED_LIMITS = RateLimitHeaders()
FEWEST_PER_MINUTE = {"requests": 1.0, "tokens": 1_000.0}
"""Least rates learned: a rate is stored for all workers until another is reported, so that zero
would stop them for good.
"""


def rate_limit_headers(headers: Mapping[str, str], now: datetime | None = None) -> RateLimitHeaders:
    """Read the limits from headers with lower-case names."""
    now = now or datetime.now(UTC)
    kinds = {
        "requests": (
            ("x-ratelimit-", "-requests"),
            ("anthropic-ratelimit-requests-", ""),
        ),
        "tokens": (
            ("x-ratelimit-", "-tokens"),
            ("anthropic-ratelimit-tokens-", ""),
            ("anthropic-ratelimit-input-tokens-", ""),
        ),
    }
    limits: dict[str, float | None] = {}
    wait_seconds = [0.0]
    for kind, spellings in kinds.items():
        readings = [
            tuple(
                headers.get(f"{prefix}{part}{suffix}") for part in ("limit", "remaining", "reset")
            )
            for prefix, suffix in spellings
        ]
        limit_values = [plain_number(limit) for limit, _, _ in readings]
        least_limit = min((one for one in limit_values if one), default=None)
        limits[kind] = None if least_limit is None else max(least_limit, FEWEST_PER_MINUTE[kind])
        wait_seconds += [
            seconds_until(reset, now)
            for _, remaining, reset in readings
            if remaining is not None and reset is not None and plain_number(remaining) == 0
        ]
    return RateLimitHeaders(limits["requests"], limits["tokens"], max(wait_seconds))


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Shared rate limits of a model; None: no limit of that kind."""

    requests: SharedRateLimit | None = None
    tokens: SharedRateLimit | None = None

    async def take(self, estimated_tokens: int) -> None:
        """Wait until one request of about `estimated_tokens` is allowed."""
        if self.tokens is not None:
            await self.tokens.take(estimated_tokens)
        if self.requests is not None:
            await self.requests.take()

    def settle(self, estimated_tokens: int, used_tokens: int) -> None:
        """Replace the estimate by what was used."""
        if self.tokens is not None:
            self.tokens.settle(used_tokens - estimated_tokens)

    def learn(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        """Adopt the provider's limits, for all workers together."""
        for limit, per_minute in (
            (self.requests, requests_per_minute),
            (self.tokens, tokens_per_minute),
        ):
            if limit is not None and per_minute:
                limit.learn(per_minute)

    def penalise(self, seconds: float) -> None:
        """Delay all requests: the provider asked to wait."""
        for limit in (self.requests, self.tokens):
            if limit is not None:
                limit.penalise(seconds)


def open_model_limits(folder: Path, model: str, settings: LanguageModelSettings) -> ModelLimits:
    """Open rate limits shared through files in `folder`.

    They come from the settings and the provider.
    """
    return ModelLimits(
        SharedRateLimit(folder, f"{model} requests", settings.requests_per_minute),
        SharedRateLimit(folder, f"{model} tokens", settings.tokens_per_minute),
    )
