"""One attempt at a model call, and the classification of its errors."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

from schemas.calls import MAXIMUM_TOKENS, CallStatus
from schemas.formats import MAXIMUM_CALL_USD
from schemas.reasons import Reason
from tasks.judging.models import NO_REPORTED_LIMITS, RateLimitHeaders, rate_limit_headers
from tasks.judging.parameters import named_parameter
from tasks.shards.standstill import unfollowed
from tasks.web.client import NOT_SENT, ConnectionFailure
from tasks.web.exchange import connection_failure
from tasks.web.litellm_library import asked_to_wait_seconds, causes, library
from warehouse.scrubbing import one_line


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """Answer of a provider.

    Attributes:
        text: the reply; a picture in Base64 or by URL.
        cost_usd: LiteLLM's figure, with cache writes and surcharges; None: unknown price.
    """

    text: str | None
    refusal: str | None
    finish_reason: str | None
    model_answered: str | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    thinking_tokens: int | None = None
    cost_usd: float | None = None
    limits: RateLimitHeaders = NO_REPORTED_LIMITS

    @property
    def tokens(self) -> int:
        """Sum of prompt and completion tokens; 0 if the provider reported none."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class CallFailure:
    """An attempt without an answer.

    Attributes:
        reason: reason of the `Unscored` if there is no retry.
        retryable: whether a retry of the same call may help.
        concerns_every_call: a wrong key, an unknown model, an exhausted quota.
        retry_after_seconds: requested by the provider; None: not given.
        refused_parameter: parameter that the provider refuses; see `named_parameter`.
        usage: reported in spite of the failure; None: not reported.
        cost_is_unknown: the call may be billed, at an unknown price.
    """

    status: CallStatus
    reason: Reason
    detail: str
    retryable: bool = False
    concerns_every_call: bool = False
    retry_after_seconds: float | None = None
    refused_parameter: str | None = None
    usage: CallAnswer | None = None
    cost_is_unknown: bool = False


async def call_provider(
    model: str,
    messages: Sequence[Mapping[str, Any]],
    parameters: dict[str, Any],
    timeout_seconds: float,
) -> CallAnswer | CallFailure:
    """Call `model` once, without LiteLLM's own retries."""
    litellm = library()
    return await _attempt_call(
        lambda: litellm.acompletion(
            model=model,
            messages=list(messages),
            timeout=timeout_seconds,
            num_retries=0,
            max_retries=0,
            **parameters,
        ),
        _answer,
        timeout_seconds,
    )


async def draw_by_provider(
    model: str, prompt: str, parameters: dict[str, Any], timeout_seconds: float
) -> CallAnswer | CallFailure:
    """Request one picture of `model`, without LiteLLM's own retries."""
    litellm = library()
    async with _without_retries(model, parameters) as client:
        return await _attempt_call(
            lambda: litellm.aimage_generation(
                model=model,
                prompt=prompt,
                timeout=timeout_seconds,
                num_retries=0,
                **client,
                **parameters,
            ),
            _picture,
            timeout_seconds,
        )


@asynccontextmanager
async def _without_retries(
    model: str, parameters: Mapping[str, Any]
) -> AsyncIterator[dict[str, Any]]:
    """Yield a client without retries for image models of OpenAI's library.

    There LiteLLM ignores `num_retries`; for other providers it sends once anyway.
    """
    litellm = library()
    import openai  # a second; engines without a model start without it

    try:
        _, provider, key, address = litellm.get_llm_provider(
            model=model, api_base=parameters.get("api_base")
        )
    except openai.OpenAIError:  # the call will raise it too
        yield {}
        return
    speaks_it = provider in litellm.openai_compatible_providers and address is not None
    if provider != "openai" and not speaks_it:
        yield {}
        return
    key = parameters.get("api_key") or key
    if provider == "openai":  # no other provider may receive this key
        addresses = (os.environ.get(each) for each in ("OPENAI_BASE_URL", "OPENAI_API_BASE"))
        address = address or next(filter(None, addresses), None)
        key = key or os.environ.get("OPENAI_API_KEY")
    key = key or "none"  # OpenAI's library would take its own
    async with _single_attempt_client()(api_key=key, base_url=address) as client:
        yield {"client": client}


@lru_cache(maxsize=1)
def _single_attempt_client() -> Any:
    """Return OpenAI's client class without retries: LiteLLM sets two on every client."""
    import openai

    class SingleAttemptClient(openai.AsyncOpenAI):
        async def request(self, cast_to: Any, options: Any, **keywords: Any) -> Any:
            options.max_retries = 0
            return await super().request(cast_to, options, **keywords)

    return SingleAttemptClient


