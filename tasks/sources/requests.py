"""Rate-limited, retried and recorded requests to a source."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from schemas.errors import BudgetExhaustedError, RequestRejectedError
from schemas.failure import SourceFailure
from schemas.identifiers import content_hash
from schemas.reasons import Reason
from schemas.text.patterns import linear
from tasks.accounting.ledger import Ledger
from tasks.sources.fields import UnreadableAnswer, one_line
from tasks.web.calls import CachedAnswers, record_cache_hit, recorded
from tasks.web.client import Client, Secrets
from tasks.web.exchange import Answer, NoAnswerError, exchange_on_host, reason_of_status
from tasks.web.headers import retry_after_seconds as header_seconds
from tasks.web.retrying import RetryPolicy, Tried
from tasks.web.shared_limits import CircuitBreaker, SharedRateLimit, alone
from warehouse.stores.keyed_store import KeyedStore

_TAG = linear(r"</?[A-Za-z][^<>]*>")


@dataclass(frozen=True, slots=True)
class Question:
    """One request without its keys; with a `body`, a POST of JSON."""

    path: str
    parameters: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    packed: int = 1

    def at(self, cursor: str) -> "Question | None":
        """Return the request for the page at `cursor`.

        Returns None if it has no pages.
        """
        pages = dict(self.parameters)
        if not cursor or "cursor" not in pages:
            return None
        return replace(self, parameters=tuple((pages | {"cursor": cursor}).items()))


Reply = Answer


def usual_reason(reply: Reply) -> Reason:
    """Return the default reason of a refusal."""
    return reason_of_status(reply.status)


def retry_after_seconds(reply: Reply) -> float:
    """Return the seconds that `Retry-After` asks to wait; 0 if missing."""
    return header_seconds(reply.headers.get("retry-after")) or 0.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """Address, limits and conventions of a source.

    Attributes:
        source: name in rows and failures.
        per_minute: request limit, shared by all processes with the same folder and `limit_name`
            (default: the source).
        kept_seconds: maximum age of a cached answer.
        one_at_a_time: whether only one request may be in flight on this machine.
        mend: hints for the user by reason.
        reason: returns the reason of a refusal.
        refuses_with: (status, lower-case word) of final refusals that HTTP does not define.
        asks_to_wait_seconds: returns the wait that an answer asks for; 0: none.
        allowed_per_minute: returns the rate that an answer states, if any.
    """

    source: str
    base_url: str
    per_minute: float
    secrets: Secrets = field(default_factory=Secrets)
    limit_name: str = ""
    kept_seconds: float = 86_400.0
    one_at_a_time: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    mend: dict[Reason, str] = field(default_factory=dict)
    reason: Callable[[Reply], Reason] = usual_reason
    refuses_with: tuple[tuple[int, bytes], ...] = ()
    asks_to_wait_seconds: Callable[[Reply], float] = retry_after_seconds
    allowed_per_minute: Callable[[Reply], float | None] = lambda _: None

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit_name", self.limit_name or self.source)


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The ledger of an idea, the HTTP client and the shared limits of requests.

    Attributes:
        limits_folder: shared by all processes of the machine.
        on_request: called before each request; may raise BudgetExhaustedError.
        answers: cache of good answers; None: no cache.
    """

    http: Client
    ledger: Ledger
    limits_folder: Path
    on_request: Callable[[], None] | None = None
    answers: KeyedStore | None = None


# Limit of a pause of all processes of the machine because of one answer.
RETRIES = RetryPolicy(4, 90.0)  # of one request, without its wait for a turn
TIMEOUT_SECONDS = 30.0  # for one complete answer
MAXIMUM_BYTES = 10_000_000  # of one answer, unpacked
_LONGEST_PAUSE_SECONDS = 60.0
_DETAIL_LENGTH = 300
_STRIPE_LENGTH = 3
"""Letters of a key in the name of its lock: enough that few requests share a lock."""

PageT = TypeVar("PageT")


@dataclass(frozen=True, slots=True)
class FetchResult(Generic[PageT]):
    """A page with its body, or a failure."""

    page: PageT | None = None
    failure: SourceFailure | None = None
    body: bytes = b""


