"""Anthropic's Messages, `/v1/messages`, as each generation of Claude takes it.

Sources: https://platform.claude.com/docs/en/api/messages and …/api/errors, …/api/rate-limits,
…/build-with-claude/extended-thinking, …/adaptive-thinking, …/effort, …/structured-outputs,
…/prompt-caching, …/handling-stop-reasons, …/models/opus-5/migration-guide and opus-5-5's (sampling
parameters removed, thinking by default, thinking always on); the wording is that of errors users
report.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from anthropic.types.message_create_params import MessageCreateParamsBase

from tests.support.providers.base import (
    Body,
    ProviderServer,
    Question,
    Recorded,
    Refusal,
    Reply,
    count_tokens,
    words,
)
from tests.support.providers.strict_schemas import anthropic_complaint, with_bounds_in_words

_SAMPLING = ("temperature", "top_p", "top_k")
_KNOWN = {*MessageCreateParamsBase.__annotations__, *_SAMPLING, "stream", "output_format"}
_BETA = "structured-outputs-2025-11-13"
_DOCS = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
_MOST_CACHE_MARKS = 4
_LEAST_BUDGET = 1024
_EFFORT_OF_BUDGET = ((1024, "low"), (2048, "medium"))
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_ENDED = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "empty": "end_turn",
}


@dataclass(frozen=True)
class ClaudeModel:
    """A model. `schemas`: native structured output.

    `thinking`: which modes it takes, `disabled` among them where it can do without; `effort`: how
    much it thinks when nobody says.
    """

    context_tokens: int
    maximum_output_tokens: int
    thinking: tuple[str, ...] = ("disabled",)
    efforts: tuple[str, ...] = ()
    effort: str = "none"
    samples: bool = True
    schemas: bool = True
    least_cached_tokens: int = 1024


@dataclass
class AnthropicServer(ProviderServer):
    """It remembers marked beginnings of prompts, as the real cache does for five minutes."""

    kept: set[str] = field(default_factory=set)

    paths: ClassVar[tuple[str, ...]] = ("/v1/messages",)
    models: ClassVar[dict[str, ClaudeModel]] = {
        "claude-3-5-haiku-20241022": ClaudeModel(200_000, 8_192, schemas=False),
        "claude-sonnet-4-20250514": ClaudeModel(
            200_000, 64_000, ("disabled", "enabled"), schemas=False
        ),
        "claude-sonnet-4-5": ClaudeModel(200_000, 64_000, ("disabled", "enabled")),
        "claude-opus-4-6": ClaudeModel(
            1_000_000,
            128_000,
            ("disabled", "enabled", "adaptive"),
            ("low", "medium", "high", "max"),
        ),
        "claude-opus-4-7": ClaudeModel(
            1_000_000,
            128_000,
            ("disabled", "adaptive"),
            _EFFORTS,
            samples=False,
            least_cached_tokens=2048,
        ),
        "claude-opus-5": ClaudeModel(
            1_000_000,
            128_000,
            ("disabled", "adaptive"),
            _EFFORTS,
            "high",
            samples=False,
            least_cached_tokens=512,
        ),
        "claude-opus-5-5": ClaudeModel(
            1_000_000,
            128_000,
            ("adaptive",),
            _EFFORTS,
            "medium",
            samples=False,
            least_cached_tokens=512,
        ),
    }

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        given = recorded.headers.get("authorization", "").removeprefix("Bearer ")
        if (recorded.headers.get("x-api-key") or given) != self.key:
            raise refusal(401, "authentication_error", "invalid x-api-key")
        if "anthropic-version" not in recorded.headers:
            raise invalid("anthropic-version: header is required")

    def question(self, recorded: Recorded) -> Question:
        """Raises: Refusal."""
        body = recorded.body
        model = self.models.get(body.get("model", ""))
        if model is None:
            raise refusal(404, "not_found_error", f"model: {body.get('model')}")
        for name in sorted(body.keys() - _KNOWN):
            raise invalid(f"{name}: Extra inputs are not permitted")
        _check_cap(body, model)
        _check_sampling(body, model)
        _check_thinking(body, model)
        if (marks := sum(1 for _ in _marked(body))) > _MOST_CACHE_MARKS:
            message = f"A maximum of {_MOST_CACHE_MARKS} blocks with cache_control may be provided."
            raise invalid(f"{message} Found {marks}.")
        if body["messages"][-1]["role"] != "user" and "adaptive" in model.thinking:
            raise invalid(
                "This model does not support assistant message prefill. The conversation must end"
                " with a user message."
            )
        question = Question(
            model=body["model"],
            messages=_messages(body),
            schema=_schema(body, model, recorded.headers.get("anthropic-beta", "")),
            cap=body["max_tokens"],
            effort=_effort(body, model),
            context_tokens=self.context_tokens or model.context_tokens,
        )
        if question.prompt_tokens > question.context_tokens:
            counted = f"{question.prompt_tokens} tokens > {question.context_tokens} maximum"
            raise invalid(f"prompt is too long: {counted}")
        return question

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        said: list[Body] = [{"type": "text", "text": reply.text, "citations": None}]
        stop_reason = _ENDED.get(reply.ended, "end_turn")
        if reply.ended in ("refusal", "content_filter") or not reply.text:
            said = []
            stop_reason = "refusal" if reply.ended in ("refusal", "content_filter") else stop_reason
        elif recorded.body.get("tools") and reply.ended == "stop":
            name = recorded.body["tools"][0]["name"]
            given = {"id": "toolu_loopback", "name": name, "input": json.loads(reply.text)}
            said, stop_reason = [{"type": "tool_use"} | given], "tool_use"
        thought: list[Body] = []
        if reply.thinking_tokens:
            thought = [{"type": "thinking", "thinking": "Weighing it.", "signature": "loopback"}]
        return {
            "id": f"msg_{recorded.number}",
            "type": "message",
            "role": "assistant",
            "model": question.model,
            "content": [*thought, *said],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": self._usage(question, reply, recorded.body),
        }

    def _usage(self, question: Question, reply: Reply, body: Body) -> Body:
        """Tokens, those of marked beginnings apart: read where kept before, else written."""
        least = self.models[question.model].least_cached_tokens
        marked = [(key, tokens) for key, tokens in _marked(body) if tokens >= least]
        read = max((tokens for key, tokens in marked if key in self.kept), default=0)
        written = max((tokens for _, tokens in marked), default=0) - read
        self.kept.update(key for key, _ in marked)
        return {
            "input_tokens": max(question.prompt_tokens - read - written, 0),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": reply.completion_tokens,
            "output_tokens_details": {"thinking_tokens": reply.thinking_tokens},
            "service_tier": "standard",
        }

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        match name:
            case "rate_limited":
                wait = argument or "1"
                message = (
                    "This request would exceed your organization's rate limit of 30,000 input"
                    " tokens per minute."
                )
                headers = self.headers() | {"retry-after": wait}
                headers["anthropic-ratelimit-requests-remaining"] = "0"
                return refusal(429, "rate_limit_error", message, headers)
            case "no_quota":
                return invalid(
                    "Your credit balance is too low to access the Anthropic API. Please go to "
                    "Plans & Billing to upgrade or purchase credits."
                )
            case "server_error":
                return refusal(500, "api_error", "Internal server error")
            case "overloaded":
                return refusal(529, "overloaded_error", "Overloaded")
        return None

    def headers(self) -> dict[str, str]:
        return {
            "request-id": "req_loopback",
            "anthropic-ratelimit-requests-limit": "4000",
            "anthropic-ratelimit-requests-remaining": "3999",
            "anthropic-ratelimit-requests-reset": "2027-01-01T00:00:00Z",
            "anthropic-ratelimit-input-tokens-limit": "2000000",
            "anthropic-ratelimit-input-tokens-remaining": "1999000",
            "anthropic-ratelimit-output-tokens-limit": "400000",
            "anthropic-ratelimit-output-tokens-remaining": "399000",
        }


def refusal(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> Refusal:
    """An error as Anthropic's API answers it."""
    error = {"type": kind, "message": message}
    body = {"type": "error", "error": error, "request_id": "req_loopback"}
    return Refusal(status, body, headers)


