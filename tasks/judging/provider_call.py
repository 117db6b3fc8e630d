"""One attempt at one model call, and what its errors mean: does trying again help, and whom do they concern?"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from schemas.calls import CallStatus
from schemas.outcome import UnscoredReason
from tasks.judging.litellm_library import library
from tasks.judging.scrubbing import one_line


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a provider answered."""

    text: str | None
    refusal: str | None
    finish_reason: str | None
    model_answered: str | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    thinking_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallFailure:
    """An attempt without an answer.

    Attributes:
        reason: of the `Unscored` this becomes when it is not tried again.
        retryable: whether trying the same call again may help.
        concerns_every_call: a wrong key, a model that does not exist, a quota that is spent.
        retry_after_seconds: what the provider asked for; None when it did not say.
    """

    status: CallStatus
    reason: UnscoredReason
    detail: str
    retryable: bool = False
    concerns_every_call: bool = False
    retry_after_seconds: float | None = None


async def call_provider(
    model: str, messages: Sequence[Mapping[str, Any]], parameters: dict[str, Any], timeout_seconds: float
) -> CallAnswer | CallFailure:
    """Ask `model` once; LiteLLM's own retries are off."""
    litellm = library()
    import openai

    try:
        async with asyncio.timeout(timeout_seconds):
            response = await litellm.acompletion(
                model=model, messages=list(messages), timeout=timeout_seconds, num_retries=0, max_retries=0, **parameters
            )
    except TimeoutError:
        return _timed_out(timeout_seconds)
    except openai.OpenAIError as error:
        return _failure(error, timeout_seconds)
    return _answer(response)


def _answer(response: Any) -> CallAnswer | CallFailure:
    choices = getattr(response, "choices", None)
    if not choices:
        return CallFailure(CallStatus.EMPTY, UnscoredReason.REPLY_EMPTY, "the provider answered without choices", retryable=True)
    message, usage = choices[0].message, getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return CallAnswer(
        text=message.content,
        refusal=getattr(message, "refusal", None) or (getattr(message, "provider_specific_fields", None) or {}).get("refusal"),
        finish_reason=choices[0].finish_reason,
        model_answered=getattr(response, "model", None),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
        thinking_tokens=_told(getattr(usage, "completion_tokens_details", None), "reasoning_tokens"),
    )


def _told(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    return None if value is None else max(int(value), 0)


def _count(holder: Any, name: str) -> int:
    return max(int(getattr(holder, name, None) or 0), 0)


def _timed_out(timeout_seconds: float) -> CallFailure:
    detail = f"no answer within {timeout_seconds:g} s (ASSAY_LANGUAGE_MODEL__TIMEOUT_SECONDS)"
    return CallFailure(CallStatus.TIMED_OUT, UnscoredReason.TIMED_OUT, detail, retryable=True)


def _failure(error: Any, timeout_seconds: float) -> CallFailure:
    kinds = library().exceptions
    detail = one_line(error)
    unavailable = UnscoredReason.ENGINE_UNAVAILABLE
    status = getattr(error, "status_code", None) or 0
    if isinstance(error, kinds.Timeout):
        return _timed_out(timeout_seconds)
    if isinstance(error, kinds.RateLimitError):
        spent = any("insufficient_quota" in str(getattr(link, "body", "")) for link in _chain(error))
        return CallFailure(CallStatus.RATE_LIMITED, unavailable, detail, not spent, spent, retry_after_seconds(error))
    if isinstance(error, kinds.ContextWindowExceededError):
        hint = f"the model's context is smaller than assumed, set ASSAY_LANGUAGE_MODEL__CONTEXT_TOKENS: {detail}"
        return CallFailure(CallStatus.CLIENT_ERROR, UnscoredReason.INPUT_TOO_LONG, hint)
    if isinstance(error, kinds.ContentPolicyViolationError):
        return CallFailure(CallStatus.REFUSED, UnscoredReason.REFUSED, detail)
    if isinstance(error, kinds.AuthenticationError | kinds.PermissionDeniedError | kinds.NotFoundError):
        return CallFailure(CallStatus.CLIENT_ERROR, unavailable, f"{_advice(error)}: {detail}", concerns_every_call=True)
    if _connection_failed(error):
        return CallFailure(CallStatus.UNREACHABLE, unavailable, f"no connection to the model's server: {detail}", retryable=True)
    if 400 <= status < 500 and status not in (408, 409):
        return CallFailure(CallStatus.CLIENT_ERROR, unavailable, f"{_advice(error)}: {detail}")
    return CallFailure(CallStatus.SERVER_ERROR, unavailable, detail, retryable=True, retry_after_seconds=retry_after_seconds(error))


def _advice(error: Any) -> str:
    kinds = library().exceptions
    text = str(error)
    if isinstance(error, kinds.AuthenticationError | kinds.PermissionDeniedError):
        return "the provider refused the key, check the provider's key in the environment"
    if isinstance(error, kinds.NotFoundError):
        return "no such model at the provider, check the engine's name and --api-base"
    if "response_format" in text or "json_schema" in text or "json_object" in text:
        return "the provider refused structured output, set ASSAY_LANGUAGE_MODEL__STRUCTURED_OUTPUT=text"
    if isinstance(error, kinds.UnsupportedParamsError):
        return "the model does not take a parameter, change the profile's temperature or seed"
    return "the provider refused the request"


def _connection_failed(error: Any) -> bool:
    import httpx

    if any(isinstance(link, httpx.TransportError) for link in _chain(error)):
        return True
    return isinstance(error, library().exceptions.APIConnectionError) or "Connection error" in str(error)


def retry_after_seconds(error: Any) -> float | None:
    """The `Retry-After` of a provider's error, in seconds from now; None when it gave none."""
    for link in _chain(error):
        for headers in (getattr(getattr(link, "response", None), "headers", None), getattr(link, "litellm_response_headers", None)):
            if headers and (value := headers.get("retry-after")) is not None:
                return _seconds(str(value))
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what caused it; LiteLLM keeps the provider's own words at the far end."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def _seconds(value: str) -> float | None:
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0) if moment.tzinfo else None
