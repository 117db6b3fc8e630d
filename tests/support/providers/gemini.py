"""Gemini's `generateContent` of the developer API, `/v1beta/models/<model>:generateContent`.

Sources: https://ai.google.dev/api/generate-content (request, reply, finish reasons, block reasons),
https://ai.google.dev/gemini-api/docs/thinking (budgets), …/structured-output, …/rate-limits,
…/troubleshooting (errors); https://cloud.google.com/apis/design/errors (`details`).
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from google.genai import types

from tests.support.providers.base import (
    Body,
    ProviderServer,
    Question,
    Recorded,
    Refusal,
    Reply,
    words,
)

_TOP = {"contents", "system_instruction", "generation_config", "safety_settings", "tools"}
_TOP |= {"tool_config", "cached_content", "model", "labels"}
_CONFIG = set(types.GenerationConfig.model_fields)
_THINKING = set(types.ThinkingConfig.model_fields)
_OPENAPI_SCHEMA = set(types.Schema.model_fields) - {"defs", "ref", "additional_properties"}
_UPPER = re.compile(r"(?<!^)([A-Z])")
_ENDED = {"stop": "STOP", "empty": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


@dataclass(frozen=True)
class GeminiModel:
    """A model. `budgets`: least and most thinking; `off`: whether thinking can be switched off."""

    budgets: tuple[int, int]
    off: bool
    context_tokens: int = 1_048_576
    maximum_output_tokens: int = 65_536


@dataclass
class GeminiServer(ProviderServer):
    """Sends no rate limits in headers; the wait stands in the error's details, as in reality."""

    paths: ClassVar[tuple[str, ...]] = ("/v1beta/models/{call}",)
    api_base_path: ClassVar[str] = "/v1beta"
    models: ClassVar[dict[str, GeminiModel]] = {
        "gemini-2.5-pro": GeminiModel((128, 32_768), off=False),
        "gemini-2.5-flash": GeminiModel((1, 24_576), off=True),
    }

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        given = recorded.headers.get("x-goog-api-key") or recorded.query.get("key")
        if given is None:
            raise refusal(
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers (callers without established identity). "
                "Please use API Key or other form of API consumer identity to call this API.",
            )
        if given != self.key:
            message = "API key not valid. Please pass a valid API key."
            domain = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
            metadata = {"metadata": {"service": "generativelanguage.googleapis.com"}}
            raise refusal(
                400, "INVALID_ARGUMENT", message, [_detail("ErrorInfo", domain | metadata)]
            )

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        name = recorded.path.rpartition("/")[2].partition(":")[0]
        model = self.models.get(name)
        if model is None:
            message = (
                f"models/{name} is not found for API version v1beta, or is not supported for "
                "generateContent. Call ListModels to see the list of available models and their "
                "supported methods."
            )
            raise refusal(404, "NOT_FOUND", message)
        body = _fields(recorded.body, _TOP, "")
        config = _fields(body.get("generation_config") or {}, _CONFIG, "generation_config")
        cap = config.get("max_output_tokens")
        if cap is not None and not 0 < cap <= model.maximum_output_tokens:
            allowed = f"[1, {model.maximum_output_tokens}]"
            raise invalid(f"The value of max_output_tokens must be in the range {allowed}.")
        question = Question(
            model=name,
            messages=_messages(body),
            schema=_schema(config),
            cap=cap,
            effort=_effort(config, model),
            context_tokens=self.context_tokens or model.context_tokens,
        )
        if question.prompt_tokens > question.context_tokens:
            raise invalid(
                f"The input token count ({question.prompt_tokens}) exceeds the maximum number of "
                f"tokens allowed ({question.context_tokens})."
            )
        return question

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        used = {
            "promptTokenCount": question.prompt_tokens,
            "totalTokenCount": question.prompt_tokens + reply.completion_tokens,
        }
        body: Body = {"modelVersion": question.model, "responseId": f"response-{recorded.number}"}
        if reply.ended == "content_filter":
            used["totalTokenCount"] = question.prompt_tokens
            blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
            return body | blocked | {"usageMetadata": used}
        if reply.thinking_tokens:
            used["thoughtsTokenCount"] = reply.thinking_tokens
        if self.cached_tokens:
            used["cachedContentTokenCount"] = self.cached_tokens
        candidate: Body = {"index": 0, "finishReason": _ENDED[reply.ended]}
        if reply.ended != "refusal":
            candidate["content"] = {"role": "model"}
            if reply.text:
                candidate["content"]["parts"] = [{"text": reply.text}]
                used["candidatesTokenCount"] = reply.answer_tokens
        return body | {"candidates": [candidate], "usageMetadata": used}

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        match name:
            case "rate_limited":
                wait = argument or "1"
                quota = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}
                details = [
                    _detail("QuotaFailure", {"violations": [quota | {"quotaValue": "150"}]}),
                    _detail("RetryInfo", {"retryDelay": f"{wait}s"}),
                ]
                message = f"{_EXCEEDED}\nPlease retry in {wait}s."
                return refusal(429, "RESOURCE_EXHAUSTED", message, details)
            case "no_quota":
                quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
                details = [_detail("QuotaFailure", {"violations": [quota | {"quotaValue": "0"}]})]
                return refusal(429, "RESOURCE_EXHAUSTED", _EXCEEDED, details)
            case "server_error":
                return refusal(500, "INTERNAL", "An internal error has occurred. Please retry.")
            case "overloaded":
                message = "The model is overloaded. Please try again later."
                return refusal(503, "UNAVAILABLE", message)
        return None


