"""What OpenAI's models take and refuse, and how the API words a refusal.

Sources: https://developers.openai.com/api/docs/models (context, longest output, endpoints, efforts
of each model), https://developers.openai.com/api/docs/guides/reasoning (parameters that reasoning
models refuse), https://developers.openai.com/api/docs/guides/error-codes; the wording is that of
errors users report.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.providers.base import Body, Question, Refusal
from tests.support.providers.strict_schemas import openai_complaint

_NEVER_WITH_REASONING = ("logprobs", "top_logprobs", "logit_bias")
_ONLY_DEFAULT = {"temperature": 1, "presence_penalty": 0, "frequency_penalty": 0}


@dataclass(frozen=True)
class OpenAIModel:
    """A model. `efforts` is empty where it does not reason; else the first is its default."""

    context_tokens: int
    maximum_output_tokens: int
    efforts: tuple[str, ...] = ()
    endpoint: str = "chat"

    @property
    def reasons(self) -> bool:
        return bool(self.efforts)

    def effort(self, asked: str | None) -> str:
        """How much it reasons."""
        return (asked or self.efforts[0]) if self.reasons else "none"


_O_SERIES = ("medium", "low", "high")
MODELS = {
    "gpt-4.1": OpenAIModel(1_047_576, 32_768),
    "gpt-4o-mini": OpenAIModel(128_000, 16_384),
    "gpt-5": OpenAIModel(400_000, 128_000, ("medium", "minimal", "low", "high")),
    "gpt-5-mini": OpenAIModel(400_000, 128_000, ("medium", "minimal", "low", "high")),
    "gpt-5.1": OpenAIModel(400_000, 128_000, ("none", "low", "medium", "high")),
    "o3": OpenAIModel(200_000, 100_000, _O_SERIES),
    "o4-mini": OpenAIModel(200_000, 100_000, _O_SERIES),
    "gpt-5-pro": OpenAIModel(400_000, 272_000, ("high",), "responses"),
    "o3-pro": OpenAIModel(200_000, 100_000, _O_SERIES, "responses"),
}


def refusal(
    message: str,
    *,
    status: int = 400,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Refusal:
    """An error as OpenAI's API answers it."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Refusal(status, {"error": error}, headers)


def check_types(body: Body, wanted: Mapping[str, tuple[type, ...]]) -> None:
    """Raises: Refusal: a field is of another type."""
    for name, kinds in wanted.items():
        value = body.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            expected = "an integer" if kinds == (int,) else f"a {kinds[0].__name__}"
            message = f"Invalid type for '{name}': expected {expected}, but got "
            message += f"a {type(value).__name__} instead."
            raise refusal(message, param=name, code="invalid_type")


def check_chat_sampling(model: OpenAIModel, body: Body) -> None:
    """Raises: Refusal: a parameter or value that a reasoning model does not take."""
    effort = body.get("reasoning_effort")
    if effort is not None and not model.reasons:
        raise refusal(
            "Unrecognized request argument supplied: reasoning_effort",
        )
    if not model.reasons:
        return
    if "max_tokens" in body:
        hint = "Use 'max_completion_tokens' instead."
        raise unsupported_parameter("max_tokens", hint)
    if effort is not None and effort not in model.efforts:
        raise unsupported_value("reasoning_effort", effort, _listed(model.efforts))
    if model.effort(effort) == "none":
        return
    for name in (*_NEVER_WITH_REASONING, "stop", "top_p"):
        if body.get(name) not in (None, False, {}):
            raise unsupported_parameter(name)
    for name, default in _ONLY_DEFAULT.items():
        if body.get(name) not in (None, default):
            raise unsupported_value(
                name, body[name], f"Only the default ({default}) value is supported."
            )


def unsupported_parameter(
    name: str, hint: str = "", code: str | None = "unsupported_parameter"
) -> Refusal:
    message = f"Unsupported parameter: '{name}' is not supported with this model. {hint}".strip()
    return refusal(message, param=name, code=code)


