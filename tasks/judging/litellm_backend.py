"""State of one model shared by a worker's ideas.

It has limits, budget, reply cache and parameters.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from pydantic import ValidationError

from schemas.base import Reply
from schemas.choices import EngineChoice
from schemas.identifiers import content_hash
from schemas.judging import Effort
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.judging.batches.batched_model import BatchedModel
from tasks.judging.messages import Fitted, Message, TooLong, fit, tokens_of
from tasks.judging.models import (
    NO_REPORTED_LIMITS,
    ModelLimits,
    Price,
    access,
    price_of,
    takes_cache_markers,
    with_cache_markers,
)
from tasks.judging.parameters import ModelParameters, Parameters, Sampling
from tasks.judging.pictures import as_prompt
from tasks.judging.provider_call import CallAnswer, CallFailure, call_provider, draw_by_provider
from tasks.judging.replies import reply_json
from tasks.judging.step import Step
from tasks.web.litellm_library import library
from warehouse.scrubbing import without_secrets
from warehouse.stores.keyed_store import KeyedStore, json_entry
from warehouse.stores.transcripts import Transcripts

OutputT = TypeVar("OutputT", bound=Reply)
_FORMAT = "reply-2"


@lru_cache(maxsize=128)
def _schema(output_model: type[Reply]) -> str:
    return json.dumps(output_model.model_json_schema(), sort_keys=True)


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """Valid replies of one model at one address, stored on disk.

    No call is paid twice. Keys cover the parameters requested, not those that the model accepted:
    they stay valid when the model refuses a parameter.
    """

    store: KeyedStore
    model: str
    api_base: str | None
    mode: str

    def key(
        self,
        step: Step[Any, Any],
        messages: Sequence[Message],
        effort: Effort,
        sampling: Sampling,
    ) -> str:
        """Return a hash of everything that could change the reply, without secrets."""
        return content_hash(
            _FORMAT,
            self.model,
            without_secrets(self.api_base) if self.api_base else "",
            step.prompt_sha256,
            json.dumps(list(messages), sort_keys=True),
            _schema(step.output_model),  # type: ignore[arg-type]  # to mypy no class is hashable
            repr(sampling.temperature),
            repr(sampling.seed),
            self.mode,
            effort,
        )

    def recall(self, key: str, output_model: type[OutputT]) -> tuple[OutputT, str | None] | None:
        """Return (reply, model that answered); None without a valid entry."""
        entry = json_entry(self.store.get_many([key]).get(key))
        if entry is None:
            return None
        try:
            return output_model.model_validate(entry["reply"]), entry["model_answered"]
        except (ValueError, KeyError, TypeError, ValidationError):
            return None

    def remember(self, key: str, reply: Reply, model_answered: str | None) -> None:
        """Store a valid reply."""
        self.store.put_many(
            {
                key: (
                    json.dumps(
                        {"reply": json.loads(reply_json(reply)), "model_answered": model_answered}
                    ).encode()
                )
            }
        )


def call_arguments(
    parameters: Parameters, response_format: dict[str, Any] | None
) -> dict[str, Any]:
    """Return LiteLLM's arguments for a call, without the messages."""
    output_format = {} if response_format is None else {"response_format": response_format}
    return {**parameters.values, **output_format}


_CHARACTERS_PER_TOKEN = 4
_TOKENS_FOR_ASKING_AGAIN = 600
_TOKENS_FOR_CHAT_FORMAT = 64
_FAILURES_UNTIL_OUT_OF_ORDER = 3
_TOKENS_WITHIN_TIMEOUT = 4096


@lru_cache(maxsize=512)
def _count_tokens(model: str, text: str) -> int:
    return int(library().token_counter(model=model, text=text))


