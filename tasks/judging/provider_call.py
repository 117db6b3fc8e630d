"""One attempt at one model call, and what its errors mean: does trying again help, and whom do they
concern?
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.calls import MAXIMUM_TOKENS, CallStatus
from schemas.reasons import Reason
from tasks.judging.models import NOTHING_TOLD, RateLimitHeaders, rate_limit_headers
from tasks.judging.parameters import named_parameter
from tasks.shards.standstill import unfollowed
from tasks.web.client import ConnectionFailure
from tasks.web.litellm_library import asked_to_wait_seconds, causes, library
from warehouse.scrubbing import one_line

_MOST_USD_PER_CALL = 10_000.0


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a provider answered. `cost_usd` is LiteLLM's, cache writes and long prompts included;
    None: it knows no price.
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
    limits: RateLimitHeaders = NOTHING_TOLD


@dataclass(frozen=True, slots=True)
class CallFailure:
    """An attempt without an answer.

    Attributes:
        reason: of the `Unscored` this becomes when it is not tried again.
        retryable: whether trying the same call again may help.
        concerns_every_call: a wrong key, a model that does not exist, a quota that is spent.
        retry_after_seconds: what the provider asked for; None when it did not say.
        refused_parameter: what the provider does not take; see `named_parameter`.
    """

    status: CallStatus
    reason: Reason
    detail: str
    retryable: bool = False
    concerns_every_call: bool = False
    retry_after_seconds: float | None = None
    refused_parameter: str | None = None


async def call_provider(
    model: str,
    messages: Sequence[Mapping[str, Any]],
    parameters: dict[str, Any],
    timeout_seconds: float,
) -> CallAnswer | CallFailure:
    """Ask `model` once; LiteLLM's own retries are off."""
    litellm = library()
    import openai  # a second; engines without a model start without it

    try:
        async with asyncio.timeout(timeout_seconds):
            with unfollowed():  # LiteLLM starts tasks of its own, which outlive the call
                response = await litellm.acompletion(
                    model=model,
                    messages=list(messages),
                    timeout=timeout_seconds,
                    num_retries=0,
                    max_retries=0,
                    **parameters,
                )
            return _answer(response)
    except TimeoutError:
        return _timed_out(timeout_seconds)
    except openai.OpenAIError as error:
        return _failure(error, timeout_seconds)
    except _MiscountedError as error:
        return CallFailure(CallStatus.SERVER_ERROR, Reason.ENGINE_UNAVAILABLE, str(error))


def _answer(response: Any) -> CallAnswer | CallFailure:
    choices = getattr(response, "choices", None)
    if not choices:
        detail = "the provider answered without choices"
        return CallFailure(CallStatus.EMPTY, Reason.REPLY_EMPTY, detail, retryable=True)
    choice = choices[0]
    if (broken := _fields(choice).get("error")) is not None:
        # OpenRouter reports an upstream that failed halfway inside a reply that looks finished.
        unavailable = Reason.ENGINE_UNAVAILABLE
        return CallFailure(CallStatus.SERVER_ERROR, unavailable, one_line(str(broken)), True)
    message, usage = choice.message, getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    hidden = getattr(response, "_hidden_params", None) or {}
    return CallAnswer(
        text=message.content,
        refusal=getattr(message, "refusal", None) or _fields(message).get("refusal"),
        finish_reason=choice.finish_reason,
        model_answered=getattr(response, "model", None),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
        thinking_tokens=_told(
            getattr(usage, "completion_tokens_details", None), "reasoning_tokens"
        ),
        cost_usd=_cost_usd(hidden.get("response_cost")),
        limits=rate_limit_headers(_headers(hidden)),
    )


def _cost_usd(told: Any) -> float | None:
    """LiteLLM's figure, which some providers name themselves; None where it cannot be true."""
    cost_usd = float(told) if isinstance(told, int | float) else 0.0
    return cost_usd if 0.0 < cost_usd < _MOST_USD_PER_CALL else None


def _fields(holder: Any) -> dict[str, Any]:
    return getattr(holder, "provider_specific_fields", None) or {}


def _headers(hidden: Mapping[str, Any]) -> dict[str, str]:
    """The answer's headers. LiteLLM puts a prefix before the provider's own names."""
    kept = hidden.get("additional_headers") or {}
    return {name.removeprefix("llm_provider-").lower(): str(kept[name]) for name in kept}


class _MiscountedError(Exception):
    """A provider's count of tokens that cannot be true; never leaves this module."""