def unsupported_value(name: str, value: Any, allowed: str) -> Refusal:
    shown = f"'{value}'" if isinstance(value, str) else value
    message = f"Unsupported value: '{name}' does not support {shown} with this model. {allowed}"
    return refusal(message, param=name, code="unsupported_value")


def _listed(efforts: tuple[str, ...]) -> str:
    *first, last = [f"'{effort}'" for effort in efforts]
    return f"Supported values are: {', '.join(first)}, and {last}."


def check_schema(name: str, schema: Any, *, param: str, code: str | None) -> None:
    """Raises: Refusal: strict mode does not take the schema."""
    if complaint := openai_complaint(schema):
        message = f"Invalid schema for response_format '{name}': {complaint}"
        raise refusal(message, param=param, code=code)


def check_length(question: Question, model: OpenAIModel, param: str) -> None:
    """Raises: Refusal: the prompt does not fit, or the cap is beyond what the model can."""
    if question.cap is not None and question.cap > model.maximum_output_tokens:
        message = (
            f"max_tokens is too large: {question.cap}. This model supports at most "
            f"{model.maximum_output_tokens} completion tokens, whereas you provided {question.cap}."
        )
        raise refusal(message, param="max_tokens", code="invalid_value")
    if question.prompt_tokens > question.context_tokens:
        message = (
            f"This model's maximum context length is {question.context_tokens} tokens. However, "
            f"your messages resulted in {question.prompt_tokens} tokens. "
            "Please reduce the length of the messages."
        )
        raise refusal(message, param=param, code="context_length_exceeded")


def check_key(given: str | None, key: str) -> None:
    """Raises: Refusal: `given`, the Authorization header, is not this key."""
    if given == f"Bearer {key}":
        return
    shown = (given or "").removeprefix("Bearer ")
    raise refusal(
        f"Incorrect API key provided: {shown[:4]}****{shown[-4:]}. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        status=401,
        code="invalid_api_key",
    )


def unknown_model(name: str) -> Refusal:
    message = f"The model `{name}` does not exist or you do not have access to it."
    return refusal(message, status=404, code="model_not_found")


def failure(name: str, argument: str, model: str) -> Refusal | None:
    """The refusals that are the provider's affair and follow from no request."""
    match name:
        case "rate_limited":
            wait = argument or "1"
            headers = {"retry-after": wait, "x-ratelimit-remaining-requests": "0"}
            headers |= {"x-ratelimit-reset-requests": f"{wait}s"}
            message = (
                f"Rate limit reached for {model} in organization org-loopback on requests per min "
                f"(RPM): Limit 500, Used 500, Requested 1. Please try again in {wait}s. Visit "
                "https://platform.openai.com/account/rate-limits to learn more."
            )
            code = "rate_limit_exceeded"
            return refusal(message, status=429, kind="requests", code=code, headers=headers)
        case "no_quota":
            message = (
                "You exceeded your current quota, please check your plan and billing details. For "
                "more information on this error, read the docs: "
                "https://platform.openai.com/docs/guides/error-codes/api-errors."
            )
            code = "insufficient_quota"
            return refusal(message, status=429, kind=code, code=code)
        case "server_error":
            message = "The server had an error while processing your request. Sorry about that!"
            return refusal(message, status=500, kind="server_error")
        case "overloaded":
            message = "The engine is currently overloaded, please try again later"
            return refusal(message, status=503, kind="server_error")
    return None


RATE_HEADERS = {  # of the highest tier
    "x-ratelimit-limit-requests": "30000",
    "x-ratelimit-limit-tokens": "180000000",
    "x-ratelimit-remaining-requests": "29999",
    "x-ratelimit-remaining-tokens": "179999000",
    "x-ratelimit-reset-requests": "120ms",
    "x-ratelimit-reset-tokens": "300ms",
    "x-request-id": "req_loopback",
    "openai-version": "2020-10-01",
}
