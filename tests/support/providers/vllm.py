"""vLLM's OpenAI-shaped server: one model, `max_model_len` for prompt and reply together.

Sources: https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html (unknown fields are
ignored, structured outputs), https://docs.vllm.ai/en/latest/features/reasoning_outputs.html,
vllm/entrypoints/openai (the shape and the words of errors).
"""

from dataclasses import dataclass
from typing import ClassVar

from tests.support.providers.base import Body, ProviderServer, Question, Recorded, Refusal, Reply
from tests.support.providers.openai_chat import chat_messages

_EFFORTS = ("none", "low", "medium", "high")
_NUMBERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed")
_ENDED = {"length": "length"}


@dataclass
class VLLMServer(ProviderServer):
    """`model`: the one it serves, with a reasoning parser; it thinks unless told not to."""

    model: str = "Qwen/Qwen3-8B"

    paths: ClassVar[tuple[str, ...]] = ("/v1/chat/completions",)
    api_base_path: ClassVar[str] = "/v1"

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal: not the key of `--api-key`."""
        if recorded.headers.get("authorization") != f"Bearer {self.key}":
            raise Refusal(401, {"error": "Unauthorized"})

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        body = recorded.body
        if body.get("model") != self.model:
            message = f"The model `{body.get('model')}` does not exist."
            raise refusal(404, "NotFoundError", message, "model")
        for name in _NUMBERS:
            if body.get(name) is not None and not isinstance(body[name], int | float):
                raise bad(f"Input should be a valid number: {name}={body[name]!r}", name)
        effort = body.get("reasoning_effort") or "medium"
        if effort not in _EFFORTS:
            allowed = ", ".join(f"'{one}'" for one in _EFFORTS)
            raise bad(f"Input should be {allowed}: reasoning_effort={effort!r}", "reasoning_effort")
        wanted = (body.get("response_format") or {}).get("json_schema") or {}
        question = Question(
            model=self.model,
            messages=chat_messages(body),
            schema=wanted.get("schema"),
            cap=body.get("max_completion_tokens") or body.get("max_tokens"),
            effort=effort,
            context_tokens=self.context_tokens or 40_960,
        )
        _check_length(question)
        return question

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        message = {
            "role": "assistant",
            "content": reply.text or None,
            "refusal": None,
            "annotations": None,
            "audio": None,
            "function_call": None,
            "tool_calls": [],
            "reasoning": "Weighing it." if reply.thinking_tokens else None,
        }
        ended = _ENDED.get(reply.ended, "stop")
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": ended}
        return {
            "id": f"chatcmpl-{recorded.number}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": self.model,
            "choices": [choice | {"stop_reason": None, "token_ids": None}],
            "service_tier": None,
            "system_fingerprint": None,
            "usage": {
                "prompt_tokens": question.prompt_tokens,
                "completion_tokens": reply.completion_tokens,
                "total_tokens": question.prompt_tokens + reply.completion_tokens,
                "prompt_tokens_details": None,
            },
            "prompt_logprobs": None,
            "prompt_token_ids": None,
            "kv_transfer_params": None,
        }

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        match name:
            case "server_error" | "overloaded" | "rate_limited":
                message = "EngineCore encountered an issue. See stack trace for the root cause."
                status = 503 if name != "server_error" else 500
                return refusal(status, "InternalServerError", message)
        return None


def refusal(status: int, kind: str, message: str, param: str | None = None) -> Refusal:
    """An error as vLLM answers it."""
    error = {"message": message, "type": kind, "param": param, "code": status}
    return Refusal(status, {"error": error})


def bad(message: str, param: str | None = None) -> Refusal:
    return refusal(400, "BadRequestError", message, param)


def _check_length(question: Question) -> None:
    """Raises: Refusal: the prompt, or the prompt with the reply, is longer than the context."""
    most, prompt = question.context_tokens, question.prompt_tokens
    if prompt >= most:
        raise bad(
            f"This model's maximum context length is {most} tokens. However, your request has "
            f"{prompt} input tokens. Please reduce the length of the input messages.",
            "input_tokens",
        )
    if question.cap is not None and prompt + question.cap > most:
        raise bad(
            f"'max_tokens' or 'max_completion_tokens' is too large: {question.cap}. This model's "
            f"maximum context length is {most} tokens and your request has {prompt} input tokens "
            f"({question.cap} > {most} - {prompt}).",
            "max_tokens",
        )
