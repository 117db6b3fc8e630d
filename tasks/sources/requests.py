"""Requests to a source: in turn, retried within bounds, each a row in the ledger, each failure a
value.
"""

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
from schemas.settings import SourceSettings
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
    """One request, without its keys. A `body` makes it a POST of JSON."""

    path: str
    parameters: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    packed: int = 1

    def at(self, cursor: str) -> "Question | None":
        """The same for the page at `cursor`; None where it was not asked page by page."""
        pages = dict(self.parameters)
        if not cursor or "cursor" not in pages:
            return None
        return replace(self, parameters=tuple((pages | {"cursor": cursor}).items()))


Reply = Answer


def usual_reason(reply: Reply) -> Reason:
    """The meaning of a refusal where the source has no ways of its own."""
    return reason_of_status(reply.status)


def retry_after_seconds(reply: Reply) -> float:
    """Seconds that `Retry-After` asks to wait; 0 where it asks for nothing."""
    return header_seconds(reply.headers.get("retry-after")) or 0.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """A source as the requests see it.

    Attributes:
        source: name in rows and failures.
        per_minute: requests allowed; shared by every process that names the same folder and
            `limit_name`, which is that of the source where none is given.
        kept_seconds: how old a kept answer may be that is given instead of asking again.
        one_at_a_time: whether a request may only leave when no other is under way on this machine.
        mend: what a user can do about a reason.
        reason: what a refusal means.
        refuses_with: status and word, in lower case, of refusals for good that HTTP does not know.
        asks_to_wait_seconds: how long an answer, refused or not, asks to hold back everything; 0:
            not at all.
        allowed_per_minute: the rate an answer states, if it states one.
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
    """One idea's ledger, one task run's client, the machine's limits.

    Attributes:
        limits_folder: shared by all processes of the machine.
        on_request: called before each request; may raise BudgetExhaustedError.
        answers: where good answers are kept for the next who asks; None: nowhere.
    """

    http: Client
    ledger: Ledger
    limits_folder: Path
    on_request: Callable[[], None] | None = None
    answers: KeyedStore | None = None


# The longest that one answer may hold back every process of the machine.
_LONGEST_PAUSE_SECONDS = 60.0
_DETAIL_LENGTH = 300
_STRIPE_LENGTH = 3
"""So many letters of a key name the lock of its question: enough that few others share it."""

PageT = TypeVar("PageT")


@dataclass(frozen=True, slots=True)
class FetchResult(Generic[PageT]):
    """A page and the body it was read from, or the reason why there is none."""

    page: PageT | None = None
    failure: SourceFailure | None = None
    body: bytes = b""


class SourceRequests:
    """All requests of one source for one idea.

    429, 5xx, timeouts, dropped connections and broken bodies are tried again with jitter, within
    the attempts and seconds of the settings. What a 429 asks to wait holds back every process of
    the machine.
    """

    def __init__(
        self, upstream: Upstream, context: SourceContext, settings: SourceSettings
    ) -> None:
        self._upstream = upstream
        self._context = context
        self._settings = settings
        self._limit = SharedRateLimit(
            context.limits_folder, f"source {upstream.limit_name}", upstream.per_minute
        )
        self._turn_path = (
            context.limits_folder / f"{content_hash('turn', upstream.limit_name, length=16)}.turn"
        )
        service = f"{upstream.limit_name} {upstream.base_url}"
        name = f"{content_hash('circuit', service, length=16)}.breaker"
        self._circuit = CircuitBreaker(context.limits_folder / name)
        self._policy = RetryPolicy.of(settings)
        store, seconds = context.answers, upstream.kept_seconds
        self._cache = CachedAnswers(store, seconds) if store is not None else None
        self._cost = 1.0

    async def fetch(
        self,
        question: Question,
        read: Callable[[Reply], PageT],
        worth_keeping: Callable[[PageT], bool] = lambda _: True,
    ) -> FetchResult[PageT]:
        """The page kept from before, or one asked for until there is one or no more can be done.

        `read` raises UnreadableAnswer for what is not the documented shape (tried again) and
        RequestRejectedError for a refusal in the shape of an answer (final).
        """

        async def attempt(number: int) -> Tried[FetchResult[PageT]]:
            return await self._attempt(question, read, number)

        if self._cache is None:
            return await self._policy.run(attempt)
        key = self._key(question)
        if (page := self._cached_page(key, question, read)) is not None:
            return FetchResult(page)
        stripe = f"{key[:_STRIPE_LENGTH]}.question"
        async with alone(self._context.limits_folder / "questions" / stripe):
            # Whoever asked the same on this machine in the meantime has kept the answer.
            if (page := self._cached_page(key, question, read)) is not None:
                return FetchResult(page)
            result = await self._policy.run(attempt)
            if result.page is not None and worth_keeping(result.page):
                self._cache.put({key: result.body})
            return result

    def _key(self, question: Question) -> str:
        """Holds no secret: those join the request below."""
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
        except (UnreadableAnswer, RequestRejectedError):  # kept by a version that read it otherwise
            return None
        source, packed = self._upstream.source, question.packed
        record_cache_hit(self._context.ledger, source, question.path, packed=packed)
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
        asked_at = time.monotonic()
        async with self._turn():
            sent_at = time.monotonic()
            row = recorded(self._context.ledger, source, question.path, "source request", **columns)
            with row as call:
                call.wait_seconds = sent_at - asked_at
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
        """The right to send, within the allowance; alone on this machine where terms ask for it."""
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
        """A failure on one line, without secrets."""
        line = one_line(self._upstream.secrets.scrubbed(detail))[:_DETAIL_LENGTH]
        return SourceFailure(
            source=self._upstream.source, endpoint=question.path, reason=reason, detail=line
        )

    async def _send(self, question: Question) -> Reply:
        """Redirected only within the host, because keys do not follow."""
        upstream = self._upstream
        of_body = {} if question.body is None else {"content-type": "application/json"}
        return await exchange_on_host(
            self._context.http,
            "GET" if question.body is None else "POST",
            upstream.base_url.rstrip("/") + question.path,
            secrets=upstream.secrets,
            maximum_bytes=self._settings.maximum_bytes,
            timeout_seconds=self._settings.timeout_seconds,
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
            mend = f"{hint}; " if (hint := self._upstream.mend.get(reason)) else ""
            detail = f"{mend}it answered {reply.status}: {_refusal_text(reply)}"
            retry, wait_seconds = reason.again_at_once, self._upstream.asks_to_wait_seconds(reply)
        else:
            try:
                return Tried(FetchResult(read(reply), body=reply.content))
            except RequestRejectedError as error:
                reason, detail, retry = Reason.BAD_REQUEST, str(error), False
            except ValueError as error:  # `UnreadableAnswer`, or what no reader thought of
                reason, detail, retry = Reason.MALFORMED_ANSWER, str(error), True
        failure = self.failure(question, reason, detail + _tries(number))
        return Tried(FetchResult(failure=failure), retry, wait_seconds)

    def _apply_limits(self, reply: Reply) -> None:
        """Slow down to a stated rate, a pause or, after a 429, at least a moment."""
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


def _refusal_text(reply: Reply) -> str:
    """The beginning of the words of a refusal; a web page has none."""
    text = reply.content[:2000].decode("utf-8", "replace").strip()
    if "<html" in text[:200].lower() or "<!doctype" in text[:200].lower():
        return "a web page"
    return (one_line(_TAG.sub(" ", text)) if text[:1] == "<" else text) or "nothing more"


def _tries(number: int) -> str:
    return f" ({number} attempts)" if number > 1 else ""