def invalid(message: str) -> Refusal:
    return refusal(400, "invalid_request_error", message)


def _check_cap(body: Body, model: ClaudeModel) -> None:
    cap = body.get("max_tokens")
    if cap is None:
        raise invalid("max_tokens: Field required")
    if not isinstance(cap, int):
        raise invalid("max_tokens: Input should be a valid integer")
    if cap > model.maximum_output_tokens:
        raise invalid(
            f"max_tokens: {cap} > {model.maximum_output_tokens}, which is the maximum allowed"
            f" number of output tokens for {body['model']}"
        )


def _check_sampling(body: Body, model: ClaudeModel) -> None:
    given = [name for name in _SAMPLING if body.get(name) is not None]
    for name in given:
        if not isinstance(body[name], int | float):
            raise invalid(f"{name}: Input should be a valid number")
        if not model.samples and not (name != "top_k" and body[name] == 1):
            raise invalid(f"`{name}` is deprecated for this model.")
    if not 0 <= body.get("temperature", 1) <= 1:
        raise invalid("temperature: range: 0..1")
    if {"temperature", "top_p"} <= set(given):
        raise invalid(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only"
            " one."
        )


def _check_thinking(body: Body, model: ClaudeModel) -> None:
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None and not model.efforts:
        raise invalid("This model does not support the effort parameter.")
    if effort is not None and effort not in model.efforts:
        raise invalid(f"output_config.effort: '{effort}' is not supported by this model.")
    thinking = body.get("thinking") or {}
    mode = thinking.get("type")
    if mode is not None and mode not in model.thinking:
        raise invalid(_no_such_thinking(mode, model))
    if mode == "disabled" and effort in ("xhigh", "max"):
        raise invalid(f"thinking cannot be disabled with output_config.effort '{effort}'.")
    if _effort(body, model) == "none":
        return
    if body.get("temperature", 1) != 1:
        raise invalid(
            "`temperature` may only be set to 1 when thinking is enabled. Please consult our "
            f"documentation at {_DOCS}#important-considerations-when-using-extended-thinking"
        )
    if (body.get("tool_choice") or {}).get("type") in ("tool", "any"):
        raise invalid("Thinking may not be enabled when tool_choice forces tool use.")
    if mode == "enabled":
        _check_budget(thinking.get("budget_tokens"), body["max_tokens"])


