"""Rate-limited, retried and recorded requests to the live API."""

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from schemas.calls import REFUSING_STATUSES
from schemas.errors import ConfigurationError
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.literature.gateway.arrival_limiter import ArrivalLimiter, Turn
from tasks.literature.gateway.messages import Attempt, Reply, Request, could_not_look
from tasks.telemetry.reporting import span, upstream_answered
from tasks.web.client import Secrets, open_client, web_address
from tasks.web.decoding import mended_json
from tasks.web.exchange import (
    WEB_PAGE,
    Answer,
    NoAnswerError,
    exchange,
    is_web_page,
    reason_of_status,
)
from tasks.web.headers import retry_after_seconds
from tasks.web.retrying import RetryPolicy, Tried
from tasks.web.shared_limits import CircuitBreaker, CircuitState
from warehouse.catalogue.sqlite_file import connect

_LOG = logging.getLogger("assay.gateway")
# A mistaken `Retry-After` of hours must not stop all work.
_LONGEST_BACKOFF_SECONDS = 60.0
_TIMEOUT_MESSAGE = b"Endpoint request timed out"
MAXIMUM_TOTAL_SECONDS = 300.0  # of one look-up with its retries
LARGEST_ANSWER_BYTES = 32_000_000
"""Limit of the decompressed size.

The API itself refuses answers above 10 MB.
"""

_REFUSALS_FOR_GOOD = 5
"""Refusals in a row that count as permanent.

A key may lack the right to one endpoint; then others answer in between.
"""
_REFUSED_SECONDS = 600.0

_KEPT_DAYS = 90
# Several gateways may share the record of one cache.
_BUSY_SECONDS = 5.0
_CREATE = """
create table if not exists requests (
  request_id text primary key,
  sent_at real not null,           -- Unix seconds
  host text not null,
  endpoint text not null,
  look_ups integer not null,       -- that travelled in it
  attempt integer not null,        -- of its question, from 1
  wait_seconds real not null,      -- for its turn
  allowed_per_second real not null,
  status integer,                  -- null: no answer came, or the gateway died before it came
  -- null with a status: answered; else rate_limited, server_error, timeout, …
  reason text,
  latency_seconds real
) without rowid
"""
_HOURLY_COUNTS = """
select
  cast(sent_at / 3600 as integer) * 3600 as hour,
  count(*) as requests,
  sum(look_ups) as look_ups,
  sum(reason is null and status is not null) as answered,
  sum(reason = 'rate_limited') as rate_limited,
  sum(reason = 'server_error' or reason = 'malformed_answer') as server_errors,
  sum(reason = 'timeout' or reason = 'unreachable') as without_answer,
  sum(reason is null and status is null) as outcome_unknown,
  sum(attempt > 1) as repeated,
  round(sum(wait_seconds), 3) as wait_seconds,
  round(avg(latency_seconds), 3) as mean_latency_seconds,
  round(count(*) / 3600.0 / max(allowed_per_second), 4) as allowance_used_share
from requests where sent_at >= ? group by hour order by hour
"""


