"""Anthropic's message batches. API: https://docs.claude.com/en/api/creating-message-batches."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from schemas.errors import TransientError
from tasks.judging.batches.providers.provider import QuestionEntry, RemoteState, named_errors
from tasks.judging.batches.questions import Batch, Lane, QuestionResult

_TIMEOUT_SECONDS = 300.0
_CLOCKS_DIFFER_BY = timedelta(minutes=10)
_PERMANENT_ERRORS = ("invalid_request_error", "not_found_error", "request_too_large")


class AnthropicMessages:
    """Implements `Provider` by Anthropic's SDK.

    Its batches have no names: a batch that may have arrived is recognized by time and size, and
    confirmed by its results.
    """

    most_questions: ClassVar[int] = 100_000
    most_bytes: ClassVar[int] = 240_000_000

    def __init__(self, lane: Lane) -> None:
        import anthropic

        self._errors = partial(named_errors, anthropic.APIStatusError, anthropic.AnthropicError)
        client = anthropic.Anthropic(
            api_key=os.environ.get("ANTHROPIC_API_KEY") or "none",
            base_url=lane.api_base or os.environ.get("ANTHROPIC_API_BASE"),
            max_retries=0,
            timeout=_TIMEOUT_SECONDS,
        )
        self._batches: Any = client.messages.batches

    def send(self, batch: Batch, questions: Sequence[QuestionEntry]) -> str:
        del batch
        beta_names = {
            name
            for _, question in questions
            for name in question.headers.get("anthropic-beta", "").split(",")
            if name
        }
        headers = {"anthropic-beta": ",".join(sorted(beta_names))} if beta_names else {}
        requests = [
            {
                "custom_id": question_id,
                "params": {name: part for name, part in question.body.items() if name != "stream"},
            }
            for question_id, question in questions
        ]
        with self._errors():
            return str(self._batches.create(requests=requests, extra_headers=headers).id)

    def find(self, batch: Batch, questions: Sequence[QuestionEntry], sent_at: float) -> str | None:
        """See `Provider.find`. Raises TransientError while a candidate is still running."""
        del batch
        earliest = datetime.fromtimestamp(sent_at, UTC) - _CLOCKS_DIFFER_BY
        question_ids = {question_id for question_id, _ in questions}
        with self._errors():
            for remote in self._batches.list(limit=100):
                if remote.created_at < earliest:
                    return None
                if _size(remote) != len(questions):
                    continue
                if remote.processing_status != "ended":
                    raise TransientError(
                        f"batch {remote.id} may be the one that was being sent: its results are not"
                        " available yet"
                    )
                first = next(iter(self._batches.results(remote.id)), None)
                if first is not None and first.custom_id in question_ids:
                    return str(remote.id)
        return None

    def poll(self, remote_id: str) -> RemoteState:
        with self._errors():
            remote = self._batches.retrieve(remote_id)
            done_count = _size(remote) - remote.request_counts.processing
            if remote.processing_status != "ended":
                return RemoteState(done_count)
            results = self._batches.results(remote_id)
            return RemoteState(
                done_count, {each.custom_id: _question_result(each.result) for each in results}
            )


def _size(remote: Any) -> int:
    counts = remote.request_counts
    kinds = ("processing", "succeeded", "errored", "canceled", "expired")
    return sum(getattr(counts, kind) for kind in kinds)


def _question_result(result: Any) -> QuestionResult:
    if result.type == "succeeded":
        return QuestionResult(200, result.message.to_dict(mode="json"))
    if result.type == "errored":
        error = result.error.to_dict(mode="json")
        kind = error.get("error", {}).get("type", "")
        if kind in _PERMANENT_ERRORS:
            return QuestionResult(400, error)
        return QuestionResult(detail=f"{kind}: {error.get('error', {}).get('message', '')}")
    return QuestionResult(detail=result.type)
