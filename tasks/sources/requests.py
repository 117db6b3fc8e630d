"""Requests to a source: in turn, retried within bounds, each a row in the ledger, each failure a value."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar
from uuid import uuid4

import httpx

from schemas.calls import ApiCall
from schemas.errors import BudgetExhaustedError, RequestRejectedError
from schemas.identifiers import content_hash
from schemas.reasons import Reason
from schemas.retrieval import SourceFailure
from schemas.settings import SourceSettings
from tasks.accounting.limits import SharedRateLimit
from tasks.sources.circuit import SharedCircuit
from tasks.sources.exchange import NoReply, exchanged
from tasks.sources.fields import UnreadableAnswer, one_line, without_markup
from tasks.sources.kept_answers import KeptAnswers
from tasks.sources.turns import alone
from tasks.sources.upstream import Desk, Question, Reply, Upstream
from tasks.telemetry.tracing import span

_LONGEST_PAUSE_SECONDS = 60.0
_DETAIL_LENGTH = 300
PageT = TypeVar("PageT")


@dataclass(frozen=True, slots=True)
class Fetched(Generic[PageT]):
    """What a question gave: a page, or the reason why there is none."""

    page: PageT | None = None
    failure: SourceFailure | None = None


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[PageT]):
    page: PageT | None
    reason: Reason | None
    detail: str
    wait_told_seconds: float = 0.0
    body: bytes = b""


class SourceRequests:
    """All requests of one source for one idea.

    429, 5xx, timeouts, dropped connections and broken bodies are tried again with jitter, within the attempts and
    seconds of the settings. What a 429 asks to wait holds back every process of the machine.
    """

    def __init__(self, upstream: Upstream, desk: Desk, settings: SourceSettings) -> None:
        self._upstream = upstream
        self._desk = desk
        self._settings = settings
        self._limit = SharedRateLimit(desk.limits_folder, f"source {upstream.limit_name}", upstream.per_minute)
        self._turn_path = desk.limits_folder / f"{content_hash('turn', upstream.limit_name, length=16)}.turn"
        self._circuit = SharedCircuit(desk.limits_folder, f"{upstream.limit_name} {upstream.base_url}")
        self._kept = KeptAnswers(desk.answers, upstream, desk.limits_folder / "questions") if desk.answers is not None else None
        self._cost = 1.0

    async def fetch(
        self, question: Question, read: Callable[[Reply], PageT], worth_keeping: Callable[[PageT], bool] = lambda _: True
    ) -> Fetched[PageT]:
        """The page kept from before, or one asked for until there is one or no more can be done.

        `read` raises UnreadableAnswer for what is not the documented shape (tried again) and RequestRejectedError
        for a refusal in the shape of an answer (final).
        """
        if self._kept is None:
            return (await self._asked(question, read))[0]
        if (page := self._page_kept(question, read)) is not None:
            return Fetched(page)
        async with self._kept.asking(question):
            if (page := self._page_kept(question, read)) is not None:
                return Fetched(page)
            fetched, body = await self._asked(question, read)
            if fetched.page is not None and worth_keeping(fetched.page):
                self._kept.put(question, body)
            return fetched

    def _page_kept(self, question: Question, read: Callable[[Reply], PageT]) -> PageT | None:
        body = self._kept.get(question) if self._kept is not None else None
        if body is None:
            return None
        try:
            page = read(Reply(200, httpx.Headers(), body))
        except (UnreadableAnswer, RequestRejectedError):  # kept by a version that read it otherwise
            return None
        self._record(question, 200, None, 0.0, 0.0, datetime.now(UTC), cache_hit=True)
        return page

    async def _asked(self, question: Question, read: Callable[[Reply], PageT]) -> tuple[Fetched[PageT], bytes]:
        """The page and the body it was read from."""
        attempts, busy_seconds = 0, 0.0
        while True:
            attempts += 1
            if not self._circuit.allows():
                detail = f"{self._upstream.source} has not answered for a while; asking again later"
                return Fetched(failure=self.failure(question, Reason.CIRCUIT_OPEN, detail)), b""
            try:
                if self._desk.on_request is not None:
                    self._desk.on_request()
            except BudgetExhaustedError as error:
                return Fetched(failure=self.failure(question, error.reason, str(error))), b""
            started = time.monotonic()
            attempt, waited_seconds = await self._attempt(question, read, attempts)
            busy_seconds += time.monotonic() - started - waited_seconds
            if attempt.reason is not None and attempt.reason.again_at_once:
                self._circuit.failed()
            else:
                self._circuit.answered()
            if attempt.reason is None:
                return Fetched(attempt.page), attempt.body
            pause_seconds = max(self._backoff_seconds(attempts), attempt.wait_told_seconds)
            bounded = attempts < self._settings.maximum_attempts and busy_seconds + pause_seconds <= self._settings.maximum_total_seconds
            if not attempt.reason.again_at_once or not bounded:
                tries = f" ({attempts} attempts)" if attempts > 1 else ""
                return Fetched(failure=self.failure(question, attempt.reason, attempt.detail + tries)), b""
            await asyncio.sleep(pause_seconds)
            busy_seconds += pause_seconds

    def failure(self, question: Question, reason: Reason, detail: str) -> SourceFailure:
        """A failure on one line, without secrets."""
        line = one_line(self._upstream.secrets.scrubbed(detail))[:_DETAIL_LENGTH]
        return SourceFailure(source=self._upstream.source, endpoint=question.path, reason=reason, detail=line)

    async def _attempt(self, question: Question, read: Callable[[Reply], PageT], number: int) -> tuple[_Attempt[PageT], float]:
        """One request and its row. Returns also the seconds waited for its turn."""
        started = time.monotonic()
        if self._upstream.one_at_a_time:
            async with alone(self._turn_path):
                try:
                    return await self._sent(question, read, started, number)
                finally:
                    self._limit.space()
        return await self._sent(question, read, started, number)

    async def _sent(self, question: Question, read: Callable[[Reply], PageT], started: float, number: int) -> tuple[_Attempt[PageT], float]:
        await self._limit.take(self._cost)
        waited_seconds = time.monotonic() - started
        sent_at, created_at = time.monotonic(), datetime.now(UTC)
        reply: Reply | None = None
        try:
            with span("source request", kind="client", source=self._upstream.source, attempt=number):
                reply = await exchanged(self._desk.http, self._upstream, question, self._settings)
            attempt = self._judged(reply, read)
        except NoReply as gone:
            attempt = _Attempt(None, gone.reason, str(gone))
        status = reply.status if reply else None
        self._record(question, status, attempt.reason, waited_seconds, time.monotonic() - sent_at, created_at, attempt=number)
        return attempt, waited_seconds

    def _judged(self, reply: Reply, read: Callable[[Reply], PageT]) -> _Attempt[PageT]:
        self._keep_to(reply)
        if reply.status != 200:
            reason = self._upstream.reason(reply)
            wait_seconds = self._upstream.asks_to_wait_seconds(reply) if reason.again_at_once else 0.0
            mend = f"{hint}; " if (hint := self._upstream.mend.get(reason)) else ""
            return _Attempt(None, reason, f"{mend}it answered {reply.status}: {_told(reply)}", wait_seconds)
        try:
            return _Attempt(read(reply), None, "", body=reply.content)
        except RequestRejectedError as error:
            return _Attempt(None, Reason.BAD_REQUEST, str(error))
        except ValueError as error:  # `UnreadableAnswer`, or what no reader thought of
            return _Attempt(None, Reason.MALFORMED_ANSWER, str(error))

    def _keep_to(self, reply: Reply) -> None:
        """Slow down to what the answer allows: a lower rate, a pause, or, after a 429, at least a moment."""
        wait_seconds = self._upstream.asks_to_wait_seconds(reply)
        if reply.status == 429:
            wait_seconds = max(wait_seconds, self._settings.retry_base_seconds)
        if 0 < wait_seconds <= _LONGEST_PAUSE_SECONDS or reply.status == 429:
            self._limit.penalise(min(wait_seconds, _LONGEST_PAUSE_SECONDS))
        allowed = self._upstream.allowed_per_minute(reply)
        if allowed is not None and allowed > 0:
            cost = max(self._upstream.per_minute / allowed, 1.0)
            self._limit.settle(max(cost - self._cost, 0.0))
            self._cost = cost

    def _backoff_seconds(self, attempt: int) -> float:
        longest = min(self._settings.retry_base_seconds * 2.0 ** (attempt - 1), _LONGEST_PAUSE_SECONDS)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 -- jitter, not a secret

    def _record(
        self,
        question: Question,
        status: int | None,
        reason: Reason | None,
        wait: float,
        latency: float,
        created_at: datetime,
        cache_hit: bool = False,
        attempt: int = 1,
    ) -> None:
        call = ApiCall(
            call_id=uuid4().hex,
            idea_id=self._desk.ledger.idea_id,
            source=self._upstream.source,
            endpoint=question.path,
            status=status,
            failure_reason=reason if reason else None,
            wait_seconds=wait,
            latency_seconds=latency,
            cache_hit=cache_hit,
            packed=question.packed,
            upstream_requests=0 if cache_hit else 1,
            attempt=attempt,
            created_at=created_at,
        )
        self._desk.ledger.api_calls.append(call)


def _told(reply: Reply) -> str:
    """The beginning of what the other side says about its refusal; a web page says nothing."""
    text = reply.content[:2000].decode("utf-8", "replace").strip()
    if "<html" in text[:200].lower() or "<!doctype" in text[:200].lower():
        return "a web page"
    return (without_markup(text) if text[:1] == "<" else text) or "nothing more"
