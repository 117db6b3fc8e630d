"""What a model costs: LiteLLM's table, or the prices of the settings for a model it does not know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.patterns import IGNORECASE, bounded
from schemas.settings import LanguageModelSettings
from tasks.judging.step import end_of_first_block
from tasks.web.litellm_library import library

# Marks that tell a provider which beginning of a prompt comes again, where the provider wants to
# be told.

_CLAUDE = bounded(r"^anthropic/|(^|[/.])claude-", IGNORECASE)


def is_claude(model: str) -> bool:
    """Whether `model`, by LiteLLM's name, is one of Anthropic's, wherever it is hosted."""
    return _CLAUDE.search(model) is not None


def takes_cache_markers(model: str) -> bool:
    """Whether the model's API caches only what is marked.

    Others, such as OpenAI's, cache beginnings of 1,024 tokens and more by themselves.
    """
    return is_claude(model)


def with_cache_markers(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same words, with a mark behind what all calls of a step about an idea share: the
    instructions and the first block.

    LiteLLM passes `cache_control` of a content part on to the provider.
    """
    system, user, *rest = messages
    end = end_of_first_block(user["content"])
    same, varying = user["content"][:end], user["content"][end:]
    if not same or not varying.strip():
        return [dict(message) for message in messages]
    shared = {"type": "text", "text": same, "cache_control": {"type": "ephemeral"}}
    return [
        dict(system),
        {**user, "content": [shared, {"type": "text", "text": varying}]},
        *(dict(message) for message in rest),
    ]


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per token. `written_usd`: of prompt tokens that the provider puts into its cache."""

    prompt_usd: float
    completion_usd: float
    cached_usd: float
    written_usd: float

    def of(
        self,
        prompt_tokens: float,
        completion_tokens: float,
        cached_tokens: float = 0,
        written_tokens: float = 0,
    ) -> float:
        """Dollars. Tokens read from the cache and written to it are part of `prompt_tokens`."""
        cached = min(cached_tokens, prompt_tokens)
        written = min(written_tokens, prompt_tokens - cached)
        plain = prompt_tokens - cached - written
        prompt = plain * self.prompt_usd + cached * self.cached_usd + written * self.written_usd
        return prompt + completion_tokens * self.completion_usd


def price_of(model: str, settings: LanguageModelSettings) -> Price | None:
    """The model's price; None when neither LiteLLM nor the settings know one.

    The settings count only where LiteLLM has no price, and only when both a prompt and a completion
    price are set.
    """
    return known_price(model_info(model)) or own_price(settings)


def model_info(model: str) -> dict[str, Any]:
    """What LiteLLM knows of a model; empty when it does not know it."""
    known = library().model_cost
    if model in known:
        return dict(known[model])
    provider, _, bare = model.partition("/")
    entry = known.get(bare, {})
    return dict(entry) if _is_of(entry.get("litellm_provider", ""), provider) else {}


def _is_of(listed: str, provider: str) -> bool:
    """LiteLLM lists `vertex_ai/…` under vertex_ai-language-models, `bedrock/…` under
    bedrock_converse.
    """
    return listed.partition("-")[0].removesuffix("_converse") == provider


def known_price(info: dict[str, Any]) -> Price | None:
    prompt, completion = info.get("input_cost_per_token"), info.get("output_cost_per_token")
    if prompt is None or completion is None:
        return None
    cached = info.get("cache_read_input_token_cost")
    written = info.get("cache_creation_input_token_cost")
    return Price(
        float(prompt),
        float(completion),
        float(prompt if cached is None else cached),
        float(prompt if written is None else written),
    )


def own_price(settings: LanguageModelSettings) -> Price | None:
    prompt = settings.prompt_price_usd_per_million_tokens
    completion = settings.completion_price_usd_per_million_tokens
    if prompt is None or completion is None:
        return None
    cached = settings.cached_price_usd_per_million_tokens
    cached = prompt if cached is None else cached
    return Price(prompt / _MILLION, completion / _MILLION, cached / _MILLION, prompt / _MILLION)
