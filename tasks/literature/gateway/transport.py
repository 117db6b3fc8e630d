"""Requests to the live API: in turn, retried within bounds, never hidden when they fail."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import orjson

from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.literature.gateway.messages import Attempt, Reply, Request, could_not_look
from tasks.literature.gateway.storage import RequestRecord
from tasks.telemetry.reporting import span, upstream_answered
from tasks.web.arrival_limiter import ArrivalLimiter, Turn
from tasks.web.client import Secrets, open_client, web_address
from tasks.web.decoding import mended_json
from tasks.web.exchange import Answer, NoAnswerError, exchange, reason_of_status
from tasks.web.headers import retry_after_seconds
from tasks.web.retrying import RetryPolicy, Tried
from tasks.web.shared_limits import CircuitBreaker, CircuitState

_LOG = logging.getLogger("assay.gateway")
# A wait of hours, asked for by mistake, must not stop all work.
_LONGEST_BACKOFF_SECONDS = 60.0
_TIMED_OUT = b"Endpoint request timed out"

LARGEST_ANSWER_BYTES = 32_000_000
"""Unpacked. The API itself refuses answers above 10 MB."""

MakeRequest = Callable[[], Request]


@dataclass(slots=True)
class _Effort:
    """What one look-up has cost so far; `request` is made when its first turn has come."""

    retry_gateway_timeout: bool
    attempts: list[Attempt] = field(default_factory=list)
    wait_seconds: float = 0.0
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one request gave: its answer, with the status as judged, or why it does not answer."""

    answer: Answer | None
    reason: Reason | None
    detail: str

    @property
    def status(self) -> int | None:
        return self.answer.status if self.answer is not None else None