_EXCEEDED = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    "information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)


def refusal(status: int, name: str, message: str, details: list[Body] | None = None) -> Refusal:
    """An error as Google's APIs answer it."""
    error: Body = {"code": status, "message": message, "status": name}
    return Refusal(status, {"error": error | ({"details": details} if details else {})})


def invalid(message: str) -> Refusal:
    return refusal(400, "INVALID_ARGUMENT", message)


def _detail(kind: str, said: Body) -> Body:
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **said}


def _fields(given: Body, known: set[str], where: str) -> Body:
    """The fields under their snake-case names: the API takes both spellings.

    Raises:
        Refusal: an unknown field.
    """
    named = {_UPPER.sub(r"_\1", name).lower(): name for name in given}
    for name in named.keys() - known:
        place = f" at '{where}'" if where else ""
        raise invalid(
            f'Invalid JSON payload received. Unknown name "{named[name]}"{place}: Cannot find'
            " field."
        )
    return {name: given[original] for name, original in named.items()}


def _effort(config: Body, model: GeminiModel) -> str:
    """How much it thinks; without a budget as much as it likes.

    Raises:
        Refusal: a budget outside the model's range.
    """
    thinking = _fields(config.get("thinking_config") or {}, _THINKING, "thinking_config")
    if "thinking_level" in thinking:
        raise invalid("Thinking level is not supported for this model.")
    budget = thinking.get("thinking_budget", -1)
    if budget == 0 and not model.off:
        raise invalid("Budget 0 is invalid. This model only works in thinking mode.")
    least, most = model.budgets
    if budget > 0 and not least <= budget <= most:
        message = f"The thinking budget {budget} is invalid. Please choose a value between"
        raise invalid(f"{message} {least} and {most}.")
    if budget <= 0:
        return "none" if budget == 0 else "medium"
    return (
        "minimal"
        if budget < 1024
        else "low"
        if budget < 2048
        else "medium"
        if budget < 4096
        else "high"
    )


def _schema(config: Body) -> dict[str, Any] | None:
    """The schema asked for.

    Raises:
        Refusal: a schema without JSON as the media type, or beyond OpenAPI's subset.
    """
    openapi, full = config.get("response_schema"), config.get("response_json_schema")
    if openapi is None and full is None:
        return None
    if config.get("response_mime_type") != "application/json":
        given = config.get("response_mime_type", "text/plain")
        message = "set response_mime_type to application/json"
        raise invalid(
            f"Response schema with response mime type '{given}' is unsupported: {message}"
        )
    if openapi is not None and full is not None:
        raise invalid("Only one of response_schema and response_json_schema can be set.")
    if openapi is not None:
        _check_openapi(openapi, "generation_config.response_schema")
    schema: dict[str, Any] = full or openapi
    return schema


def _check_openapi(node: Body, where: str) -> None:
    fields = _fields(node, _OPENAPI_SCHEMA, where)
    for name, inner in (fields.get("properties") or {}).items():
        _check_openapi(inner, f"{where}.properties[{name}]")
    if "items" in fields:
        _check_openapi(fields["items"], f"{where}.items")


def _messages(body: Body) -> list[dict[str, str]]:
    system = {
        "role": "system",
        "content": words((body.get("system_instruction") or {}).get("parts")),
    }
    said = [
        {
            "role": {"model": "assistant"}.get(one.get("role"), "user"),
            "content": words(one["parts"]),
        }
        for one in body["contents"]
    ]
    return [system, *said]
