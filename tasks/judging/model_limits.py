"""Requests and tokens per minute of one model, over all worker processes of a machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemas.settings import LanguageModelSettings
from tasks.web.headers import plain_number, seconds_until
from tasks.web.shared_limits import SharedRateLimit

# What a provider's answer says of its rate limits. Sources:
# https://platform.openai.com/docs/guides/rate-limits ("Rate limits in headers"; Azure and
# OpenRouter use the same names) and https://platform.claude.com/docs/en/api/rate-limits.


@dataclass(frozen=True, slots=True)
class RateLimitHeaders:
    """Limits as an answer gave them; None: not told.

    Attributes:
        wait_seconds: until something is left again; 0 while there is.
    """

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    wait_seconds: float = 0.0


NOTHING_TOLD = RateLimitHeaders()


def rate_limit_headers(headers: Mapping[str, str], now: datetime | None = None) -> RateLimitHeaders:
    """Read the limits from an answer's headers, whose names are in lower case."""
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
    waits = [0.0]
    for kind, spellings in kinds.items():
        found = [
            tuple(headers.get(f"{before}{part}{after}") for part in ("limit", "remaining", "reset"))
            for before, after in spellings
        ]
        told = [plain_number(limit) for limit, _, _ in found if plain_number(limit)]
        limits[kind] = min((one for one in told if one), default=None)
        waits += [
            seconds_until(reset, now)
            for _, remaining, reset in found
            if remaining is not None and reset is not None and plain_number(remaining) == 0
        ]
    return RateLimitHeaders(limits["requests"], limits["tokens"], max(waits))


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """None: no limit of that kind."""

    requests: SharedRateLimit | None = None
    tokens: SharedRateLimit | None = None

    async def take(self, estimated_tokens: int) -> None:
        """Wait until one request of about `estimated_tokens` may leave."""
        if self.tokens is not None:
            await self.tokens.take(estimated_tokens)
        if self.requests is not None:
            await self.requests.take()

    def settle(self, estimated_tokens: int, used_tokens: int) -> None:
        """Replace the estimate by what was used."""
        if self.tokens is not None:
            self.tokens.settle(used_tokens - estimated_tokens)

    def learn(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        """Keep to what the provider says it allows, with all workers together."""
        for limit, per_minute in (
            (self.requests, requests_per_minute),
            (self.tokens, tokens_per_minute),
        ):
            if limit is not None and per_minute:
                limit.learn(per_minute)

    def penalise(self, seconds: float) -> None:
        """Hold everything back: the provider asked to wait."""
        for limit in (self.requests, self.tokens):
            if limit is not None:
                limit.penalise(seconds)


def open_model_limits(folder: Path, model: str, settings: LanguageModelSettings) -> ModelLimits:
    """The limits the settings ask for and those the provider names, shared through files in
    `folder`.
    """
    return ModelLimits(
        SharedRateLimit(folder, f"{model} requests", settings.requests_per_minute),
        SharedRateLimit(folder, f"{model} tokens", settings.tokens_per_minute),
    )