class LiteLLMBackend:
    """One model, for one worker process and one event loop.

    Create and close it inside the loop.

    Args:
        model: LiteLLM's name, such as `anthropic/claude-sonnet-4-5` or `openai/<name>` with an
            `api_base`.
        api_base: root of an OpenAI-compatible server; None: the provider's own.
        cache: store of valid replies; None: no cache.
        refusals: store of refused parameters, for all workers; None: no store.
        transcripts: store of prompts and replies for readers; None: no store.
        backoff_seconds: wait before the first retry where the provider names none; doubles with
            each retry.
    """

    def __init__(
        self,
        model: str,
        settings: LanguageModelSettings,
        *,
        budget: SharedBudget,
        api_base: str | None = None,
        cache: KeyedStore | None = None,
        refusals: KeyedStore | None = None,
        transcripts: Transcripts | None = None,
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
        self.parameters = ModelParameters(model, settings, api_base=api_base, store=refusals)
        self.sampling = sampling or Sampling()
        self.price: Price | None = price_of(model, settings)
        self.cache = (
            ReplyCache(cache, model, api_base, self.parameters.wanted_mode) if cache else None
        )
        self.batched: BatchedModel | None = None
        self.transcripts = transcripts
        self.limits_told = NO_REPORTED_LIMITS
        self.out_of_order: str | None = None
        self._api_base = api_base
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._failures_in_a_row = 0

    def turn(self, key: str) -> asyncio.Lock:
        """Return the lock for the question with this cache key.

        Waiters find the cached reply. Without a reply the next waiter asks on its own idea's
        budget.
        """
        return self._turns.setdefault(key, asyncio.Lock())

    @property
    def name(self) -> str:
        return EngineChoice(self.model).text

    def larger(self, reply_tokens: int, messages: Sequence[Message]) -> int | None:
        """Return a larger limit after a cut-off at `reply_tokens`.

        The result is None if the model has no room.
        """
        prompt_tokens = tokens_of(messages, self.count_tokens)
        room = self.parameters.room_for_reply(prompt_tokens + self._tokens_beside)
        larger_bound = min(2 * reply_tokens, room)
        return larger_bound if larger_bound > reply_tokens else None

    def fit(self, messages: Sequence[Message], reply_tokens: int) -> Fitted | TooLong:
        """Shorten the messages to leave room for the reply and one correction."""
        room = self.parameters.context_tokens - reply_tokens - self._tokens_beside
        return fit(messages, room, self.count_tokens)

    @property
    def _tokens_beside(self) -> int:
        """Tokens reserved for the chat format and the error in a correction."""
        correction_tokens = min(_TOKENS_FOR_ASKING_AGAIN, self.parameters.context_tokens // 8)
        return correction_tokens + _TOKENS_FOR_CHAT_FORMAT

    def count_tokens(self, text: str) -> int:
        """Count tokens with a local tokenizer, approximately for most models."""
        return _count_tokens(self.model, text)

    def estimate(
        self,
        messages: Sequence[Message],
        reply_tokens: int,
        attached_tokens: int = 0,
        pictures: int = 0,
    ) -> tuple[int, float]:
        """Return (tokens, dollars) that a call may take.

        Tokens are a quarter of the characters, the attachment, and half of the longest reply.
        """
        prompt = (
            sum(len(message["content"]) for message in messages) // _CHARACTERS_PER_TOKEN
            + 1
            + attached_tokens
        )
        completion = reply_tokens // 2
        cost = self.price.of(prompt, completion, pictures=pictures) if self.price else 0.0
        return prompt + completion, cost

    def patience(self, reply_tokens: int) -> float:
        """Return the timeout's factor for a reply of this length."""
        return max(1.0, reply_tokens / _TOKENS_WITHIN_TIMEOUT)

    async def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        parameters: Parameters,
        response_format: dict[str, Any] | None,
        *,
        patience: float = 1.0,
        shares_prefix: bool = False,
        draws: bool = False,
    ) -> CallAnswer | CallFailure:
        """Make one attempt.

        Learn rate limits from it, and count failures of the model itself.
        """
        seconds = self.settings.timeout_seconds * patience
        arguments = call_arguments(parameters, response_format) | access(self.model, self._api_base)
        if draws:
            answer = await draw_by_provider(self.model, as_prompt(messages), arguments, seconds)
        else:
            if shares_prefix and takes_cache_markers(self.model):
                messages = with_cache_markers(messages)
            answer = await call_provider(self.model, messages, arguments, seconds)
        if isinstance(answer, CallFailure):
            if answer.concerns_every_call:
                self._failures_in_a_row += 1
                if self._failures_in_a_row >= _FAILURES_UNTIL_OUT_OF_ORDER:
                    self.out_of_order = answer.detail
            return answer
        self._failures_in_a_row = 0
        previous, headers = self.limits_told, answer.limits
        limits = (headers.requests_per_minute, headers.tokens_per_minute)
        if limits != (previous.requests_per_minute, previous.tokens_per_minute):
            self.limits.learn(*limits)
        if headers.wait_seconds:
            self.limits.penalise(headers.wait_seconds)
        if headers != NO_REPORTED_LIMITS:
            self.limits_told = headers
        return answer

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await library().close_litellm_async_clients()
