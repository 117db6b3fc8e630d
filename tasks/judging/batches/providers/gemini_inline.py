"""Gemini's batches with inline requests.

API: https://ai.google.dev/gemini-api/docs/batch-api.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import SecretStr

from tasks.judging.batches.providers.provider import (
    QuestionEntry,
    RemoteState,
    raise_for,
    result_of_response,
)
from tasks.judging.batches.questions import Batch, Lane, QuestionResult
from tasks.web.exchange import call_json
from warehouse.scrubbing import one_line

_ADDRESS = "https://generativelanguage.googleapis.com/v1beta"
_TIMEOUT_SECONDS = 300.0
_RUNNING_STATES = (
    "UNSPECIFIED",
    "PENDING",
    "RUNNING",
    "QUEUED",
    "CANCELLING",
    "PAUSED",
    "UPDATING",
)


class GeminiInline:
    """Implements `Provider` over REST.

    LiteLLM's requests are JSON already; Google's client would translate them into its own types.
    A batch is found by its display name.
    """

    most_questions: ClassVar[int] = 10_000
    most_bytes: ClassVar[int] = 18_000_000

    def __init__(self, lane: Lane) -> None:
        self._address = (lane.api_base or _ADDRESS).rstrip("/")
        self._model = lane.model.partition("/")[2]
        key = os.environ.get("GEMINI_API_KEY") or os.environ.get("GOOGLE_API_KEY") or "none"
        self._headers = {"x-goog-api-key": SecretStr(key)}

    def send(self, batch: Batch, questions: Sequence[QuestionEntry]) -> str:
        requests = [
            {"request": question.body, "metadata": {"key": question_id}}
            for question_id, question in questions
        ]
        body = {
            "batch": {
                "displayName": batch.name,
                "inputConfig": {"requests": {"requests": requests}},
            }
        }
        path = f"models/{self._model}:batchGenerateContent"
        return str(self._call("POST", path, body=body)["name"])

    def find(self, batch: Batch, questions: Sequence[QuestionEntry], sent_at: float) -> str | None:
        del questions, sent_at
        page = ""
        while True:
            parameters = {"pageSize": "100", **({"pageToken": page} if page else {})}
            answer = self._call("GET", "batches", parameters=parameters)
            for operation in answer.get("operations", ()):
                if operation.get("metadata", {}).get("displayName") == batch.name:
                    return str(operation["name"])
            page = answer.get("nextPageToken", "")
            if not page:
                return None

    def poll(self, remote_id: str) -> RemoteState:
        operation = self._call("GET", remote_id)
        metadata = operation.get("metadata", {})
        state = str(metadata.get("state", "UNSPECIFIED")).rpartition("STATE_")[2]
        stats = metadata.get("batchStats", {})
        pending_count = int(stats.get("pendingRequestCount") or 0)
        done_count = max(int(stats.get("requestCount") or 0) - pending_count, 0)
        if state in _RUNNING_STATES:
            return RemoteState(done_count)
        output = operation.get("response") or metadata.get("output") or {}
        rows = output.get("inlinedResponses", {}).get("inlinedResponses", ())
        message = operation.get("error", {}).get("message", "")
        return RemoteState(
            done_count,
            dict(map(_row_result, rows)),
            detail=f"the batch is {state} {message}".strip(),
        )

    def _call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        parameters: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        status, answer = call_json(
            method,
            f"{self._address}/{path}",
            body=body,
            parameters=parameters,
            secret_headers=self._headers,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
        if status >= 400 or not isinstance(answer, dict):
            raise_for(status if status >= 400 else None, json.dumps(answer))
        return dict(answer)


_HTTP_STATUS = {3: 400, 5: 404, 7: 403, 11: 400, 12: 400}
"""HTTP status by google.rpc.Code, for errors of the request; all others may be transient."""


def _row_result(row: Mapping[str, Any]) -> tuple[str, QuestionResult]:
    question_id = str(row.get("metadata", {}).get("key", ""))
    if isinstance(row.get("response"), dict):
        return question_id, QuestionResult(200, row["response"])
    error = dict(row.get("error") or {})
    if (status := _HTTP_STATUS.get(error.get("code", 0))) is not None:
        words = {"code": status, "message": error.get("message", ""), "status": "INVALID_ARGUMENT"}
        return question_id, result_of_response(status, {"error": words})
    return question_id, QuestionResult(detail=one_line(json.dumps(error)))