async def _attempt_call(
    call: Callable[[], Awaitable[Any]],
    read: Callable[[Any], CallAnswer | CallFailure],
    timeout_seconds: float,
) -> CallAnswer | CallFailure:
    import openai  # a second; engines without a model start without it

    try:
        async with asyncio.timeout(timeout_seconds):
            with unfollowed():  # LiteLLM starts tasks of its own, which outlive the call
                response = await call()
            return read(response)
    except TimeoutError:
        return _timed_out(timeout_seconds)
    except openai.OpenAIError as error:
        return _with_usage(_failure(error, timeout_seconds), error)
    except _MiscountedError as error:
        return CallFailure(
            CallStatus.SERVER_ERROR,
            Reason.ENGINE_UNAVAILABLE,
            str(error),
            cost_is_unknown=True,
        )


def _with_usage(failure: CallFailure, error: BaseException) -> CallFailure:
    """Return the failure with the usage reported in the provider's error."""
    for link in causes(error):
        try:
            content = getattr(getattr(link, "response", None), "content", None)
            body = json.loads(content or "null", object_hook=lambda row: SimpleNamespace(**row))
            if usage := getattr(body, "usage", None):
                return replace(failure, usage=_build_answer(SimpleNamespace(usage=usage)))
        except (ValueError, RuntimeError):  # no JSON, nested too deeply, or never read
            continue
        except _MiscountedError:
            return replace(failure, cost_is_unknown=True)
    return failure


def _answer(response: Any) -> CallAnswer | CallFailure:
    choices = getattr(response, "choices", None)
    if not choices:
        return CallFailure(
            CallStatus.EMPTY,
            Reason.REPLY_EMPTY,
            "the provider answered without choices",
            retryable=True,
            usage=_build_answer(response),
        )
    choice = choices[0]
    if (upstream_error := _fields(choice).get("error")) is not None:
        # OpenRouter reports an upstream that failed halfway inside a reply that looks finished.
        return CallFailure(
            CallStatus.SERVER_ERROR,
            Reason.ENGINE_UNAVAILABLE,
            one_line(str(upstream_error)),
            retryable=True,
            usage=_build_answer(response),
        )
    message = choice.message
    return _build_answer(
        response,
        text=message.content,
        refusal=getattr(message, "refusal", None) or _fields(message).get("refusal"),
        finish_reason=choice.finish_reason,
    )


def _picture(response: Any) -> CallAnswer:
    image = next(iter(getattr(response, "data", None) or ()), None)
    return _build_answer(
        response, text=getattr(image, "b64_json", None) or getattr(image, "url", None)
    )


def _build_answer(
    response: Any,
    text: str | None = None,
    refusal: str | None = None,
    finish_reason: str | None = None,
) -> CallAnswer:
    """Build the answer with model, tokens, cost and limits of the response."""
    usage = getattr(response, "usage", None)
    hidden_parameters = getattr(response, "_hidden_params", None) or {}
    # LiteLLM's figure, which some providers report themselves.
    reported_cost = hidden_parameters.get("response_cost")
    cost_usd = float(reported_cost) if isinstance(reported_cost, int | float) else 0.0
    headers = hidden_parameters.get("additional_headers") or {}
    return CallAnswer(
        text=text,
        refusal=refusal,
        finish_reason=finish_reason,
        model_answered=getattr(response, "model", None),
        prompt_tokens=_count(usage, "prompt_tokens") or 0,
        completion_tokens=_count(usage, "completion_tokens") or 0,
        cached_tokens=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens") or 0,
        thinking_tokens=_count(
            getattr(usage, "completion_tokens_details", None), "reasoning_tokens"
        ),
        cost_usd=cost_usd if 0.0 < cost_usd <= MAXIMUM_CALL_USD else None,
        limits=rate_limit_headers(
            {name.removeprefix("llm_provider-").lower(): str(headers[name]) for name in headers}
        ),
    )


def _fields(holder: Any) -> dict[str, Any]:
    return getattr(holder, "provider_specific_fields", None) or {}


class _MiscountedError(Exception):
    """An impossible token count of a provider; never leaves this module."""


def _count(holder: Any, name: str) -> int | None:
    """Return a token count; None if it is not reported."""
    value = getattr(holder, name, None)
    if value is None:
        return None
    if not isinstance(value, int | float) or not value <= MAXIMUM_TOKENS:
        raise _MiscountedError(
            f"the provider claims more than {MAXIMUM_TOKENS:,} {name}: what the call cost is"
            " unknown"
        )
    return max(int(value), 0)


