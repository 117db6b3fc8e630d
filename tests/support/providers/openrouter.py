"""OpenRouter's chat completions, `/api/v1/chat/completions`.

Sources: https://openrouter.ai/docs/api-reference/overview (request, reply, `native_finish_reason`;
parameters a model does not take are left out), https://openrouter.ai/docs/api-reference/errors
(errors inside a 200, moderation), https://openrouter.ai/docs/api-reference/limits (credits, rates),
https://openrouter.ai/docs/use-cases/usage-accounting, …/reasoning-tokens.
"""

import time
from dataclasses import dataclass
from typing import ClassVar

from tests.support.providers.base import Body, ProviderServer, Question, Recorded, Refusal, Reply
from tests.support.providers.openai_chat import chat_messages, chat_usage

_EFFORTS = ("none", "minimal", "low", "medium", "high")
_ENDED = {"length": "length", "content_filter": "content_filter", "refusal": "content_filter"}
_NATIVE = {"stop": "completed", "length": "max_output_tokens"}


@dataclass(frozen=True)
class Endpoint:
    """What stands behind a name."""

    provider: str
    context_tokens: int
    reasons: bool = False
    default_effort: str = "none"


@dataclass
class OpenRouterServer(ProviderServer):
    """Behaviours besides all servers': upstream_failed · upstream_rate_limited, inside a 200."""

    paths: ClassVar[tuple[str, ...]] = ("/api/v1/chat/completions",)
    api_base_path: ClassVar[str] = "/api/v1"
    models: ClassVar[dict[str, Endpoint]] = {
        "openai/gpt-4o-mini": Endpoint("OpenAI", 128_000),
        "openai/gpt-5": Endpoint("OpenAI", 400_000, True, "medium"),
        "anthropic/claude-opus-4.7": Endpoint("Anthropic", 1_000_000, True),
    }

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        if recorded.headers.get("authorization") != f"Bearer {self.key}":
            raise refusal(401, "User not found.")

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        body = recorded.body
        endpoint = self.models.get(body.get("model", ""))
        if endpoint is None:
            raise refusal(400, f"{body.get('model')} is not a valid model ID")
        asked = body.get("reasoning_effort") or (body.get("reasoning") or {}).get("effort")
        if asked is not None and asked not in _EFFORTS:
            raise refusal(400, f"Invalid reasoning effort: {asked}")
        wanted = (body.get("response_format") or {}).get("json_schema") or {}
        question = Question(
            model=body["model"],
            messages=chat_messages(body),
            schema=wanted.get("schema"),
            cap=body.get("max_completion_tokens") or body.get("max_tokens"),
            effort=(asked or endpoint.default_effort) if endpoint.reasons else "none",
            context_tokens=self.context_tokens or endpoint.context_tokens,
        )
        requested = question.prompt_tokens + (question.cap or 0)
        if requested > question.context_tokens:
            raise refusal(
                400,
                f"This endpoint's maximum context length is {question.context_tokens} tokens."
                f" However, you requested about {requested} tokens ({question.prompt_tokens} of"
                f" text input, {question.cap} in the output). Please reduce the length of either"
                ' one, or use the "middle-out" transform to compress your prompt automatically.',
                {"provider_name": None},
            )
        return question

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        endpoint = self.models[question.model]
        thought = "Weighing it." if reply.thinking_tokens else None
        message = {
            "role": "assistant",
            "content": reply.text,
            "refusal": None,
            "reasoning": thought,
        }
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _ENDED.get(reply.ended, "stop"),
            "native_finish_reason": _NATIVE.get(reply.ended, reply.ended),
        }
        charged = {
            "cost": 0.00012,
            "is_byok": False,
            "cost_details": {"upstream_inference_cost": None},
        }
        return {
            "id": f"gen-{recorded.number}",
            "provider": endpoint.provider,
            "model": question.model,
            "object": "chat.completion",
            "created": 1_790_000_000,
            "system_fingerprint": None,
            "choices": [choice],
            "usage": chat_usage(question, reply, self.cached_tokens) | charged,
        }

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        upstream = self.models[recorded.body["model"]].provider
        match name:
            case "rate_limited":
                return _rate_limited(float(argument or 1))
            case "no_quota":
                asked = recorded.body.get("max_tokens") or 65_536
                return refusal(
                    402,
                    "This request requires more credits, or fewer max_tokens. You requested up to "
                    f"{asked} tokens, but can only afford 12. To increase, visit "
                    "https://openrouter.ai/settings/credits and upgrade to a paid account",
                    {"provider_name": None},
                )
            case "refusal":
                flagged = {"reasons": ["violence"], "flagged_input": "…", "provider_name": upstream}
                message = (
                    f"{recorded.body['model']} requires moderation on {upstream}. Your input was "
                    'flagged for "violence". No credits were charged.'
                )
                return refusal(403, message, flagged | {"model_slug": recorded.body["model"]})
            case "upstream_failed" | "upstream_rate_limited":
                code = 429 if name == "upstream_rate_limited" else 502
                said = {"raw": "temporarily unavailable upstream", "provider_name": upstream}
                return refusal(code, "Provider returned error", said, status=200)
            case "server_error":
                return refusal(500, "Internal Server Error")
            case "overloaded":
                return refusal(503, "There is no available model provider.")
        return None


def refusal(
    code: int,
    message: str,
    metadata: Body | None = None,
    *,
    status: int | None = None,
    headers: dict[str, str] | None = None,
) -> Refusal:
    """An error as OpenRouter answers it; `status` 200 where it came after routing."""
    error: Body = {"message": message, "code": code}
    error |= {"metadata": metadata} if metadata else {}
    return Refusal(status or code, {"error": error, "user_id": "user_loopback"}, headers)


def _rate_limited(wait_seconds: float) -> Refusal:
    """The moment of the next turn stands in milliseconds since 1970."""
    reset = str(int((time.time() + wait_seconds) * 1000))
    limits = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    message = "Rate limit exceeded: free-models-per-min. "
    return refusal(429, message, {"headers": limits}, headers=limits)
