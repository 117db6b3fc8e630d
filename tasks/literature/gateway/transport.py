"""Requests to the live API: in turn, retried within bounds, never hidden when they fail."""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import httpx
import orjson

from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.literature.gateway.attempts import Attempt
from tasks.literature.gateway.circuit_breaker import CircuitBreaker, CircuitState
from tasks.literature.gateway.limiter import RateLimiter, Turn
from tasks.literature.gateway.messages import Reply, Request, could_not_look
from tasks.literature.gateway.request_record import RequestRecord
from tasks.telemetry.counting import upstream_answered
from tasks.telemetry.tracing import span
from tasks.web.decoding import mended_json
from tasks.web.exchange import Answer, AnswerTooLargeError, AnswerUnreadableError, exchange
from tasks.web.retry_after import retry_after_seconds

_LOG = logging.getLogger("assay.gateway")
_LONGEST_BACKOFF_SECONDS = 60.0
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=60.0)
_RETRIED = frozenset({429, 500, 502, 503, 504})
_TIMED_OUT = b"Endpoint request timed out"

LARGEST_ANSWER_BYTES = 32_000_000
"""Unpacked. The API itself refuses answers above 10 MB."""

MakeRequest = Callable[[], Request]


@dataclass(slots=True)
class _Effort:
    """What one look-up has cost so far. Waiting for the turn does not count against its total seconds."""

    attempts: list[Attempt] = field(default_factory=list)
    wait_seconds: float = 0.0
    busy_seconds: float = 0.0
    detail: str = ""


