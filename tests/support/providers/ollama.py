"""Ollama: `/api/chat`, `/api/generate` and `/api/show`.

Sources: https://docs.ollama.com/api/chat, …/api/generate, …/api/errors, …/capabilities/thinking
(models that think do so unless told not to), …/context-length: a prompt longer than `num_ctx`,
4,096 tokens unless set, loses its beginning and nothing is said.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from tests.support.providers.base import (
    CHARACTERS_PER_TOKEN,
    Body,
    Messages,
    ProviderServer,
    Question,
    Recorded,
    Refusal,
    Reply,
    count_tokens,
)

_DEFAULT_CONTEXT_TOKENS = 4096
_ENDED = {"length": "length"}
_TYPES = {"num_ctx": int, "num_predict": int, "seed": int, "temperature": (int, float)}
_AT = "2026-11-22T00:00:00Z"


@dataclass
class OllamaServer(ProviderServer):
    """`models`: which are pulled, and whether each can think. Takes no key."""

    paths: ClassVar[tuple[str, ...]] = ("/api/chat", "/api/generate")
    other_paths: ClassVar[tuple[str, ...]] = ("/api/show",)
    models: ClassVar[dict[str, bool]] = {"qwen3": True, "llama3.2": False}

    def authorise(self, recorded: Recorded) -> None:
        """Nobody has to say who they are."""

    def served(self, recorded: Recorded) -> Body | None:
        """What `/api/show` says of a model.

        Raises:
            Refusal: it is not pulled.
        """
        if recorded.path not in self.other_paths:
            return None
        name = recorded.body.get("model") or recorded.body.get("name")
        thinks = self._thinks(str(name))
        return {
            "details": {"family": name, "parameter_size": "8B", "quantization_level": "Q4_K_M"},
            "model_info": {"general.architecture": name, f"{name}.context_length": 40_960},
            "capabilities": ["completion", *(["thinking"] if thinks else [])],
        }

    def _thinks(self, name: str) -> bool:
        if name not in self.models:
            raise Refusal(404, {"error": f"model '{name}' not found"})
        return self.models[name]

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        body = recorded.body
        thinks = self._thinks(body["model"])
        if body.get("think") and not thinks:
            raise Refusal(400, {"error": f'"{body["model"]}" does not support thinking'})
        options = body.get("options") or {}
        for name, kind in _TYPES.items():
            if name in options and not isinstance(options[name], kind):
                message = f'option "{name}" must be of type {name_of(kind)}'
                raise Refusal(400, {"error": message})
        if "messages" in body:
            messages = [
                {"role": one["role"], "content": one["content"]} for one in body["messages"]
            ]
        else:
            messages = [{"role": "user", "content": body["prompt"]}]
        context = self.context_tokens or options.get("num_ctx", _DEFAULT_CONTEXT_TOKENS)
        cap = options.get("num_predict", -1)
        return Question(
            model=body["model"],
            messages=_beginning_lost(messages, context),
            schema=_schema(body.get("format")),
            cap=cap if cap >= 0 else None,
            effort="medium" if thinks and body.get("think", True) else "none",
            context_tokens=context,
        )

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        body: Body = {
            "model": question.model,
            "created_at": _AT,
            "done": True,
            "done_reason": _ENDED.get(reply.ended, "stop"),
            "total_duration": 2_000_000,
            "load_duration": 100_000,
            "prompt_eval_count": question.prompt_tokens,
            "prompt_eval_duration": 900_000,
            "eval_count": reply.completion_tokens,
            "eval_duration": 1_000_000,
        }
        thought = {"thinking": "Weighing it."} if reply.thinking_tokens else {}
        if recorded.path == "/api/generate":
            return body | {"response": reply.text} | thought
        return body | {"message": {"role": "assistant", "content": reply.text, **thought}}

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        busy = "server busy, please try again.  maximum pending requests exceeded"
        ended = "llama runner process has terminated: exit status 2"
        match name:
            case "overloaded" | "rate_limited":
                return Refusal(503, {"error": busy})
            case "server_error":
                return Refusal(500, {"error": ended})
        return None


def name_of(kind: Any) -> str:
    return "integer" if kind is int else "float32"


def _beginning_lost(messages: Messages, context_tokens: int) -> Messages:
    """What is left of the messages: the system message whole, of the rest the end."""
    room = context_tokens * CHARACTERS_PER_TOKEN
    first = [one for one in messages if one["role"] == "system"]
    room -= CHARACTERS_PER_TOKEN * sum(count_tokens(one["content"]) for one in first)
    kept: Messages = []
    for one in reversed([one for one in messages if one["role"] != "system"]):
        text = one["content"][-room:] if room > 0 else ""
        room -= CHARACTERS_PER_TOKEN * count_tokens(text)
        kept.insert(0, {**one, "content": text})
    return [*first, *kept]


def _schema(wanted: Any) -> dict[str, Any] | None:
    """Raises: Refusal: neither `json` nor a schema."""
    if wanted in (None, "", "json"):
        return None
    if not isinstance(wanted, dict):
        raise Refusal(
            400, {"error": f'invalid format: {wanted!r}; expected "json" or a JSON schema'}
        )
    return wanted
