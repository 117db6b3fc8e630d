"""Requests to the live API: in turn, retried within bounds, never hidden when they fail."""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from schemas.settings import Settings
from tasks.literature.gateway.circuit_breaker import CircuitBreaker, CircuitState
from tasks.literature.gateway.limiter import RateLimiter, Turn
from tasks.literature.gateway.messages import Reply, Request, could_not_look

_LOG = logging.getLogger("assay.gateway")
_LONGEST_BACKOFF_SECONDS = 60.0
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=60.0)
_RETRIED = frozenset({429, 500, 502, 503, 504})
_TIMED_OUT = b"Endpoint request timed out"

MakeRequest = Callable[[], Request]


@dataclass(slots=True)
class _Effort:
    """What one look-up has cost so far. Waiting for the turn does not count against its total seconds."""

    attempts: int = 0
    wait_seconds: float = 0.0
    busy_seconds: float = 0.0
    reason: str = "server_error"
    detail: str = ""


class Transport:
    """The only place that sends to the upstream. Every attempt takes its turn at one limiter."""

    def __init__(
        self,
        settings: Settings,
        limiter: RateLimiter | None = None,
        breaker: CircuitBreaker | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        literature = settings.literature
        key = settings.semantic_scholar_api_key
        headers = {"x-api-key": key.get_secret_value()} if key else {}
        self._settings = literature
        self._base = literature.upstream_url.rstrip("/")
        self._client = client or httpx.AsyncClient(timeout=literature.timeout_seconds, headers=headers, limits=_LIMITS)
        self.limiter = limiter or RateLimiter(literature.requests_per_second)
        self.breaker = breaker or CircuitBreaker()
        self.outcomes: Counter[str] = Counter()

    @property
    def host(self) -> str:
        return httpx.URL(self._base).netloc.decode("ascii")

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
                return self._given_up(effort, "circuit_open", f"{self.host} has not answered for a while; asking again later")
            turn = await self.limiter.turn()
            effort.wait_seconds += turn.waited_seconds
            request = request or make()
            if not self.breaker.allows():
                turn.departed()
                return self._given_up(effort, "circuit_open", f"{self.host} has not answered for a while; asking again later")
            started = time.monotonic()
            reply, backoff_seconds = await self._attempt(request, effort, turn)
            effort.busy_seconds += time.monotonic() - started
            if reply is not None and (reply.status not in _RETRIED or (reply.status == 504 and not retry_gateway_timeout)):
                return reply
            spent = effort.busy_seconds + backoff_seconds
            if effort.attempts >= self._settings.maximum_attempts or spent > self._settings.maximum_total_seconds:
                return self._given_up(effort, effort.reason, f"{effort.detail} ({effort.attempts} attempts)")
            await asyncio.sleep(backoff_seconds)
            effort.busy_seconds += backoff_seconds

    async def _attempt(self, request: Request, effort: _Effort, turn: Turn) -> tuple[Reply | None, float]:
        """One request. Returns the reply, if any, and how long to wait before another."""
        effort.attempts += 1
        backoff_seconds = self._backoff_seconds(effort.attempts)

        async def on_event(name: str, _: Mapping[str, Any]) -> None:
            if name.endswith("send_request_body.complete"):
                turn.departed()

        try:
            response = await self._client.request(
                request.method,
                self._base + quote(request.path, safe="/:,"),
                params=list(request.parameters),
                content=request.body or None,
                headers={"content-type": "application/json"} if request.body else None,
                extensions={"trace": on_event},
            )
        except httpx.TimeoutException:
            self._failed(effort, "timeout", f"{self.host} did not answer within {self._settings.timeout_seconds:g} s")
            return None, backoff_seconds
        except httpx.HTTPError as error:
            self._failed(effort, "unreachable", f"{self.host}: {type(error).__name__}")
            return None, backoff_seconds
        finally:
            turn.departed()
        status = _judged_status(response)
        self.outcomes[str(status)] += 1
        _LOG.info("upstream %s %s %s", request.method, request.path, status)
        reply = Reply(status, response.content, wait_seconds=effort.wait_seconds, upstream_requests=effort.attempts)
        if status == 429:
            self.limiter.refused()
            effort.reason, effort.detail = "rate_limited", f"{self.host} answered 429"
            return reply, max(backoff_seconds, _retry_after_seconds(response))
        if status >= 500:
            malformed = status == 502 and response.status_code == 200
            self._failed(effort, "malformed_answer" if malformed else "server_error", f"{self.host} answered {_words(status, malformed)}")
            return reply, backoff_seconds
        self.limiter.accepted()
        self.breaker.succeeded()
        return reply, backoff_seconds

    def _failed(self, effort: _Effort, reason: str, detail: str) -> None:
        self.breaker.failed()
        if reason in ("timeout", "unreachable"):
            self.outcomes[reason] += 1
        effort.reason, effort.detail = reason, detail

    def _given_up(self, effort: _Effort, reason: str, detail: str) -> Reply:
        self.outcomes[f"gave_up_{reason}"] += 1
        return could_not_look(reason, detail, effort.wait_seconds, effort.attempts)

    def _backoff_seconds(self, attempt: int) -> float:
        longest = min(self._settings.retry_base_seconds * 2.0 ** (attempt - 1), _LONGEST_BACKOFF_SECONDS)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 -- jitter, not a secret

    def statistics(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "requests": self.limiter.granted,
            "allowed_per_second": self._settings.requests_per_second,
            "outcomes": dict(self.outcomes),
            "circuit": self.breaker.state.value,
        }

    async def close(self) -> None:
        await self._client.aclose()


def _judged_status(response: httpx.Response) -> int:
    """The status, except that a 200 which is no whole answer counts as the server error it is."""
    if response.status_code != 200:
        return response.status_code
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return 502
    timed_out = isinstance(body, dict) and set(body) == {"message"} and _TIMED_OUT in response.content
    return 504 if timed_out else 200


def _words(status: int, malformed: bool) -> str:
    return "with broken JSON" if malformed else str(status)


def _retry_after_seconds(response: httpx.Response) -> float:
    given = response.headers.get("retry-after", "")
    return min(float(given), _LONGEST_BACKOFF_SECONDS) if given.isascii() and given.isdigit() else 0.0