class SourceRequests:
    """The requests of one idea to one source.

    429, 5xx, timeouts, dropped connections and broken bodies are retried with jitter, within the
    limits of `RETRIES`. A wait asked for by a 429 delays every process of the machine.
    """

    def __init__(
        self, upstream: Upstream, context: SourceContext, maximum_bytes: int | None = None
    ) -> None:
        self._upstream = upstream
        self._context = context
        self._maximum_bytes = maximum_bytes or MAXIMUM_BYTES
        self._limit = SharedRateLimit(
            context.limits_folder, f"source {upstream.limit_name}", upstream.per_minute
        )
        self._turn_path = (
            context.limits_folder / f"{content_hash('turn', upstream.limit_name, length=16)}.turn"
        )
        service = f"{upstream.limit_name} {upstream.base_url}"
        name = f"{content_hash('circuit', service, length=16)}.breaker"
        self._circuit = CircuitBreaker(context.limits_folder / name)
        store, seconds = context.answers, upstream.kept_seconds
        self._cache = CachedAnswers(store, seconds) if store is not None else None
        self._cost = 1.0

    async def fetch(
        self,
        question: Question,
        read: Callable[[Reply], PageT],
        worth_keeping: Callable[[PageT], bool] = lambda _: True,
    ) -> FetchResult[PageT]:
        """Return the cached page, or fetch it with retries.

        `read` raises UnreadableAnswer for an undocumented shape (retried) and RequestRejectedError
        for a refusal with status 200 (final).
        """

        async def attempt(number: int) -> Tried[FetchResult[PageT]]:
            return await self._attempt(question, read, number)

        if self._cache is None:
            return await RETRIES.run(attempt)
        key = self._key(question)
        if (page := self._cached_page(key, question, read)) is not None:
            return FetchResult(page)
        stripe = f"{key[:_STRIPE_LENGTH]}.question"
        async with alone(self._context.limits_folder / "questions" / stripe):
            # Another process may have cached the answer while this one waited for the lock.
            if (page := self._cached_page(key, question, read)) is not None:
                return FetchResult(page)
            result = await RETRIES.run(attempt)
            if result.page is not None and worth_keeping(result.page):
                self._cache.put({key: result.body})
            return result

    def _key(self, question: Question) -> str:
        """Return the cache key, which has no secrets: those are added to the request later."""
        parameters = [part for pair in question.parameters for part in pair]
        body = (question.body or b"").decode("utf-8", "replace")
        source, root = self._upstream.source, self._upstream.base_url
        return content_hash("answer", source, root, question.path, body, *parameters)

    def _cached_page(
        self, key: str, question: Question, read: Callable[[Reply], PageT]
    ) -> PageT | None:
        body = self._cache.get([key]).get(key) if self._cache is not None else None
        if body is None:
            return None
        try:
            page = read(Reply(200, {}, body))
        except (UnreadableAnswer, RequestRejectedError):  # cached by another version
            return None
        source, packed_count = self._upstream.source, question.packed
        record_cache_hit(self._context.ledger, source, question.path, packed=packed_count)
        return page

    async def _attempt(
        self, question: Question, read: Callable[[Reply], PageT], number: int
    ) -> Tried[FetchResult[PageT]]:
        source = self._upstream.source
        if not self._circuit.allows():
            detail = f"{source} has not answered for a while; asking again later"
            return Tried(FetchResult(failure=self.failure(question, Reason.CIRCUIT_OPEN, detail)))
        try:
            if self._context.on_request is not None:
                self._context.on_request()
        except BudgetExhaustedError as error:
            return Tried(FetchResult(failure=self.failure(question, error.reason, str(error))))
        columns = {"packed": question.packed, "attempt": number}
        start_time = time.monotonic()
        async with self._turn():
            sent_at = time.monotonic()
            row = recorded(self._context.ledger, source, question.path, "source request", **columns)
            with row as call:
                call.wait_seconds = sent_at - start_time
                try:
                    reply = await self._send(question)
                    call.status = reply.status
                    outcome = self._outcome_of(reply, question, read, number)
                except NoAnswerError as no_answer:
                    failure = self.failure(
                        question, no_answer.reason, f"{no_answer}{_tries(number)}"
                    )
                    outcome = Tried(FetchResult(failure=failure), no_answer.reason.again_at_once)
                final_failure = outcome.result.failure
                call.reason = None if final_failure is None else final_failure.reason
        if outcome.again:
            self._circuit.failed()
        else:
            self._circuit.answered()
        return replace(outcome, busy_seconds=time.monotonic() - sent_at)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for the rate limit, and for exclusive access if the terms require it."""
        if not self._upstream.one_at_a_time:
            await self._limit.take(self._cost)
            yield
            return
        async with alone(self._turn_path):
            await self._limit.take(self._cost)
            try:
                yield
            finally:
                self._limit.space()

    def failure(self, question: Question, reason: Reason, detail: str) -> SourceFailure:
        """Return a failure on one line, without secrets."""
        line = one_line(self._upstream.secrets.scrubbed(detail))[:_DETAIL_LENGTH]
        return SourceFailure(
            source=self._upstream.source, endpoint=question.path, reason=reason, detail=line
        )

    async def _send(self, question: Question) -> Reply:
        """Send the request.

        Redirects are followed only on the same host, because of the keys.
        """
        upstream = self._upstream
        of_body = {} if question.body is None else {"content-type": "application/json"}
        return await exchange_on_host(
            self._context.http,
            "GET" if question.body is None else "POST",
            upstream.base_url.rstrip("/") + question.path,
            secrets=upstream.secrets,
            maximum_bytes=self._maximum_bytes,
            timeout_seconds=TIMEOUT_SECONDS,
            params=question.parameters,
            content=question.body,
            headers={**upstream.headers, **of_body},
        )

    def _outcome_of(
        self, reply: Reply, question: Question, read: Callable[[Reply], PageT], number: int
    ) -> Tried[FetchResult[PageT]]:
        self._apply_limits(reply)
        wait_seconds = 0.0
        if reply.status != 200:
            refusals, content = self._upstream.refuses_with, reply.content.lower()
            is_final = any(reply.status == status and word in content for status, word in refusals)
            reason = Reason.FORBIDDEN if is_final else self._upstream.reason(reply)
            hint_text = f"{hint}; " if (hint := self._upstream.mend.get(reason)) else ""
            detail = f"{hint_text}it answered {reply.status}: {_refusal_text(reply)}"
            retry, wait_seconds = reason.again_at_once, self._upstream.asks_to_wait_seconds(reply)
        else:
            try:
                return Tried(FetchResult(read(reply), body=reply.content))
            except RequestRejectedError as error:
                reason, detail, retry = Reason.BAD_REQUEST, str(error), False
            except ValueError as error:  # `UnreadableAnswer`, or an unexpected value
                reason, detail, retry = Reason.MALFORMED_ANSWER, str(error), True
        failure = self.failure(question, reason, detail + _tries(number))
        return Tried(FetchResult(failure=failure), retry, wait_seconds)

    def _apply_limits(self, reply: Reply) -> None:
        """Apply a stated rate or pause.

        After a 429 there is at least a short pause.
        """
        wait_seconds = self._upstream.asks_to_wait_seconds(reply)
        if reply.status == 429:
            wait_seconds = max(wait_seconds, RETRIES.first_pause_seconds)
        if 0 < wait_seconds <= _LONGEST_PAUSE_SECONDS or reply.status == 429:
            self._limit.penalise(min(wait_seconds, _LONGEST_PAUSE_SECONDS))
        allowed_per_minute = self._upstream.allowed_per_minute(reply)
        if allowed_per_minute is not None and allowed_per_minute > 0:
            cost = max(self._upstream.per_minute / allowed_per_minute, 1.0)
            self._limit.settle(max(cost - self._cost, 0.0))
            self._cost = cost


def _refusal_text(reply: Reply) -> str:
    text = reply.content[:2000].decode("utf-8", "replace").strip()
    if "<html" in text[:200].lower() or "<!doctype" in text[:200].lower():
        return "a web page"
    return (one_line(_TAG.sub(" ", text)) if text[:1] == "<" else text) or "nothing more"


def _tries(number: int) -> str:
    return f" ({number} attempts)" if number > 1 else ""