def _timed_out(timeout_seconds: float) -> CallFailure:
    detail = f"no answer within {timeout_seconds:g} s (ASSAY_LANGUAGE_MODEL__TIMEOUT_SECONDS)"
    return CallFailure(
        CallStatus.TIMED_OUT, Reason.TIMED_OUT, detail, retryable=True, cost_is_unknown=True
    )


# Providers report these only in the message of a generic error.
_TOO_LONG = ("maximum context length is", "Request too large for")
_MODERATION = ("moderation_blocked", "content_policy_violation")  # codes of OpenAI's image models
_NO_REPLY = (  # LiteLLM's messages for an answer that is no completion, such as a gateway's page
    "Error converting to valid response block",
    "Empty or invalid response from LLM endpoint",
)
_PARSING_FAULTS = (AttributeError, LookupError, TypeError, ValueError)


def _failure(error: Any, timeout_seconds: float) -> CallFailure:
    kinds = library().exceptions
    text, detail, links = str(error), one_line(error), list(causes(error))
    status = getattr(error, "status_code", None) or 0
    body = getattr(error, "body", None)
    fields = body if isinstance(body, dict) else {}
    unavailable = Reason.ENGINE_UNAVAILABLE
    client_failure = partial(CallFailure, CallStatus.CLIENT_ERROR, unavailable)
    server_failure = partial(CallFailure, CallStatus.SERVER_ERROR, unavailable, retryable=True)
    wait_seconds = asked_to_wait_seconds(error)
    was_sent = not any(isinstance(link, NOT_SENT) for link in links)
    connection_lost = any(isinstance(link, ConnectionFailure) for link in links)
    if isinstance(error, kinds.Timeout) and was_sent:
        return _timed_out(timeout_seconds)
    if isinstance(error, kinds.ContextWindowExceededError) or _contains(text, _TOO_LONG):
        hint = "the prompt does not fit the model, set ASSAY_LANGUAGE_MODEL__CONTEXT_TOKENS"
        return CallFailure(CallStatus.CLIENT_ERROR, Reason.INPUT_TOO_LONG, f"{hint}: {detail}")
    is_moderated = fields.get("code") in _MODERATION or "requires moderation" in text
    if isinstance(error, kinds.ContentPolicyViolationError) or is_moderated:
        return CallFailure(CallStatus.REFUSED, Reason.REFUSED, detail)
    if status == 402 or "credit balance is too low" in text:
        hint = "the provider's account has nothing left"
        return client_failure(f"{hint}: {detail}", concerns_every_call=True)
    if isinstance(error, kinds.RateLimitError):
        words = (text, *(str(getattr(link, "body", "")) for link in links))
        quota_spent = any("insufficient_quota" in each for each in words)
        return CallFailure(
            CallStatus.RATE_LIMITED, unavailable, detail, not quota_spent, quota_spent, wait_seconds
        )
    # Gemini answers 403, which LiteLLM reports as 400.
    refuses_key = isinstance(error, kinds.AuthenticationError | kinds.PermissionDeniedError)
    if refuses_key or status == 403:
        hint = "the provider refused the key, check the provider's key in the environment"
        return client_failure(f"{hint}: {detail}", concerns_every_call=True)
    if isinstance(error, kinds.NotFoundError) or "is not a valid model ID" in text:
        hint = "no such model at the provider, check the engine's name and --api-base"
        return client_failure(f"{hint}: {detail}", concerns_every_call=True)
    is_connection_error = isinstance(error, kinds.APIConnectionError)
    # LiteLLM reports an error in parsing an answer as a connection error.
    faults = (link for link in links if isinstance(link, _PARSING_FAULTS))
    if is_connection_error and not connection_lost and (fault := next(faults, None)):
        hint = f"the provider's answer could not be read: {one_line(fault)}"
        return server_failure(hint, cost_is_unknown=True)
    if connection_lost or is_connection_error or "Connection error" in text:
        cause, _ = connection_failure(error) or (detail, False)
        hint = f"no connection to the model's server: {cause}"
        cost_is_unknown = connection_lost and was_sent
        return CallFailure(
            CallStatus.UNREACHABLE,
            unavailable,
            hint,
            retryable=True,
            cost_is_unknown=cost_is_unknown,
        )
    no_reply = _contains(text, _NO_REPLY)
    if 400 <= status < 500 and status not in (408, 409) and not no_reply:
        parameter = None
        if status in (400, 422):
            parameter = named_parameter(
                str(fields.get("message") or error), getattr(error, "param", None)
            )
        hint = "the provider refused the request"
        return client_failure(f"{hint}: {detail}", refused_parameter=parameter)
    return server_failure(detail, retry_after_seconds=wait_seconds, cost_is_unknown=no_reply)


def _contains(text: str, phrases: Sequence[str]) -> bool:
    return any(phrase in text for phrase in phrases)