class Transport:
    """The only place that sends to the upstream. Every attempt takes its turn at one limiter."""

    def __init__(
        self,
        settings: Settings,
        limiter: RateLimiter | None = None,
        breaker: CircuitBreaker | None = None,
        client: httpx.AsyncClient | None = None,
        record: RequestRecord | None = None,
    ) -> None:
        literature = settings.literature
        key = settings.semantic_scholar_api_key
        headers = {"x-api-key": key.get_secret_value()} if key else {}
        self._settings = literature
        self._base = literature.upstream_url.rstrip("/")
        self._client = client or httpx.AsyncClient(timeout=literature.timeout_seconds, headers=headers, limits=_LIMITS)
        self.limiter = limiter or RateLimiter(literature.requests_per_second)
        self.breaker = breaker or CircuitBreaker()
        self.record = record
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.given_up: Counter[str] = Counter()
        self.wait_seconds = 0.0
        self.latency_seconds = 0.0

    @property
    def host(self) -> str:
        return httpx.URL(self._base).netloc.decode("ascii")

    @property
    def place(self) -> str:
        """The host with the path behind it: proxies of one host may lead to several services."""
        return self.host + httpx.URL(self._base).path.rstrip("/")

    async def ask(self, make: MakeRequest, *, retry_gateway_timeout: bool = True) -> Reply:
        """Send the request that `make` gives once its turn has come (so that it can still grow while it waits).

        429, 5xx, timeouts, dropped connections and broken JSON are tried again with jitter, within the bounds of the
        settings; then the reply says "could not look" with the reason. Everything else is returned as it is.
        With `retry_gateway_timeout` off a 504 is returned at once, for callers that ask again with less.
        """
        effort = _Effort()
        request: Request | None = None
        while True:
            if self.breaker.state is CircuitState.OPEN:
                return self._circuit_open(effort)
            turn = await self.limiter.turn()
            effort.wait_seconds += turn.waited_seconds
            if not self.breaker.allows():
                turn.departed()
                return self._circuit_open(effort)
            request = request or make()
            started = time.monotonic()
            reply, backoff_seconds = await self._attempt(request, effort, turn)
            effort.busy_seconds += time.monotonic() - started
            if reply is not None and (reply.status not in _RETRIED or (reply.status == 504 and not retry_gateway_timeout)):
                return reply
            spent = effort.busy_seconds + backoff_seconds
            if len(effort.attempts) >= self._settings.maximum_attempts or spent > self._settings.maximum_total_seconds:
                return self._given_up(effort, effort.attempts[-1].reason or Reason.SERVER_ERROR)
            await asyncio.sleep(backoff_seconds)
            effort.busy_seconds += backoff_seconds

    async def _attempt(self, request: Request, effort: _Effort, turn: Turn) -> tuple[Reply | None, float]:
        """One request. Returns the reply, if any, and how long to wait before another."""
        request_id, sent_at, started = uuid4().hex, time.time(), time.monotonic()
        number = len(effort.attempts) + 1
        if self.record is not None:
            self.record.sent(request_id, request.endpoint, request.look_ups, number, turn.waited_seconds, sent_at)
        backoff_seconds = self._backoff_seconds(number)
        with span("upstream request", kind="client", endpoint=request.endpoint, attempt=number, look_ups=request.look_ups) as spanned:
            answer, status, reason, effort.detail = await self._exchange(request, turn)
            spanned.note(status=status, wait_seconds=turn.waited_seconds)
            if reason is not None:
                spanned.fail(reason)
        latency_seconds = time.monotonic() - started
        attempt = Attempt(request_id, status, reason, turn.waited_seconds, latency_seconds, request.look_ups, sent_at)
        effort.attempts.append(attempt)
        self._count(request.endpoint, attempt)
        if answer is None or status is None:
            self.breaker.failed()
            return None, backoff_seconds
        reply = Reply(status, answer.content, wait_seconds=effort.wait_seconds, attempts=tuple(effort.attempts), share=float(number))
        if status == 429:
            self.limiter.refused(turn)
            told_seconds = min(retry_after_seconds(answer.headers.get("retry-after")) or 0.0, _LONGEST_BACKOFF_SECONDS)
            self.limiter.hold_back(told_seconds)
            self.breaker.failed()
            return reply, max(backoff_seconds, told_seconds)
        if status >= 500:
            self.breaker.failed()
            return reply, backoff_seconds
        self.limiter.accepted()
        self.breaker.succeeded()
        return reply, backoff_seconds

    async def _exchange(self, request: Request, turn: Turn) -> tuple[Answer | None, int | None, Reason | None, str]:
        """The answer, its status as judged, why it does not answer, and that in words."""

        async def on_event(name: str, _: Mapping[str, Any]) -> None:
            if name.endswith("send_request_body.complete"):
                turn.departed()
            elif name.endswith("receive_response_headers.complete"):
                turn.arrived()

        assert request.route is not None, "the gateway refuses what the API has no route for"
        upstream_request = self._client.build_request(
            request.method,
            self._base + request.route.path,
            params=list(request.parameters),
            content=request.body or None,
            headers={"content-type": "application/json"} if request.body else None,
            extensions={"trace": on_event},
        )
        try:
            answer = await exchange(self._client, upstream_request, LARGEST_ANSWER_BYTES, self._settings.timeout_seconds)
        except httpx.TimeoutException:
            return None, None, Reason.TIMEOUT, f"{self.host} did not answer within {self._settings.timeout_seconds:g} s"
        except (AnswerTooLargeError, AnswerUnreadableError) as error:
            return None, None, Reason.MALFORMED_ANSWER, f"{self.host}: {error}"
        except httpx.HTTPError as error:
            return None, None, Reason.UNREACHABLE, f"{self.host}: {type(error).__name__}"
        finally:
            turn.arrived()
        answer, status = _judged(answer)
        _LOG.info("upstream %s %s %s", request.method, request.path, status)
        malformed = status == 502 and answer.status == 200
        if status == 429:
            reason: Reason | None = Reason.RATE_LIMITED
        elif status >= 500:
            reason = Reason.MALFORMED_ANSWER if malformed else Reason.SERVER_ERROR
        else:
            reason = None
        return answer, status, reason, f"{self.host} answered {_words(status, malformed)}"

    def _count(self, endpoint: str, attempt: Attempt) -> None:
        unanswered = attempt.status is None or attempt.reason == Reason.MALFORMED_ANSWER
        outcome = str(attempt.reason if unanswered else attempt.status)
        self.outcomes[endpoint, outcome] += 1
        upstream_answered(endpoint, outcome, attempt.latency_seconds, attempt.wait_seconds)
        self.wait_seconds += attempt.wait_seconds
        self.latency_seconds += attempt.latency_seconds
        if self.record is not None:
            self.record.ended(attempt)

    def _circuit_open(self, effort: _Effort) -> Reply:
        effort.detail = f"{self.host} has not answered for a while; asking again later"
        return self._given_up(effort, Reason.CIRCUIT_OPEN)

    def _given_up(self, effort: _Effort, reason: Reason) -> Reply:
        self.given_up[reason] += 1
        tries = f" ({len(effort.attempts)} attempts)" if effort.attempts else ""
        return could_not_look(reason, effort.detail + tries, effort.wait_seconds, tuple(effort.attempts))

    def _backoff_seconds(self, attempt: int) -> float:
        longest = min(self._settings.retry_base_seconds * 2.0 ** (attempt - 1), _LONGEST_BACKOFF_SECONDS)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 -- jitter, not a secret

    def statistics(self) -> dict[str, Any]:
        """Since the start; `hours` from the record, over restarts."""
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


def _judged(answer: Answer) -> tuple[Answer, int]:
    """The answer as JSON that every client reads, and its status; a 200 which is no whole answer counts as the server error it is."""
    if answer.status != 200:
        return answer, answer.status
    try:
        body = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        answer = replace(answer, content=mended_json(answer.content))
        try:
            body = orjson.loads(answer.content)
        except orjson.JSONDecodeError:
            return answer, 502
    timed_out = isinstance(body, dict) and set(body) == {"message"} and _TIMED_OUT in answer.content
    return answer, 504 if timed_out else 200


def _words(status: int, malformed: bool) -> str:
    return "with broken JSON" if malformed else str(status)
