"""One idea's requests to the gateway: each a row in its ledger, each failure a value."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from schemas.errors import BudgetExhaustedError
from schemas.reasons import Reason, reason_named
from schemas.retrieval import SourceFailure
from tasks.accounting.ledger import Ledger
from tasks.literature.gateway.messages import (
    ATTEMPTS_HEADER,
    SHARE_HEADER,
    STOPPING_HEADER,
    attempts_in,
)
from tasks.telemetry.reporting import span, trace_headers
from tasks.web.calls import record
from tasks.web.client import Client
from tasks.web.decoding import json_of
from tasks.web.exchange import Answer, NoAnswerError, exchange, reason_of_status
from tasks.web.headers import plain_number
from tasks.web.retrying import RetryPolicy, Tried

DEFAULT_SOURCE = "semantic_scholar"
BATCH_PATH = "/graph/v1/paper/batch"
_CONNECT_SECONDS = 10.0
_LONGEST_ANSWER_SECONDS = 6 * 3600.0
"""Behind a rate of one request a second an answer may be hours in coming; a dead gateway shows by
its closed connection.
"""

_RESTART_SECONDS = 60.0
_LARGEST_ANSWER_BYTES = 64_000_000
"""Twice what the gateway itself takes of the API."""

_NONE_KNOWN = b"No valid paper ids given"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a request gave: parsed JSON, or a failure. `status` is None when no answer came."""

    body: Any
    status: int | None
    source: str
    failure: SourceFailure | None = None


