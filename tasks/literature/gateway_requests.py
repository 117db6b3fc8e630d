"""One idea's requests to the gateway: each a row in its ledger, each failure a value."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import orjson

from schemas.calls import ApiCall
from schemas.errors import BudgetExhaustedError
from schemas.reasons import Reason, reason_named
from schemas.retrieval import SourceFailure
from tasks.accounting.ledger import Ledger
from tasks.literature.gateway.attempts import ATTEMPTS_HEADER, SHARE_HEADER, STOPPING_HEADER, Attempt, attempts_in
from tasks.telemetry.tracing import span, trace_headers
from tasks.web.decoding import json_of
from tasks.web.statuses import reason_of_status

DEFAULT_SOURCE = "semantic_scholar"
BATCH_PATH = "/graph/v1/paper/batch"
_CONNECT_SECONDS = 10.0
_LONGEST_ANSWER_SECONDS = 6 * 3600.0
"""Behind a rate of one request a second an answer may be hours in coming; a dead gateway shows by its closed connection."""

_RESTART_SECONDS = 60.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
_NONE_KNOWN = b"No valid paper ids given"
_GATEWAY_GONE = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a request gave: parsed JSON, or a failure. `status` is None when no answer came."""

    body: Any
    status: int | None
    source: str
    failure: SourceFailure | None = None


