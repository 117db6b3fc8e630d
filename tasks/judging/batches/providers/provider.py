"""What every provider of batches does, how its errors are called, and what its answers say that
they took.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from schemas.calls import MAXIMUM_TOKENS
from schemas.errors import ConfigurationError, RequestRejectedError, TransientError
from tasks.judging.batches.questions import Batch, Ended, Question
from warehouse.scrubbing import one_line

Identified = tuple[str, Question]
_WORTH_ANOTHER_TRY = (408, 409, 425, 429)


@dataclass(frozen=True, slots=True)
class Look:
    """State of a batch at its provider.

    Attributes:
        answered: questions that have ended, of all it has.
        ended: what became of each question; None: it goes on.
        refused: why the provider has not taken it up.
        queue_is_full: whether a smaller batch later may be taken.
        detail: why it ended as a whole; empty: as it should.
    """

    answered: int = 0
    ended: Mapping[str, Ended] | None = None
    refused: str | None = None
    queue_is_full: bool = False
    detail: str = ""


class Provider(Protocol):
    """Sends and collects batches.

    Raises (every method):
        TransientError: asking again later may help; a batch that was being sent may have arrived.
        RequestRejectedError: the provider will not have this batch, or has it no more.
        ConfigurationError: the key or the address is wrong.
    """

    most_questions: ClassVar[int]
    most_bytes: ClassVar[int]

    def send(self, batch: Batch, questions: Sequence[Identified]) -> str:
        """Submit a batch; the provider's identifier of it."""
        ...

    def find(self, batch: Batch, questions: Sequence[Identified], sent_at: float) -> str | None:
        """The identifier of a batch that was being sent when the command ended; None: it never
        arrived.
        """
        ...

    def look(self, remote_id: str) -> Look: ...


def line_of(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode() + b"\n"


def ended_with(status: int, body: Mapping[str, Any]) -> Ended:
    """Return how a question ended that the provider answered with this status."""
    if status < 400 or (status < 500 and status not in _WORTH_ANOTHER_TRY):
        return Ended(status=status, answer=dict(body))
    return Ended(status=status, detail=one_line(f"HTTP {status}: {json.dumps(body)}"))


def raise_for(status: int | None, text: str) -> None:
    """Raises what an error of the provider with this status (None:
    no answer came) is called here.
    """
    message = one_line(text)
    if status is None or status >= 500 or status in _WORTH_ANOTHER_TRY:
        raise TransientError(f"the provider of batches did not answer: {message}")
    if status in (401, 403):
        raise ConfigurationError(
            f"the provider of batches refused the key, check it in the environment: {message}"
        )
    raise RequestRejectedError(f"the provider refused the batch: {message}")


def usage_of(answer: Mapping[str, Any]) -> tuple[int, int, int]:
    """(prompt, completion, cached) tokens of an answer of OpenAI, Azure, Anthropic or Gemini; 0
    where it says nothing that can be believed. Cached tokens are part of the prompt's.
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
        cached = _count(usage, "cache_read_input_tokens")
        prompt = (
            _count(usage, "input_tokens") + cached + _count(usage, "cache_creation_input_tokens")
        )
        return prompt, _count(usage, "output_tokens"), cached
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    plausible = isinstance(value, int) and 0 <= value <= MAXIMUM_TOKENS
    return int(value) if plausible and value is not None else 0