class GatewayRequests:
    """Sends to the gateway.

    Repeats only what a restarting gateway lost; the gateway itself owns all other retries.
    """

    def __init__(
        self,
        base_url: str,
        ledger: Ledger,
        http: Client,
        on_request: Callable[[], None] | None = None,
        restart_seconds: float = _RESTART_SECONDS,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._ledger = ledger
        self._http = http
        self._on_request = on_request
        self._restarting = RetryPolicy(
            maximum_total_seconds=restart_seconds,
            first_pause_seconds=0.1,
            longest_pause_seconds=1.0,
        )
        self.source = DEFAULT_SOURCE

    async def get(self, path: str, parameters: Mapping[str, str]) -> Fetched:
        """A GET; `parameters` as the API takes them."""
        return await self._fetch("GET", path, parameters, None, 1)

    async def post(
        self, path: str, parameters: Mapping[str, str], body: Any, packed: int
    ) -> Fetched:
        """A POST of JSON that stands for `packed` look-ups."""
        return await self._fetch("POST", path, parameters, orjson.dumps(body), packed)

    async def batch(self, fields: str, identifiers: Sequence[str]) -> Fetched:
        """Papers by identifier; the body is a list by position, null for an unknown one.

        A batch that knows none of its ids is refused with 400 by the API: that is an answer, not a
            failure.
        """
        fetched = await self._fetch(
            "POST",
            BATCH_PATH,
            {"fields": fields},
            orjson.dumps({"ids": list(identifiers)}),
            len(identifiers),
        )
        if fetched.failure is None and (
            not isinstance(fetched.body, list) or len(fetched.body) != len(identifiers)
        ):
            failure = self._failure(
                _endpoint(BATCH_PATH),
                Reason.MALFORMED_ANSWER,
                "the answer does not fit its question",
            )
            return Fetched(None, fetched.status, fetched.source, failure)
        return fetched

    async def _fetch(
        self, method: str, path: str, parameters: Mapping[str, str], body: bytes | None, packed: int
    ) -> Fetched:
        endpoint = _endpoint(path)
        try:
            if self._on_request is not None:
                self._on_request()
        except BudgetExhaustedError as error:
            return Fetched(
                None, None, self.source, self._failure(endpoint, error.reason, str(error))
            )
        with span("literature request", kind="client", endpoint=endpoint, packed=packed) as spanned:
            fetched = await self._exchanged(method, path, parameters, body, endpoint, packed)
            if fetched.failure is not None:
                spanned.fail(fetched.failure.reason)
            spanned.note(status=fetched.status, source=fetched.source)
            return fetched

    async def _exchanged(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str],
        body: bytes | None,
        endpoint: str,
        packed: int,
    ) -> Fetched:
        started = time.monotonic()
        answer = await self._send(method, path, parameters, body)
        latency_seconds = time.monotonic() - started
        if isinstance(answer, NoAnswerError):
            fetched = Fetched(None, None, self.source, self._unanswered(endpoint, answer))
            self._record(endpoint, fetched, packed, latency_seconds, {})
            return fetched
        self.source = answer.headers.get("x-assay-source", self.source)
        fetched = self._judged(endpoint, answer, packed)
        self._record(endpoint, fetched, packed, latency_seconds, answer.headers)
        return fetched

    async def _send(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str],
        body: bytes | None,
    ) -> Answer | NoAnswerError:
        """Try again while the gateway is being restarted, and no longer."""
        of_body = {} if body is None else {"content-type": "application/json"}

        async def attempt(_: int) -> Tried[Answer | NoAnswerError]:
            started = time.monotonic()
            result: Answer | NoAnswerError
            try:
                result = await exchange(
                    self._http,
                    method,
                    self._base_url + path,
                    maximum_bytes=_LARGEST_ANSWER_BYTES,
                    timeout_seconds=_LONGEST_ANSWER_SECONDS,
                    params=dict(parameters),
                    content=body,
                    headers={**trace_headers(), **of_body},
                    timeout=(_CONNECT_SECONDS, *(_LONGEST_ANSWER_SECONDS,) * 3),
                )
                again = STOPPING_HEADER in result.headers
            except NoAnswerError as gone:
                result, again = gone, gone.reason.again_at_once
            return Tried(result, again, busy_seconds=time.monotonic() - started)

        return await self._restarting.run(attempt)

    def _judged(self, endpoint: str, answer: Answer, packed: int) -> Fetched:
        status = answer.status
        try:
            body = json_of(answer.content)
        except orjson.JSONDecodeError:
            detail = f"status {status} with a body that is no JSON"
            failure = self._failure(endpoint, Reason.MALFORMED_ANSWER, detail)
            return Fetched(None, status, self.source, failure)
        if status == 200:
            return Fetched(body, 200, self.source)
        if _NONE_KNOWN in answer.content and status == 400:
            return Fetched([None] * packed, 400, self.source)
        told: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        reason = reason_named(told.get("reason")) or reason_of_status(status)
        detail = str(told.get("error") or told.get("message") or f"status {status}")[:300]
        return Fetched(body, status, self.source, self._failure(endpoint, reason, detail))

    def _unanswered(self, endpoint: str, gone: NoAnswerError) -> SourceFailure:
        detail = f"the gateway at {self._base_url}: {gone}"
        if gone.reason == Reason.UNREACHABLE:
            detail = f"no gateway answers at {self._base_url} ({gone}); start it and run again"
        return self._failure(endpoint, gone.reason, detail)

    def _failure(self, endpoint: str, reason: Reason, detail: str) -> SourceFailure:
        return SourceFailure(source=self.source, endpoint=endpoint, reason=reason, detail=detail)

    def _record(
        self,
        endpoint: str,
        fetched: Fetched,
        packed: int,
        latency_seconds: float,
        headers: Mapping[str, str],
    ) -> None:
        """A row per request the gateway sent for it; one alone where it had to send none."""
        share = plain_number(headers.get(SHARE_HEADER)) or 0.0
        attempts = attempts_in(headers.get(ATTEMPTS_HEADER, ""))
        reason = fetched.failure.reason if fetched.failure else None
        for number, attempt in enumerate(attempts, 1):
            record(
                self._ledger,
                self.source,
                endpoint,
                call_id=attempt.request_id,
                status=attempt.status,
                failure_reason=attempt.reason if number < len(attempts) else reason,
                wait_seconds=attempt.wait_seconds,
                latency_seconds=attempt.latency_seconds,
                packed=attempt.packed,
                attempt=number,
                request_share=share / len(attempts),
                created_at=datetime.fromtimestamp(attempt.sent_at, UTC),
            )
        if attempts:
            return
        record(
            self._ledger,
            self.source,
            endpoint,
            status=fetched.status,
            failure_reason=reason,
            wait_seconds=plain_number(headers.get("x-assay-wait-seconds")) or 0.0,
            latency_seconds=latency_seconds,
            cache_hit=headers.get("x-assay-cache") in ("hit", "coalesced"),
            packed=max(packed, 1),
            upstream_requests=0,
            request_share=share,
        )


def _endpoint(path: str) -> str:
    """The path without the identifier in it, so that rows can be grouped."""
    for start in ("/recommendations/v1/papers/forpaper/",):
        if path.startswith(start):
            return start.removeprefix("/").rstrip("/").split("/v1/")[1]
    return path.split("/v1/")[-1].strip("/")
