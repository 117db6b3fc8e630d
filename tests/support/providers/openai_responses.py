"""OpenAI's Responses, `/v1/responses`: the only endpoint of gpt-5-pro, o3-pro and the codex models.

Sources: https://developers.openai.com/api/reference/resources/responses (request, reply, incomplete
details), https://developers.openai.com/api/docs/guides/reasoning, and those of `openai_models`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from openai.types.responses.response_create_params import ResponseCreateParamsBase

from tests.support.providers import openai_models as api
from tests.support.providers.base import (
    Body,
    ProviderServer,
    Question,
    Recorded,
    Refusal,
    Reply,
    words,
)

_KNOWN = {*ResponseCreateParamsBase.__annotations__, "stream"}
_TYPES: dict[str, tuple[type, ...]] = {"max_output_tokens": (int,), "temperature": (float, int)}
_LEAST_OUTPUT_TOKENS = 16


@dataclass
class OpenAIResponsesServer(ProviderServer):
    """Every model of `openai_models` answers here."""

    paths: ClassVar[tuple[str, ...]] = ("/v1/responses",)
    api_base_path: ClassVar[str] = "/v1"

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        api.check_key(recorded.headers.get("authorization"), self.key)

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        body = recorded.body
        for name in body.keys() - _KNOWN:
            message = f"Unknown parameter: '{name}'."
            raise api.refusal(message, param=name, code="unknown_parameter")
        model = api.MODELS.get(body["model"])
        if model is None:
            raise api.unknown_model(body["model"])
        api.check_types(body, _TYPES)
        effort = (body.get("reasoning") or {}).get("effort")
        _check_parameters(body, model, effort)
        question = Question(
            model=body["model"],
            messages=_messages(body),
            schema=_schema(body),
            cap=body.get("max_output_tokens"),
            effort=model.effort(effort),
            context_tokens=self.context_tokens or model.context_tokens,
        )
        api.check_length(question, model, "input")
        return question

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}
        reason = incomplete.get(reply.ended)
        status = "incomplete" if reason else "completed"
        return {
            "id": f"resp_{recorded.number}",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": recorded.body.get("instructions"),
            "max_output_tokens": question.cap,
            "model": f"{question.model}-loopback",
            "output": _output(reply, status),
            "parallel_tool_calls": True,
            "reasoning": {"effort": question.effort, "summary": None},
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": _usage(question, reply, self.cached_tokens),
            "metadata": {},
        }

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        return api.failure(name, argument, recorded.body["model"])

    def headers(self) -> dict[str, str]:
        return api.RATE_HEADERS


def _check_parameters(body: Body, model: api.OpenAIModel, effort: str | None) -> None:
    cap = body.get("max_output_tokens")
    if cap is not None and cap < _LEAST_OUTPUT_TOKENS:
        message = (
            "Invalid 'max_output_tokens': integer below minimum value. "
            f"Expected a value >= {_LEAST_OUTPUT_TOKENS}, but got {cap} instead."
        )
        raise api.refusal(message, param="max_output_tokens", code="integer_below_min_value")
    if effort is not None and effort not in model.efforts:
        supported = " and ".join(f"'{one}'" for one in model.efforts)
        message = (
            f"Unsupported value: '{effort}' is not supported with the '{body['model']}' model."
            f" Supported values are: {supported}."
        )
        raise api.refusal(message, param="reasoning.effort", code="unsupported_value")
    for name in ("temperature", "top_p", "top_logprobs"):
        if model.effort(effort) != "none" and body.get(name) is not None:
            raise api.unsupported_parameter(name, code=None)


def _messages(body: Body) -> list[dict[str, str]]:
    asked = body["input"]
    asked = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    first = [{"role": "system", "content": body.get("instructions") or ""}]
    return [*first, *({"role": one["role"], "content": words(one["content"])} for one in asked)]


def _schema(body: Body) -> dict[str, Any] | None:
    wanted = (body.get("text") or {}).get("format") or {"type": "text"}
    if wanted["type"] != "json_schema":
        return None
    if wanted.get("strict"):
        param, code = "text.format.schema", "invalid_json_schema"
        api.check_schema(wanted["name"], wanted["schema"], param=param, code=code)
    schema: dict[str, Any] = wanted["schema"]
    return schema


def _output(reply: Reply, status: str) -> list[Body]:
    """A reasoning item where the model thought, then the message where it came to one."""
    thought = [{"type": "reasoning", "id": "rs_1", "summary": []}] if reply.thinking_tokens else []
    if not reply.text and status == "incomplete":
        return thought
    part: Body = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
    if reply.ended == "refusal":
        part = {"type": "refusal", "refusal": reply.text}
    message = {"type": "message", "id": "msg_1", "status": status, "role": "assistant"}
    return [*thought, message | {"content": [part]}]


def _usage(question: Question, reply: Reply, cached: int) -> Body:
    return {
        "input_tokens": question.prompt_tokens,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": reply.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": reply.thinking_tokens},
        "total_tokens": question.prompt_tokens + reply.completion_tokens,
    }
