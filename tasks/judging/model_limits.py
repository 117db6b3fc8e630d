"""Requests and tokens per minute of one model, over all worker processes of a machine."""

from dataclasses import dataclass
from pathlib import Path

from schemas.settings import LanguageModelSettings
from tasks.web.rate_limit import SharedRateLimit


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
    """The limits the settings ask for and those the provider names, shared through files in `folder`."""
    return ModelLimits(
        SharedRateLimit(folder, f"{model} requests", settings.requests_per_minute),
        SharedRateLimit(folder, f"{model} tokens", settings.tokens_per_minute),
    )
