"""Interface of batch providers, their errors, and token usage."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from schemas.calls import MAXIMUM_TOKENS
from schemas.errors import ConfigurationError, RequestRejectedError, TransientError
from tasks.judging.batches.questions import Batch, Question, QuestionResult
from warehouse.scrubbing import one_line

QuestionEntry = tuple[str, Question]
_WORTH_ANOTHER_TRY = (408, 409, 425, 429)


@dataclass(frozen=True, slots=True)
class RemoteState:
    """State of a batch at its provider.

    Attributes:
        done_count: questions that have ended.
        results: of each question; None: the batch is still running.
        refusal: why the provider rejected it.
        queue_is_full: whether a smaller batch may be accepted later.
        detail: why the batch as a whole ended early; empty: it did not.
    """

    done_count: int = 0
    results: Mapping[str, QuestionResult] | None = None
    refusal: str | None = None
    queue_is_full: bool = False
    detail: str = ""


class Provider(Protocol):
    """Sends and collects batches.

    Raises (every method):
        TransientError: a retry may help; a batch that was being sent may have arrived.
        RequestRejectedError: the provider rejects this batch, or no longer has it.
        ConfigurationError: a wrong key or address.
    """

    most_questions: ClassVar[int]
    most_bytes: ClassVar[int]

    def send(self, batch: Batch, questions: Sequence[QuestionEntry]) -> str:
        """Submit a batch and return the provider's identifier of it."""
        ...

    def find(self, batch: Batch, questions: Sequence[QuestionEntry], sent_at: float) -> str | None:
        """Return the identifier of a batch whose sending was interrupted.

        The result is None if it never arrived.
        """
        ...

    def poll(self, remote_id: str) -> RemoteState: ...


def json_line(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode() + b"\n"


def result_of_response(status: int, body: Mapping[str, Any]) -> QuestionResult:
    """Return the result of a question from the provider's response."""
    if status < 400 or (status < 500 and status not in _WORTH_ANOTHER_TRY):
        return QuestionResult(status=status, answer=dict(body))
    return QuestionResult(status=status, detail=one_line(f"HTTP {status}: {json.dumps(body)}"))


def raise_for(status: int | None, text: str) -> None:
    """Raise the error for a provider's HTTP status; None: no response came."""
    message = one_line(text)
    if status is None or status >= 500 or status in _WORTH_ANOTHER_TRY:
        raise TransientError(f"the provider of batches did not answer: {message}")
    if status in (401, 403):
        raise ConfigurationError(
            f"the provider of batches refused the key, check it in the environment: {message}"
        )
    raise RequestRejectedError(f"the provider refused the batch: {message}")


@contextmanager
def named_errors(with_status: type[Exception], any_other: type[Exception]) -> Iterator[None]:
    """Raise errors of a provider's SDK as ours; see `Provider`."""
    try:
        yield
    except any_other as error:
        status = getattr(error, "status_code", None) if isinstance(error, with_status) else None
        raise_for(status, str(error))


def usage_of(answer: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return (prompt, completion, cached) tokens of a provider's answer.

    It reads answers of OpenAI, Azure, Anthropic and Gemini. A missing or implausible count is 0.
    Cached tokens are part of the prompt tokens.
    """
    if isinstance(usage := answer.get("usageMetadata"), Mapping):
        completion = _count(usage, "candidatesTokenCount") + _count(usage, "thoughtsTokenCount")
        return (
            _count(usage, "promptTokenCount"),
            completion,
            _count(usage, "cachedContentTokenCount"),
        )
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return 0, 0, 0
    if "input_tokens" in usage:
        cached_tokens = _count(usage, "cache_read_input_tokens")
        prompt = (
            _count(usage, "input_tokens")
            + cached_tokens
            + _count(usage, "cache_creation_input_tokens")
        )
        return prompt, _count(usage, "output_tokens"), cached_tokens
    details = usage.get("prompt_tokens_details")
    cached_tokens = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached_tokens


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    plausible = isinstance(value, int) and 0 <= value <= MAXIMUM_TOKENS
    return int(value) if plausible and value is not None else 0