class RequestRecord:
    """A SQLite record of the requests to the upstream.

    A row is written when a request is sent and completed with its outcome. A failed write is logged
    and does not affect the answer.

    Raises:
        ConfigurationError: the file cannot be opened.
    """

    def __init__(self, path: Path, host: str, allowed_per_second: float) -> None:
        self._host, self._allowed_per_second = host, allowed_per_second
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("pragma journal_mode = wal")
            # A row survives a killed process; losing it in a power failure is acceptable.
            self._connection.execute("pragma synchronous = off")
            self._connection.execute(_CREATE)
            self._connection.execute("create index if not exists by_time on requests (sent_at)")
            self._connection.execute(
                "delete from requests where sent_at < ?", (time.time() - _KEPT_DAYS * 86_400,)
            )
        except (sqlite3.Error, OSError) as error:
            raise ConfigurationError(
                f"{path} cannot be used ({error}): delete it, or choose a writable folder"
            ) from error

    def add(
        self, request_id: str, request: Request, attempt: int, turn: Turn, sent_at: float
    ) -> None:
        """Record that a request is sent, at Unix seconds."""
        self._write(
            "insert into requests (request_id, sent_at, host, endpoint, look_ups, attempt,"
            " wait_seconds, allowed_per_second) values (?, ?, ?, ?, ?, ?, ?, ?)",
            request_id,
            sent_at,
            self._host,
            request.endpoint,
            request.look_ups,
            attempt,
            turn.waited_seconds,
            self._allowed_per_second,
        )

    def complete(self, attempt: Attempt) -> None:
        """Record the outcome of a request."""
        self._write(
            "update requests set status = ?, reason = ?, latency_seconds = ? where request_id = ?",
            attempt.status,
            attempt.reason,
            attempt.latency_seconds,
            attempt.request_id,
        )

    def hours(self) -> list[dict[str, Any]]:
        """Return the last 24 hours that have requests.

        `hour` is ISO text (UTC).
        """
        first = (int(time.time() / 3600) - 23) * 3600
        with closing(self._connection.execute(_HOURLY_COUNTS, (first,))) as cursor:
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        return [
            {**row, "hour": datetime.fromtimestamp(row["hour"], UTC).isoformat()} for row in rows
        ]

    def close(self) -> None:
        self._connection.close()

    def _write(self, statement: str, *values: Any) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            _LOG.warning("a request could not be recorded: %s", error)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one request with its checked status, or the reason of its failure.

    Attributes:
        is_lasting: whether the cause stays until it is repaired: a name, a certificate, a proxy,
            a web page instead of data.
    """

    answer: Answer | None
    reason: Reason | None
    detail: str
    is_lasting: bool = False

    @property
    def status(self) -> int | None:
        return self.answer.status if self.answer is not None else None


class Transport:
    """The only sender to the upstream.

    Every attempt waits for its turn at one rate limiter.
    """

    def __init__(self, settings: Settings, breaker: CircuitBreaker | None = None) -> None:
        literature = settings.literature
        self._secrets = Secrets.in_header("x-api-key", settings.semantic_scholar_api_key)
        self._settings = literature
        self._base = literature.upstream_url.rstrip("/")
        self._client = open_client(literature.timeout_seconds)
        self._policy = RetryPolicy(
            literature.maximum_attempts,
            MAXIMUM_TOTAL_SECONDS,
            first_pause_seconds=literature.retry_base_seconds,
        )
        self.limiter = ArrivalLimiter(literature.requests_per_second)
        self.breaker = breaker or CircuitBreaker()
        self.record: RequestRecord | None = None
        self._refusals, self._refused_at = 0, 0.0
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.given_up: Counter[str] = Counter()
        self.wait_seconds = 0.0
        self.latency_seconds = 0.0

    @property
    def host(self) -> str:
        return web_address(self._base).netloc.decode("ascii")

    async def ask(
        self, make: Callable[[], Request], *, retry_gateway_timeout: bool = True
    ) -> Reply:
        """Send the request that `make` builds when its turn comes.

        429, 5xx, timeouts, dropped connections and broken JSON are retried with jitter within the
        limits of the settings; the last failure becomes a `could_not_look` reply. Other answers are
        returned unchanged. With `retry_gateway_timeout` off, a 504 is returned at once, for callers
        that retry with a smaller batch.
        """
        attempts: list[Attempt] = []
        request: Request | None = None
        waited_seconds = 0.0

        def failed(reason: Reason, detail: str) -> Reply:
            tries = f" ({len(attempts)} attempts)" if attempts else ""
            return could_not_look(reason, detail + tries, waited_seconds, tuple(attempts))

        def refused() -> Tried[Reply]:
            detail = f"{self.host} refused {self._refusals} requests in a row: check the key"
            return Tried(failed(Reason.FORBIDDEN, detail))

        def circuit_open() -> Tried[Reply]:
            detail = f"{self.host} has not answered for a while; asking again later"
            return Tried(failed(Reason.CIRCUIT_OPEN, detail))

        async def attempt(_: int) -> Tried[Reply]:
            nonlocal request, waited_seconds
            if self._refuses_for_good():
                return refused()
            if self.breaker.state is CircuitState.OPEN:
                return circuit_open()
            turn = await self.limiter.turn()
            waited_seconds += turn.waited_seconds
            # The circuit may have opened during the wait.
            if self._refuses_for_good():
                turn.departed()
                return refused()
            if not self.breaker.allows():
                turn.departed()
                return circuit_open()
            # Built only now, so that look-ups that arrived during the wait are included.
            request = request or make()
            start_time = time.monotonic()
            outcome = await self._attempt(request, turn, attempts)
            wait_seconds = self._record_outcome(outcome, turn)
            busy_seconds = time.monotonic() - start_time
            returned_at_once = outcome.status == 504 and not retry_gateway_timeout
            if outcome.answer is not None and (outcome.reason is None or returned_at_once):
                reply = Reply(
                    outcome.answer.status,
                    outcome.answer.content,
                    wait_seconds=waited_seconds,
                    attempts=tuple(attempts),
                    share=float(len(attempts)),
                )
                return Tried(reply, busy_seconds=busy_seconds)
            reason = outcome.reason or Reason.SERVER_ERROR
            reply = failed(reason, outcome.detail)
            page = reason is Reason.MALFORMED_ANSWER and outcome.is_lasting
            is_retryable = reason.again_at_once and not (page and len(attempts) > 1)
            is_rate_limited = reason is Reason.RATE_LIMITED
            return Tried(
                reply, is_retryable, wait_seconds, busy_seconds, is_counted=not is_rate_limited
            )

        last = await self._policy.run(attempt)
        if last.reason is not None:
            self.given_up[last.reason] += 1
        return last

    async def try_once(self, request: Request) -> Outcome:
        """Send one request in its turn, without retries.

        It is recorded like any other.
        """
        turn = await self.limiter.turn()
        outcome = await self._attempt(request, turn, [])
        self._record_outcome(outcome, turn)
        return outcome

    async def _attempt(self, request: Request, turn: Turn, attempts: list[Attempt]) -> Outcome:
        request_id, sent_at, start_time = uuid4().hex, time.time(), time.monotonic()
        endpoint, number = request.endpoint, len(attempts) + 1
        if self.record is not None:
            self.record.add(request_id, request, number, turn, sent_at)
        with span(
            "upstream request",
            kind="client",
            endpoint=endpoint,
            attempt=number,
            look_ups=request.look_ups,
        ) as request_span:
            outcome = await self._exchange(request, turn)
            request_span.note(status=outcome.status, wait_seconds=turn.waited_seconds)
            if outcome.reason is not None:
                request_span.fail(outcome.reason)
        attempt = Attempt(
            request_id=request_id,
            status=outcome.status,
            reason=outcome.reason,
            wait_seconds=turn.waited_seconds,
            latency_seconds=time.monotonic() - start_time,
            packed=request.look_ups,
            sent_at=sent_at,
        )
        attempts.append(attempt)
        without_answer = attempt.status is None or attempt.reason == Reason.MALFORMED_ANSWER
        outcome_name = str(attempt.reason if without_answer else attempt.status)
        self.outcomes[endpoint, outcome_name] += 1
        upstream_answered(endpoint, outcome_name, attempt.latency_seconds, attempt.wait_seconds)
        self.wait_seconds += attempt.wait_seconds
        self.latency_seconds += attempt.latency_seconds
        if self.record is not None:
            self.record.complete(attempt)
        return outcome

    async def _exchange(self, request: Request, turn: Turn) -> Outcome:
        async def on_event(name: str, _: Mapping[str, Any]) -> None:
            if name.endswith("send_request_body.complete"):
                turn.departed()
            elif name.endswith("receive_response_headers.complete"):
                turn.arrived()

        assert request.route is not None, "the gateway refuses what the API has no route for"
        try:
            answer = await exchange(
                self._client,
                request.method,
                self._base + request.route.path,
                maximum_bytes=LARGEST_ANSWER_BYTES,
                timeout_seconds=self._settings.timeout_seconds,
                params=list(request.parameters),
                content=request.body or None,
                headers={"content-type": "application/json"} if request.body else None,
                extensions={"trace": on_event, **self._secrets.extension},
            )
        except NoAnswerError as error:
            too_large = error.reason == Reason.TOO_LARGE  # no valid answer is so large
            reason = Reason.MALFORMED_ANSWER if too_large else error.reason
            return Outcome(None, reason, f"{self.host}: {error}", error.is_lasting)
        finally:
            turn.arrived()
        checked_answer = answer
        if answer.status == 200:
            try:
                body = orjson.loads(answer.content)
            except orjson.JSONDecodeError:
                checked_answer = replace(answer, content=mended_json(answer.content))
                try:
                    body = orjson.loads(checked_answer.content)
                except orjson.JSONDecodeError:
                    body, checked_answer = None, replace(checked_answer, status=502)
            # The API's front end reports its timeout with status 200 and a message alone.
            is_message = isinstance(body, dict) and set(body) == {"message"}
            if is_message and _TIMEOUT_MESSAGE in answer.content:
                checked_answer = replace(checked_answer, status=504)
        _LOG.info("upstream %s %s %s", request.method, request.path, checked_answer.status)
        is_malformed = checked_answer.status == 502 and answer.status == 200
        page = is_web_page(answer.content) and answer.status < 500 and answer.status != 429
        content = WEB_PAGE if page else "broken JSON"
        detail = (
            f"{self.host} answered {f'with {content}' if is_malformed or page else answer.status}"
        )
        reason = (
            Reason.MALFORMED_ANSWER if is_malformed else reason_of_status(checked_answer.status)
        )
        return Outcome(checked_answer, reason if reason.again_at_once else None, detail, page)

    def _refuses_for_good(self) -> bool:
        """Return whether the API refuses the key.

        One request in ten minutes asks again.
        """
        is_recent = time.monotonic() - self._refused_at < _REFUSED_SECONDS
        return is_recent and self._refusals >= _REFUSALS_FOR_GOOD

    def _record_outcome(self, outcome: Outcome, turn: Turn) -> float:
        """Update breaker and limiter; return the seconds the upstream asks to wait."""
        if outcome.status in REFUSING_STATUSES:
            self._refusals, self._refused_at = self._refusals + 1, time.monotonic()
        elif outcome.reason is None:
            self._refusals = 0
        if outcome.reason is None:
            self.limiter.accepted()
            self.breaker.answered()
            return 0.0
        if outcome.answer is None or outcome.status != 429:
            self.breaker.failed()
            return 0.0
        self.breaker.answered()  # a limit is waited for: the API is there
        self.limiter.refused(turn)
        retry_after = retry_after_seconds(outcome.answer.headers.get("retry-after")) or 0.0
        wait_seconds = min(retry_after, _LONGEST_BACKOFF_SECONDS)
        self.limiter.hold_back(wait_seconds)
        return wait_seconds

    def statistics(self) -> dict[str, Any]:
        """Return figures since the start.

        `hours` come from the record and survive restarts.
        """
        by_endpoint: dict[str, dict[str, int]] = {}
        for (endpoint, outcome), count in sorted(self.outcomes.items()):
            by_endpoint.setdefault(endpoint, {})[outcome] = count
        return {
            "host": self.host,
            "requests": self.outcomes.total(),
            "allowed_per_second": self._settings.requests_per_second,
            "allowance_used_share": self.limiter.used_share,
            "waiting": self.limiter.waiting,
            "slowed_down_times": self.limiter.stretch,
            "wait_seconds": round(self.wait_seconds, 3),
            "latency_seconds": round(self.latency_seconds, 3),
            "outcomes": by_endpoint,
            "given_up": dict(self.given_up),
            "circuit": self.breaker.state.value,
            "hours": self.record.hours() if self.record is not None else [],
        }

    async def close(self) -> None:
        await self._client.aclose()
        self.limiter.close()
        if self.record is not None:
            self.record.close()
