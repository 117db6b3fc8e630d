"""Batches of OpenAI and Azure.

A batch has a file of requests, and files of answers and of errors. API:
https://platform.openai.com/docs/api-reference/batch and, for Azure, Microsoft's page "Getting
started with Azure OpenAI batch deployments".
"""

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from tasks.judging.batches.providers.provider import (
    QuestionEntry,
    RemoteState,
    json_line,
    named_errors,
    result_of_response,
)
from tasks.judging.batches.questions import Batch, Lane, QuestionResult
from tasks.judging.models import provider_of
from tasks.web.litellm_library import library
from warehouse.scrubbing import one_line

_TIMEOUT_SECONDS = 120.0
_RUNNING_STATES = ("validating", "in_progress", "finalizing", "cancelling")
_QUEUE_IS_FULL = ("token_limit_exceeded", "request_limit_exceeded")


class OpenAIFiles:
    """Implements `Provider` for OpenAI, Azure and OpenAI-compatible servers.

    The file has the name of the batch, so that both can be found again.
    """

    most_questions: ClassVar[int] = 50_000
    most_bytes: ClassVar[int] = 190_000_000

    def __init__(self, lane: Lane) -> None:
        import openai

        self._errors = partial(named_errors, openai.APIStatusError, openai.OpenAIError)
        self._endpoint = lane.endpoint
        bounds: Any = {"max_retries": 0, "timeout": _TIMEOUT_SECONDS}
        if provider_of(lane.model) == "azure":
            version = os.environ.get("AZURE_API_VERSION") or library().AZURE_DEFAULT_API_VERSION
            self._client: Any = openai.AzureOpenAI(
                api_key=os.environ.get("AZURE_API_KEY") or "none",
                azure_endpoint=lane.api_base or os.environ.get("AZURE_API_BASE") or "",
                api_version=version,
                **bounds,
            )
            self._endpoint = "/chat/completions"
        else:
            self._client = openai.OpenAI(
                api_key=os.environ.get("OPENAI_API_KEY") or "none",
                base_url=lane.api_base,
                **bounds,
            )

    def send(self, batch: Batch, questions: Sequence[QuestionEntry]) -> str:
        content = b"".join(
            json_line(
                {
                    "custom_id": question_id,
                    "method": "POST",
                    "url": self._endpoint,
                    "body": question.body,
                }
            )
            for question_id, question in questions
        )
        with self._errors():
            file = self._client.files.create(file=(_file_name(batch), content), purpose="batch")
            return self._create(batch, file.id)

    def find(self, batch: Batch, questions: Sequence[QuestionEntry], sent_at: float) -> str | None:
        del questions, sent_at
        with self._errors():
            files = {
                file.id
                for file in self._client.files.list(purpose="batch")
                if file.filename == _file_name(batch)
            }
            if not files:
                return None
            for remote in self._client.batches.list(limit=100):
                if remote.input_file_id in files:
                    return str(remote.id)
            return self._create(batch, min(files))

    def poll(self, remote_id: str) -> RemoteState:
        with self._errors():
            remote = self._client.batches.retrieve(remote_id)
            counts = remote.request_counts
            done_count = counts.completed + counts.failed if counts else 0
            if remote.status in _RUNNING_STATES:
                return RemoteState(done_count)
            if remote.status == "failed":
                errors = (remote.errors.data if remote.errors else None) or []
                return RemoteState(
                    refusal="; ".join(one_line(each.message or each.code or "") for each in errors),
                    queue_is_full=any(each.code in _QUEUE_IS_FULL for each in errors),
                )
            results: dict[str, QuestionResult] = {}
            for file_id in (remote.output_file_id, remote.error_file_id):
                if file_id:
                    results.update(_read_results(self._client.files.content(file_id).text))
            return RemoteState(done_count, results, detail=f"the batch is {remote.status}")

    def _create(self, batch: Batch, file_id: str) -> str:
        remote = self._client.batches.create(
            input_file_id=file_id,
            endpoint=self._endpoint,
            completion_window="24h",
            metadata={"assay": batch.name},
        )
        return str(remote.id)


def _file_name(batch: Batch) -> str:
    return f"{batch.name}.jsonl"


def _read_results(text: str) -> Iterator[tuple[str, QuestionResult]]:
    """Yield results by question, in the order of the file."""
    for line in text.splitlines():
        try:
            row = json.loads(line)
            question_id, response, error = row["custom_id"], row.get("response"), row.get("error")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # its question counts as failed, like a missing one
        if isinstance(response, dict) and isinstance(response.get("body"), dict):
            yield (
                question_id,
                result_of_response(int(response.get("status_code") or 200), response["body"]),
            )
        else:
            yield question_id, QuestionResult(detail=one_line(json.dumps(error)))