def _told(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    if value is None:
        return None
    if not isinstance(value, int | float) or not value <= MAXIMUM_TOKENS:
        raise _MiscountedError(
            f"the provider claims more than {MAXIMUM_TOKENS:,} {name}: what the call cost is"
            " unknown"
        )
    return max(int(value), 0)


def _count(holder: Any, name: str) -> int:
    return _told(holder, name) or 0


def _timed_out(timeout_seconds: float) -> CallFailure:
    detail = f"no answer within {timeout_seconds:g} s (ASSAY_LANGUAGE_MODEL__TIMEOUT_SECONDS)"
    return CallFailure(CallStatus.TIMED_OUT, Reason.TIMED_OUT, detail, retryable=True)


def _failure(error: Any, timeout_seconds: float) -> CallFailure:
    kinds = library().exceptions
    detail = one_line(error)
    text = str(error)
    unavailable = Reason.ENGINE_UNAVAILABLE
    status = getattr(error, "status_code", None) or 0
    wait_seconds = asked_to_wait_seconds(error)
    if isinstance(error, kinds.Timeout):
        return _timed_out(timeout_seconds)
    if isinstance(error, kinds.ContextWindowExceededError) or _says(text, _TOO_LONG):
        hint = "the prompt does not fit the model, set ASSAY_LANGUAGE_MODEL__CONTEXT_TOKENS"
        return CallFailure(CallStatus.CLIENT_ERROR, Reason.INPUT_TOO_LONG, f"{hint}: {detail}")
    if isinstance(error, kinds.ContentPolicyViolationError) or _says(text, _MODERATED):
        return CallFailure(CallStatus.REFUSED, Reason.REFUSED, detail)
    if status == 402 or _says(text, _NO_CREDIT):
        hint = f"the provider's account has nothing left: {detail}"
        return CallFailure(CallStatus.CLIENT_ERROR, unavailable, hint, concerns_every_call=True)
    if isinstance(error, kinds.RateLimitError):
        words = (text, *(str(getattr(one, "body", "")) for one in causes(error)))
        spent = any("insufficient_quota" in one for one in words)
        return CallFailure(
            CallStatus.RATE_LIMITED, unavailable, detail, not spent, spent, wait_seconds
        )
    if _wrong_address(error):
        hint = f"{_advice(error)}: {detail}"
        return CallFailure(CallStatus.CLIENT_ERROR, unavailable, hint, concerns_every_call=True)
    if _connection_failed(error):
        hint = f"no connection to the model's server: {detail}"
        return CallFailure(CallStatus.UNREACHABLE, unavailable, hint, retryable=True)
    if 400 <= status < 500 and status not in (408, 409) and not _says(text, _NO_REPLY):
        named = named_parameter(_words(error), _parameter(error)) if status in (400, 422) else None
        hint = f"{_advice(error)}: {detail}"
        return CallFailure(CallStatus.CLIENT_ERROR, unavailable, hint, refused_parameter=named)
    return CallFailure(
        CallStatus.SERVER_ERROR, unavailable, detail, True, retry_after_seconds=wait_seconds
    )


# Providers say these in words only, each in the error LiteLLM gives for any wrong request.
_TOO_LONG = ("maximum context length is", "Request too large for")
_MODERATED = ("requires moderation",)
_NO_CREDIT = ("credit balance is too low",)
_NO_MODEL = ("is not a valid model ID",)
_NO_REPLY = ("Error converting to valid response block",)  # LiteLLM's own, of a gateway's page


def _says(text: str, phrases: Sequence[str]) -> bool:
    return any(phrase in text for phrase in phrases)


def _refused_key(error: Any) -> bool:
    kinds = library().exceptions
    if isinstance(error, kinds.AuthenticationError | kinds.PermissionDeniedError):
        return True
    return getattr(error, "status_code", None) == 403  # Gemini's, which LiteLLM gives as a 400


def _wrong_address(error: Any) -> bool:
    """Whether key or model are wrong, so that every other call fails as well."""
    no_model = isinstance(error, library().exceptions.NotFoundError) or _says(str(error), _NO_MODEL)
    return no_model or _refused_key(error)


def _words(error: Any) -> str:
    """The provider's own words, where LiteLLM keeps them."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return str(message) if message else str(error)


def _parameter(error: Any) -> str | None:
    """The `param` of an OpenAI error; it is either on the error or in the JSON of its words."""
    named = getattr(error, "param", None)
    return str(named) if named else None


def _advice(error: Any) -> str:
    if _refused_key(error):
        return "the provider refused the key, check the provider's key in the environment"
    if _wrong_address(error):
        return "no such model at the provider, check the engine's name and --api-base"
    return "the provider refused the request"


def _connection_failed(error: Any) -> bool:
    if any(isinstance(link, ConnectionFailure) for link in causes(error)):
        return True
    return isinstance(error, library().exceptions.APIConnectionError) or "Connection error" in str(
        error
    )