def _no_such_thinking(mode: str, model: ClaudeModel) -> str:
    if "adaptive" in model.thinking:
        return (
            f'"thinking.type.{mode}" is not supported for this model. Use "thinking.type.adaptive" '
            'and "output_config.effort" to control thinking behavior.'
        )
    name = "adaptive thinking" if mode == "adaptive" else "thinking"
    return f"{name} is not supported on this model"


def _check_budget(budget: int | None, cap: int) -> None:
    if budget is None:
        raise invalid("thinking.enabled.budget_tokens: Field required")
    if budget < _LEAST_BUDGET:
        raise invalid(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to"
            f" {_LEAST_BUDGET}"
        )
    if budget >= cap:
        raise invalid(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
            f"documentation at {_DOCS}#max-tokens-and-context-window-size"
        )


def _effort(body: Body, model: ClaudeModel) -> str:
    """How much it thinks: by the effort, by the budget, or as it does when nobody says."""
    thinking = body.get("thinking") or {}
    mode = thinking.get("type") or ("disabled" if model.effort == "none" else "adaptive")
    if mode == "disabled":
        return "none"
    if mode == "adaptive":
        default = "high" if model.effort == "none" else model.effort
        asked = (body.get("output_config") or {}).get("effort", default)
        return asked if asked in ("low", "medium") else "high"
    budget = thinking.get("budget_tokens") or 0
    return next((effort for most, effort in _EFFORT_OF_BUDGET if budget <= most), "high")


def _schema(body: Body, model: ClaudeModel, betas: str) -> dict[str, Any] | None:
    """The schema asked for, natively or as a tool.

    Raises:
        Refusal: this model has no structured output, or the schema is beyond it.
    """
    if "output_format" in body and _BETA not in betas:
        raise invalid(
            "output_format: This field is deprecated. Use 'output_config.format' instead. See "
            "https://platform.claude.com/docs/en/build-with-claude/structured-outputs for more "
            "information."
        )
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format")
    if wanted is None:
        tools = body.get("tools")
        return tools[0]["input_schema"] if tools else None
    if not model.schemas:
        raise invalid(f"'{body['model']}' does not support output format.")
    if complaint := anthropic_complaint(wanted["schema"]):
        where = "output_format" if "output_format" in body else "output_config.format"
        raise invalid(f"{where}.schema: {complaint}")
    return with_bounds_in_words(wanted["schema"])


def _messages(body: Body) -> list[dict[str, str]]:
    first = [{"role": "system", "content": words(body.get("system") or "")}]
    return [
        *first,
        *({"role": one["role"], "content": words(one["content"])} for one in body["messages"]),
    ]


def _marked(body: Body) -> Iterator[tuple[str, int]]:
    """Each beginning of the prompt that ends with a mark: its hash and its tokens."""
    digest, tokens = hashlib.sha256(body["model"].encode()), 0
    for part in _parts(body):
        text = part.get("text", "")
        digest.update(text.encode())
        tokens += count_tokens(text)
        if part.get("cache_control"):
            yield digest.hexdigest(), tokens


def _parts(body: Body) -> Iterator[Body]:
    contents = [body.get("system") or "", *(one["content"] for one in body["messages"])]
    for content in contents:
        yield from [{"text": content}] if isinstance(content, str) else content
