"""What all ideas of a worker share when a model is asked: limits, budget, cache, and what is known of the model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakValueDictionary

from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.model_limits import ModelLimits
from tasks.judging import preflight
from tasks.judging.litellm_cache_markers import takes_cache_markers, with_cache_markers
from tasks.judging.litellm_library import library
from tasks.judging.model_access import access
from tasks.judging.prices import Price, model_info, price_of
from tasks.judging.provider_call import CallAnswer, CallFailure, call_provider
from tasks.judging.reply_cache import ReplyCache
from tasks.judging.shortening import Fitted, Message, TooLong, fit
from tasks.judging.structured_output import OutputMode, output_mode
from warehouse.keyed_store import KeyedStore

_ASSUMED_CONTEXT_TOKENS = 32_768
_CHARACTERS_PER_TOKEN = 4
_TOKENS_FOR_ASKING_AGAIN = 600
_TOKENS_FOR_CHAT_FORMAT = 64
_FAILURES_UNTIL_OUT_OF_ORDER = 3
_OLLAMA = ("ollama/", "ollama_chat/")


@lru_cache(maxsize=512)
def _count_tokens(model: str, text: str) -> int:
    return int(library().token_counter(model=model, text=text))


@dataclass(frozen=True, slots=True)
class Sampling:
    """What is sent to models that take it."""

    seed: int | None = None
    temperature: float | None = 0.0


class LiteLLMBackend:
    """One model, for one worker process and one event loop: make it inside the running loop, close it there.

    Args:
        model: LiteLLM's name, such as `anthropic/claude-sonnet-4-5` or `openai/<name>` with an `api_base`.
        api_base: root of an OpenAI-compatible server; None: the provider's own.
        cache: where valid replies are kept; None: nowhere.
        backoff_seconds: wait before the first retry where the provider names none; doubles with each.
    """

    def __init__(
        self,
        model: str,
        settings: LanguageModelSettings,
        *,
        budget: SharedBudget,
        api_base: str | None = None,
        cache: KeyedStore | None = None,
        limits: ModelLimits | None = None,
        sampling: Sampling | None = None,
        backoff_seconds: float = 1.0,
    ) -> None:
        self.model = model
        self.settings = settings
        self.budget = budget
        self.limits = limits or ModelLimits()
        self.backoff_seconds = backoff_seconds
        self.gate = asyncio.Semaphore(settings.maximum_concurrency)
        self._api_base = api_base
        self._info = model_info(model)
        sampling = sampling or Sampling()
        supported = library().get_supported_openai_params(model=model) or []
        self.seed = sampling.seed if "seed" in supported else None
        self.temperature = sampling.temperature if "temperature" in supported else None
        self.mode: OutputMode = output_mode(model, settings.structured_output)
        self.price: Price | None = price_of(model, settings)
        self.cache = ReplyCache(cache, model, api_base, self.temperature, self.seed, self.mode) if cache else None
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._failures_in_a_row = 0
        self.out_of_order: str | None = None

    def turn(self, key: str) -> asyncio.Lock:
        """The lock under which the question with this cache key is asked: who waits finds the answer in the cache.

        Where the first one gets none, the next asks for itself, on its own idea's budget.
        """
        return self._turns.setdefault(key, asyncio.Lock())

    @property
    def name(self) -> str:
        return f"litellm:{self.model}"

    @cached_property
    def context_tokens(self) -> int:
        """Room for prompt and reply: the setting, else what LiteLLM knows, else 32,768."""
        known = self._info.get("max_input_tokens") or self._info.get("max_tokens")
        return int(self.settings.context_tokens or known or _ASSUMED_CONTEXT_TOKENS)

    @cached_property
    def completion_tokens(self) -> int:
        """Most tokens of a reply: the setting, within what the model can and half of its context."""
        known = self._info.get("max_output_tokens") or self.settings.maximum_completion_tokens
        return min(self.settings.maximum_completion_tokens, int(known), self.context_tokens // 2)

    def fit(self, messages: Sequence[Message]) -> Fitted | TooLong:
        """The messages as they fit beside the reply and one re-ask."""
        spare = min(_TOKENS_FOR_ASKING_AGAIN, self.context_tokens // 8)
        return fit(messages, self.context_tokens - self.completion_tokens - spare - _TOKENS_FOR_CHAT_FORMAT, self.count_tokens)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, by a tokeniser that is on this machine (for most models an approximation)."""
        return _count_tokens(self.model, text)

    def estimate(self, messages: Sequence[Message], attached_tokens: int = 0) -> tuple[int, float]:
        """(tokens, dollars) a call may take: a quarter of the characters, what is attached, and half of the longest reply."""
        prompt = sum(len(message["content"]) for message in messages) // _CHARACTERS_PER_TOKEN + 1 + attached_tokens
        completion = self.completion_tokens // 2
        return prompt + completion, self.price.of(prompt, completion) if self.price else 0.0

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], response_format: dict[str, Any] | None, *, shares_prefix: bool = False
    ) -> CallAnswer | CallFailure:
        """One attempt; counts failures that concern every call."""
        sent = with_cache_markers(messages) if shares_prefix and takes_cache_markers(self.model) else messages
        parameters: dict[str, Any] = {"max_tokens": self.completion_tokens, **access(self.model, self._api_base)}
        if self.model.startswith(_OLLAMA):
            parameters["num_ctx"] = self.context_tokens  # Ollama otherwise cuts prompts at 4,096 tokens and says nothing
        optional = {"response_format": response_format, "seed": self.seed, "temperature": self.temperature}
        parameters |= {name: value for name, value in optional.items() if value is not None}
        answer = await call_provider(self.model, sent, parameters, self.settings.timeout_seconds)
        if isinstance(answer, CallFailure) and answer.concerns_every_call:
            self._failures_in_a_row += 1
            if self._failures_in_a_row >= _FAILURES_UNTIL_OUT_OF_ORDER:
                self.out_of_order = answer.detail
        elif isinstance(answer, CallAnswer):
            self._failures_in_a_row = 0
        return answer

    async def check(self, *, call: bool = False) -> None:
        """Look before paying; with `call`, one tiny real call is made.

        Raises:
            ConfigurationError: no such model, wrong or missing key, unreachable server, a bound on cost without a price.
        """
        bounds = self.budget.budget
        needs_price = bounds.maximum_cost_usd is not None or bounds.maximum_cost_usd_per_idea is not None
        await preflight.check_model(self.model, self._api_base, self.settings, needs_price=needs_price)
        if call:
            await preflight.check_model_answers(self.model, self._api_base, self.settings)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await library().close_litellm_async_clients()