class Transport:
    """The only place that sends to the upstream. Every attempt takes its turn at one limiter."""

    def __init__(self, settings: Settings, breaker: CircuitBreaker | None = None) -> None:
        literature = settings.literature
        key = settings.semantic_scholar_api_key
        self._secrets = Secrets(headers={"x-api-key": key} if key else {})
        self._settings = literature
        self._base = literature.upstream_url.rstrip("/")
        self._client = open_client(literature.timeout_seconds)
        self._policy = RetryPolicy.of(literature)
        self.limiter = ArrivalLimiter(literature.requests_per_second)
        self.breaker = breaker or CircuitBreaker()
        self.record: RequestRecord | None = None
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.given_up: Counter[str] = Counter()
        self.wait_seconds = 0.0
        self.latency_seconds = 0.0

    @property
    def host(self) -> str:
        return web_address(self._base).netloc.decode("ascii")

    async def ask(self, make: MakeRequest, *, retry_gateway_timeout: bool = True) -> Reply:
        """Send the request that `make` gives once its turn has come (so that it can still grow
        while it waits).

        429, 5xx, timeouts, dropped connections and broken JSON are tried again with jitter, within
        the bounds of the settings; then the reply says "could not look" with the reason. Everything
        else is returned as it is. With `retry_gateway_timeout` off a 504 is returned at once, for
        callers that ask again with less.
        """
        effort = _Effort(retry_gateway_timeout)

        async def attempt(_: int) -> Tried[Reply]:
            return await self._tried(make, effort)

        last = await self._policy.run(attempt)
        if last.reason is not None:
            self.given_up[last.reason] += 1
        return last

    async def _tried(self, make: MakeRequest, effort: _Effort) -> Tried[Reply]:
        """One attempt, unless the circuit is open. Waiting for the turn is not counted."""
        if self.breaker.state is CircuitState.OPEN:
            return Tried(self._circuit_open(effort))
        turn = await self.limiter.turn()
        effort.wait_seconds += turn.waited_seconds
        # The wait may have been long, and the circuit may have opened meanwhile.
        if not self.breaker.allows():
            turn.departed()
            return Tried(self._circuit_open(effort))
        # Made only now: look-ups that came during the wait travel along.
        effort.request = effort.request or make()
        started = time.monotonic()
        outcome = await self._attempt(effort.request, effort, turn)
        wait_seconds = self._learnt(outcome, turn)
        busy_seconds = time.monotonic() - started
        wanted = outcome.status == 504 and not effort.retry_gateway_timeout
        if outcome.answer is not None and (outcome.reason is None or wanted):
            return Tried(self._reply(outcome.answer, effort), busy_seconds=busy_seconds)
        reply = self._could_not_look(effort, outcome.reason or Reason.SERVER_ERROR, outcome.detail)
        again = reply.reason is not None and reply.reason.again_at_once
        return Tried(reply, again, wait_seconds, busy_seconds)

    async def _attempt(self, request: Request, effort: _Effort, turn: Turn) -> _Outcome:
        """One request, recorded."""
        request_id, sent_at, started = uuid4().hex, time.time(), time.monotonic()
        endpoint, look_ups, number = request.endpoint, request.look_ups, len(effort.attempts) + 1
        waited_seconds = turn.waited_seconds
        if self.record is not None:
            self.record.sent(request_id, endpoint, look_ups, number, waited_seconds, sent_at)
        with span(
            "upstream request",
            kind="client",
            endpoint=endpoint,
            attempt=number,
            look_ups=look_ups,
        ) as spanned:
            outcome = await self._exchange(request, turn)
            status, reason = outcome.status, outcome.reason
            spanned.note(status=status, wait_seconds=waited_seconds)
            if reason is not None:
                spanned.fail(reason)
        latency_seconds = time.monotonic() - started
        attempt = Attempt(
            request_id,
            status,
            reason,
            waited_seconds,
            latency_seconds,
            look_ups,
            sent_at,
        )
        effort.attempts.append(attempt)
        self._count(endpoint, attempt)
        return outcome

    async def _exchange(self, request: Request, turn: Turn) -> _Outcome:
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
        except NoAnswerError as gone:
            too_large = gone.reason == Reason.TOO_LARGE  # no question of ours asks for so much
            reason = Reason.MALFORMED_ANSWER if too_large else gone.reason
            return _Outcome(None, reason, f"{self.host}: {gone}")
        finally:
            turn.arrived()
        judged = _judged(answer)
        _LOG.info("upstream %s %s %s", request.method, request.path, judged.status)
        malformed = judged.status == 502 and answer.status == 200
        detail = f"{self.host} answered {'with broken JSON' if malformed else judged.status}"
        reason = Reason.MALFORMED_ANSWER if malformed else reason_of_status(judged.status)
        return _Outcome(judged, reason if reason.again_at_once else None, detail)

    def _learnt(self, outcome: _Outcome, turn: Turn) -> float:
        """Tell breaker and limiter how it went; the seconds the upstream asks to wait."""
        if outcome.reason is None:
            self.limiter.accepted()
            self.breaker.answered()
            return 0.0
        self.breaker.failed()
        if outcome.answer is None or outcome.status != 429:
            return 0.0
        self.limiter.refused(turn)
        told_seconds = retry_after_seconds(outcome.answer.headers.get("retry-after")) or 0.0
        wait_seconds = min(told_seconds, _LONGEST_BACKOFF_SECONDS)
        self.limiter.hold_back(wait_seconds)
        return wait_seconds

    def _count(self, endpoint: str, attempt: Attempt) -> None:
        unanswered = attempt.status is None or attempt.reason == Reason.MALFORMED_ANSWER
        outcome = str(attempt.reason if unanswered else attempt.status)
        self.outcomes[endpoint, outcome] += 1
        upstream_answered(endpoint, outcome, attempt.latency_seconds, attempt.wait_seconds)
        self.wait_seconds += attempt.wait_seconds
        self.latency_seconds += attempt.latency_seconds
        if self.record is not None:
            self.record.ended(attempt)

    def _reply(self, answer: Answer, effort: _Effort) -> Reply:
        attempts = tuple(effort.attempts)
        return Reply(
            answer.status,
            answer.content,
            wait_seconds=effort.wait_seconds,
            attempts=attempts,
            share=float(len(attempts)),
        )

    def _circuit_open(self, effort: _Effort) -> Reply:
        detail = f"{self.host} has not answered for a while; asking again later"
        return self._could_not_look(effort, Reason.CIRCUIT_OPEN, detail)

    def _could_not_look(self, effort: _Effort, reason: Reason, detail: str) -> Reply:
        tries = f" ({len(effort.attempts)} attempts)" if effort.attempts else ""
        return could_not_look(reason, detail + tries, effort.wait_seconds, tuple(effort.attempts))

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


def _judged(answer: Answer) -> Answer:
    """The answer as JSON that every client reads; a 200 which is no whole answer gets the status of
    the server error it is.
    """
    if answer.status != 200:
        return answer
    try:
        body = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        answer = replace(answer, content=mended_json(answer.content))
        try:
            body = orjson.loads(answer.content)
        except orjson.JSONDecodeError:
            return replace(answer, status=502)
    # The API's front door says so with a 200 and nothing else in it.
    timed_out = isinstance(body, dict) and set(body) == {"message"} and _TIMED_OUT in answer.content
    return replace(answer, status=504) if timed_out else answer
