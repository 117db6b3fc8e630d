"""Prices of models, to compare the cost of a run."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import ConfigurationError

# Shown next to a run; readers can name other models of the price list.
PRESETS = ("gpt-5", "gpt-5-mini", "claude-sonnet-4-5", "gemini/gemini-2.5-pro", "deepseek-chat")
_MILLION = 1_000_000
_CHAT = frozenset({"chat", "completion", "responses"})


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars per million tokens.

    Attributes:
        batch_share: price of a provider's batch, as a share; None: no batches.
    """

    prompt_usd: float
    completion_usd: float
    cached_usd: float
    batch_share: float | None = None

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
        """Return dollars; `cached_tokens` are part of `prompt_tokens`."""
        cache_hits = min(cached_tokens, prompt_tokens)
        return (
            (prompt_tokens - cache_hits) * self.prompt_usd
            + cache_hits * self.cached_usd
            + completion_tokens * self.completion_usd
        ) / _MILLION

    def by_batch(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return dollars in a provider's batch, without its cache."""
        if self.batch_share is None:
            return None
        return self.batch_share * self.of(prompt_tokens, completion_tokens, 0)


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """Return prices by model, of priced chat models.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    try:
        return _prices(path, path.stat().st_mtime_ns)
    except (OSError, orjson.JSONDecodeError) as error:
        raise ConfigurationError(
            f"prices {path} cannot be read ({error}): name a file as LiteLLM ships it in"
            " ASSAY_DASHBOARD__PRICES"
        ) from None


@lru_cache(2)
def _prices(path: Path, changed: int) -> dict[str, ModelPrice]:
    del changed  # cache key: a new modification time means new content
    entries: dict[str, Any] = orjson.loads(path.read_bytes())
    prices = {
        name: _price(entry)
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("mode") in _CHAT
    }
    return {name: price for name, price in sorted(prices.items()) if price is not None}


def _price(entry: dict[str, Any]) -> ModelPrice | None:
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(prompt, int | float) or not isinstance(completion, int | float):
        return None
    cached_price = entry.get("cache_read_input_token_cost")
    batch = entry.get("output_cost_per_token_batches")
    return ModelPrice(
        prompt * _MILLION,
        completion * _MILLION,
        (cached_price if isinstance(cached_price, int | float) else prompt) * _MILLION,
        batch / completion if isinstance(batch, int | float) and completion else None,
    )