class GatewayRequests:
    """Sends to the gateway. Repeats only what a restarting gateway lost; the gateway itself owns all other retries."""

    def __init__(
        self,
        base_url: str,
        ledger: Ledger,
        http: httpx.AsyncClient,
        on_request: Callable[[], None] | None = None,
        restart_seconds: float = _RESTART_SECONDS,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._ledger = ledger
        self._http = http
        self._on_request = on_request
        self._restart_seconds = restart_seconds
        self._timeout = httpx.Timeout(_LONGEST_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
        self.source = DEFAULT_SOURCE

    async def get(self, path: str, parameters: Mapping[str, str]) -> Fetched:
        """A GET; `parameters` as the API takes them."""
        return await self._fetch("GET", path, parameters, None, 1)

    async def post(self, path: str, parameters: Mapping[str, str], body: Any, packed: int) -> Fetched:
        """A POST of JSON that stands for `packed` look-ups."""
        return await self._fetch("POST", path, parameters, orjson.dumps(body), packed)

    async def batch(self, fields: str, identifiers: Sequence[str]) -> Fetched:
        """Papers by identifier; the body is a list by position, null for an unknown one.

        A batch that knows none of its ids is refused with 400 by the API: that is an answer, not a failure.
        """
        fetched = await self._fetch("POST", BATCH_PATH, {"fields": fields}, orjson.dumps({"ids": list(identifiers)}), len(identifiers))
        if fetched.failure is None and (not isinstance(fetched.body, list) or len(fetched.body) != len(identifiers)):
            failure = self._failure(_endpoint(BATCH_PATH), Reason.MALFORMED_ANSWER, "the answer does not fit its question")
            return Fetched(None, fetched.status, fetched.source, failure)
        return fetched

    async def _fetch(self, method: str, path: str, parameters: Mapping[str, str], body: bytes | None, packed: int) -> Fetched:
        endpoint = _endpoint(path)
        try:
            if self._on_request is not None:
                self._on_request()
        except BudgetExhaustedError as error:
            return Fetched(None, None, self.source, self._failure(endpoint, error.reason, str(error)))
        with span("literature request", kind="client", endpoint=endpoint, packed=packed) as spanned:
            fetched = await self._exchanged(method, path, parameters, body, endpoint, packed)
            if fetched.failure is not None:
                spanned.fail(fetched.failure.reason)
            spanned.note(status=fetched.status, source=fetched.source)
            return fetched

    async def _exchanged(
        self, method: str, path: str, parameters: Mapping[str, str], body: bytes | None, endpoint: str, packed: int
    ) -> Fetched:
        started = time.monotonic()
        try:
            response = await self._send(method, path, parameters, body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            fetched = Fetched(None, None, self.source, self._unanswered(endpoint, error))
            self._record(endpoint, fetched, packed, time.monotonic() - started, {})
            return fetched
        self.source = response.headers.get("x-assay-source", self.source)
        fetched = self._judged(endpoint, response, packed)
        self._record(endpoint, fetched, packed, time.monotonic() - started, response.headers)
        return fetched

    async def _send(self, method: str, path: str, parameters: Mapping[str, str], body: bytes | None) -> httpx.Response:
        """Try again while the gateway is being restarted, and no longer."""
        headers = {**trace_headers(), **({"content-type": "application/json"} if body is not None else {})}
        deadline = time.monotonic() + self._restart_seconds
        pause_seconds = _FIRST_PAUSE_SECONDS
        while True:
            try:
                response = await self._http.request(
                    method, self._base_url + path, params=dict(parameters), content=body, headers=headers, timeout=self._timeout
                )
                if STOPPING_HEADER not in response.headers or time.monotonic() + pause_seconds > deadline:
                    return response
            except _GATEWAY_GONE:
                if time.monotonic() + pause_seconds > deadline:
                    raise
            await asyncio.sleep(pause_seconds)
            pause_seconds = min(pause_seconds * 1.5, _LONGEST_PAUSE_SECONDS)

    def _judged(self, endpoint: str, response: httpx.Response, packed: int) -> Fetched:
        try:
            body = json_of(response.content)
        except orjson.JSONDecodeError:
            failure = self._failure(endpoint, Reason.MALFORMED_ANSWER, f"status {response.status_code} with a body that is no JSON")
            return Fetched(None, response.status_code, self.source, failure)
        if response.status_code == 200:
            return Fetched(body, 200, self.source)
        if _NONE_KNOWN in response.content and response.status_code == 400:
            return Fetched([None] * packed, 400, self.source)
        told: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        reason = reason_named(told.get("reason")) or reason_of_status(response.status_code)
        detail = str(told.get("error") or told.get("message") or f"status {response.status_code}")[:300]
        return Fetched(body, response.status_code, self.source, self._failure(endpoint, reason, detail))

    def _unanswered(self, endpoint: str, error: Exception) -> SourceFailure:
        kind = type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return self._failure(endpoint, Reason.TIMEOUT, f"the gateway at {self._base_url} did not answer ({kind})")
        return self._failure(endpoint, Reason.UNREACHABLE, f"no gateway answers at {self._base_url} ({kind}); start it and run again")

    def _failure(self, endpoint: str, reason: Reason, detail: str) -> SourceFailure:
        return SourceFailure(source=self.source, endpoint=endpoint, reason=reason, detail=detail)

    def _record(self, endpoint: str, fetched: Fetched, packed: int, latency_seconds: float, headers: Mapping[str, str]) -> None:
        """A row per request the gateway sent for it; one alone where it had to send none."""
        share = _number(headers.get(SHARE_HEADER))
        attempts = attempts_in(headers.get(ATTEMPTS_HEADER, ""))
        reason = fetched.failure.reason if fetched.failure else None
        for number, attempt in enumerate(attempts, 1):
            self._row(endpoint, attempt, number, attempt.reason if number < len(attempts) else reason, share / len(attempts))
        if attempts:
            return
        self._ledger.api_calls.append(
            ApiCall(
                call_id=uuid4().hex,
                idea_id=self._ledger.idea_id,
                source=self.source,
                endpoint=endpoint,
                status=fetched.status,
                failure_reason=reason,
                wait_seconds=_number(headers.get("x-assay-wait-seconds")),
                latency_seconds=latency_seconds,
                cache_hit=headers.get("x-assay-cache") in ("hit", "coalesced"),
                packed=max(packed, 1),
                upstream_requests=0,
                request_share=share,
                created_at=datetime.now(UTC),
            )
        )

    def _row(self, endpoint: str, attempt: Attempt, number: int, reason: Reason | None, share: float) -> None:
        self._ledger.api_calls.append(
            ApiCall(
                call_id=attempt.request_id,
                idea_id=self._ledger.idea_id,
                source=self.source,
                endpoint=endpoint,
                status=attempt.status,
                failure_reason=reason,
                wait_seconds=attempt.wait_seconds,
                latency_seconds=attempt.latency_seconds,
                cache_hit=False,
                packed=attempt.packed,
                upstream_requests=1,
                attempt=number,
                request_share=share,
                created_at=datetime.fromtimestamp(attempt.sent_at, UTC),
            )
        )


def _endpoint(path: str) -> str:
    """The path without the identifier in it, so that rows can be grouped."""
    for start in ("/recommendations/v1/papers/forpaper/",):
        if path.startswith(start):
            return start.removeprefix("/").rstrip("/").split("/v1/")[1]
    return path.split("/v1/")[-1].strip("/")


def _number(text: str | None) -> float:
    try:
        return max(float(text), 0.0) if text else 0.0
    except ValueError:
        return 0.0
