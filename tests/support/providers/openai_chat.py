"""OpenAI's chat completions, `/v1/chat/completions`: plain models and reasoning models.

Sources: https://developers.openai.com/api/reference/resources/chat (request, reply, finish
reasons), https://developers.openai.com/api/docs/guides/rate-limits (headers), and those of
`openai_models`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from openai.types.chat.completion_create_params import CompletionCreateParamsBase

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

_KNOWN = {*CompletionCreateParamsBase.__annotations__, "stream"}
_TYPES: dict[str, tuple[type, ...]] = {
    "temperature": (float, int),
    "top_p": (float, int),
    "seed": (int,),
    "max_tokens": (int,),
    "max_completion_tokens": (int,),
    "messages": (list,),
    "model": (str,),
}
_ENDED = {"stop": "stop", "length": "length", "refusal": "stop", "content_filter": "content_filter"}


@dataclass
class OpenAIChatServer(ProviderServer):
    """`models`: which there are, by name."""

    paths: ClassVar[tuple[str, ...]] = ("/v1/chat/completions",)
    api_base_path: ClassVar[str] = "/v1"
    models: ClassVar[dict[str, api.OpenAIModel]] = api.MODELS

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        api.check_key(recorded.headers.get("authorization"), self.key)

    def model(self, recorded: Recorded) -> api.OpenAIModel:
        """Raises: Refusal: no such model here."""
        name = recorded.body["model"]
        if name not in self.models:
            raise api.unknown_model(name)
        if self.models[name].endpoint != "chat":
            message = "This model is only supported in v1/responses and not in v1/chat/completions."
            raise api.refusal(message, status=404, param="model")
        return self.models[name]

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        body, model = recorded.body, self.model(recorded)
        for name in body.keys() - _KNOWN:
            raise api.refusal(f"Unrecognized request argument supplied: {name}")
        api.check_types(body, _TYPES)
        api.check_chat_sampling(model, body)
        question = Question(
            model=body["model"],
            messages=chat_messages(body),
            schema=chat_schema(body),
            cap=body.get("max_completion_tokens", body.get("max_tokens")),
            effort=model.effort(body.get("reasoning_effort")),
            context_tokens=self.context_tokens or model.context_tokens,
        )
        api.check_length(question, model, "messages")
        return question

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        return chat_completion(question, reply, recorded, self.cached_tokens)

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        return api.failure(name, argument, recorded.body["model"])

    def headers(self) -> dict[str, str]:
        return api.RATE_HEADERS


def chat_messages(body: Body) -> list[dict[str, str]]:
    """The messages as words; what is no text counts nothing."""
    return [{"role": part["role"], "content": words(part["content"])} for part in body["messages"]]


def chat_schema(body: Body) -> dict[str, Any] | None:
    """The schema asked for.

    Raises:
        Refusal: strict mode does not take it, or JSON is asked for without the word.
    """
    wanted = body.get("response_format") or {"type": "text"}
    if wanted["type"] == "json_object":
        if "json" not in str(body["messages"]).lower():
            message = (
                "'messages' must contain the word 'json' in some form, to use 'response_format' of"
                " type 'json_object'."
            )
            raise api.refusal(message, param="messages")
        return None
    if wanted["type"] != "json_schema":
        return None
    asked = wanted["json_schema"]
    if asked.get("strict"):
        api.check_schema(asked["name"], asked["schema"], param="response_format", code=None)
    schema: dict[str, Any] = asked["schema"]
    return schema


def chat_completion(question: Question, reply: Reply, recorded: Recorded, cached: int) -> Body:
    """The reply as a `chat.completion`."""
    refused = reply.ended == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else reply.text,
        "refusal": reply.text if refused else None,
        "annotations": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None}
    return {
        "id": f"chatcmpl-{recorded.number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": f"{question.model}-loopback",
        "choices": [choice | {"finish_reason": _ENDED.get(reply.ended, "stop")}],
        "usage": chat_usage(question, reply, cached),
        "service_tier": "default",
        "system_fingerprint": None,
    }


def chat_usage(question: Question, reply: Reply, cached: int) -> Body:
    return {
        "prompt_tokens": question.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": question.prompt_tokens + reply.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reply.thinking_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
