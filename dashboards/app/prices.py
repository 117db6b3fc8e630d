"""What the same tokens would have cost with another model.

Prices come from a file as LiteLLM ships it, or from the reader.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import ConfigurationError

MILLION = 1_000_000
_CHAT = frozenset({"chat", "completion", "responses"})


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars per million tokens."""

    prompt_usd: float
    completion_usd: float
    cached_usd: float

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
        """Dollars; `cached_tokens` are part of `prompt_tokens`."""
        cached = min(cached_tokens, prompt_tokens)
        return (
            (prompt_tokens - cached) * self.prompt_usd
            + cached * self.cached_usd
            + completion_tokens * self.completion_usd
        ) / MILLION


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """Prices by model, of the models that chat and have one.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    try:
        entries: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise ConfigurationError(
            f"prices {path} cannot be read ({error}): name a file as LiteLLM ships it in"
            " ASSAY_DASHBOARD__PRICES"
        ) from None
    found = {
        name: _price(entry)
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("mode") in _CHAT
    }
    return {name: price for name, price in sorted(found.items()) if price is not None}


def _price(entry: dict[str, Any]) -> ModelPrice | None:
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(prompt, int | float) or not isinstance(completion, int | float):
        return None
    cached = entry.get("cache_read_input_token_cost")
    return ModelPrice(
        prompt * MILLION,
        completion * MILLION,
        (cached if isinstance(cached, int | float) else prompt) * MILLION,
    )
