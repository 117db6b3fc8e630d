"""Cache of the live API's answers, and batching of the paper look-ups of all clients."""

import asyncio
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from schemas.identifiers import content_hash
from schemas.reasons import Reason
from tasks.literature.gateway.live_requests import Transport
from tasks.literature.gateway.messages import (
    BATCH_PATH,
    LARGEST_BATCH,
    NONE_KNOWN,
    Attempt,
    CacheUse,
    Reply,
    Request,
    could_not_look,
)
from tasks.literature.gateway.parameters import canonical_id
from tasks.web.calls import CachedAnswers
from warehouse.stores.keyed_store import KeyedStore

# Larger batches with nested lists are often answered with 500 or 504.
LARGEST_NESTED_BATCH = 100
MOST_NESTED_ROWS = 9_999
"""Nested rows at which the API silently truncates a batch.

A full answer is therefore incomplete.
"""
_TOO_LARGE = b"exceed maximum size"
# Time for look-ups of other ideas to join the batch; a request to the API takes far longer.
_LINGER_SECONDS = 0.01
_NULL = b"null"
_STATUS = struct.Struct(">H")


class Answers(CachedAnswers):
    """Cached answers of the live API.

    Only definite replies (200, 400, 404) are cached. Identical requests in flight are sent once.
    """

    def __init__(self, store: KeyedStore, identity: str, maximum_age_seconds: float) -> None:
        super().__init__(store, maximum_age_seconds)
        self.identity = identity
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}

    async def answer(self, request: Request, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the cached reply, that of a request in flight, or a new one."""
        key = f"{self.identity}|{request.key()}"
        in_flight = self._in_flight.get(key)
        if in_flight is not None:
            reply = await asyncio.shield(in_flight)
            return replace(reply, cache=CacheUse.COALESCED, attempts=(), share=0.0)
        cached_bytes = self.get([key]).get(key)
        if cached_bytes is not None:
            (status,) = _STATUS.unpack_from(cached_bytes)
            return Reply(status, cached_bytes[_STATUS.size :], cache=CacheUse.HIT)

        # In a task of its own: a client that disconnects must not cancel it for the others.
        async def ask_and_cache() -> Reply:
            reply = await ask()
            if reply.definite:
                self.put({key: _STATUS.pack(reply.status) + reply.body})
            return reply

        task = self._in_flight[key] = asyncio.create_task(ask_and_cache())
        task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await asyncio.shield(task)

    async def stop(self) -> None:
        """Cancel the requests in flight; their clients have disconnected."""
        await _cancel(self._in_flight.values())


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    pending = list(tasks)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


@dataclass(eq=False, slots=True)
class BatchCost:
    """The cost of one batch.

    Attributes:
        attempts: all requests sent for it, including retries and halves.
        rider_count: look-ups of all clients in it.
        payer: key of the look-up whose client records the attempts.
    """

    attempts: list[Attempt] = field(default_factory=list)
    wait_seconds: float = 0.0
    rider_count: int = 0
    payer: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome for one identifier: the paper as JSON (`null`: unknown), or a failure."""

    paper: bytes | None
    failure: Reply | None = None
    cost: BatchCost | None = None


@dataclass(slots=True)
class _Bundle:
    """Identifiers with the same fields that wait for the next batch."""

    waiting: dict[str, asyncio.Future[Row]] = field(default_factory=dict)
    sender: asyncio.Task[None] | None = None


class LookUps:
    """Batched look-ups by identifier."""

    def __init__(self, transport: Transport, answers: Answers) -> None:
        self._transport = transport
        self._answers = answers
        self._bundles: dict[str, _Bundle] = {}
        self._in_flight: dict[str, asyncio.Future[Row]] = {}
        self._riders: Counter[str] = Counter()
        self._senders: set[asyncio.Task[None]] = set()
        self.counts: Counter[str] = Counter()

    async def papers(
        self, fields: str, identifiers: Sequence[str]
    ) -> tuple[tuple[Row, ...], Reply]:
        """Return the outcomes in order, and their cost as a reply without a body.

        `fields` is the API's parameter. An identifier of no known form is unknown.
        """
        fields = ",".join(sorted(set(fields.split(","))))
        canonical = [canonical_id(each) for each in identifiers]
        keys = {each: self._key(fields, each) for each in canonical if each is not None}
        cached_bodies = self._answers.get(list(keys.values()))
        own_keys: set[str] = set()
        futures: dict[str, asyncio.Future[Row]] = {}
        for identifier, key in keys.items():
            if key in cached_bodies:
                continue
            if key not in self._in_flight:
                self._enqueue(fields, identifier, key)
                own_keys.add(key)
            futures[identifier] = self._in_flight[key]
            self._riders[key] += 1
        self.counts.update(
            {
                "asked": len(identifiers),
                "kept": len(cached_bodies),
                "sent": len(own_keys),
                "coalesced": len(futures) - len(own_keys),
            }
        )
        outcomes = {
            identifier: await asyncio.shield(future) for identifier, future in futures.items()
        }
        costs = [row.cost for row in outcomes.values() if row.cost is not None]
        outcomes |= {
            each: Row(cached_bodies[key]) for each, key in keys.items() if key in cached_bodies
        }
        rows = tuple(outcomes[each] if each is not None else Row(_NULL) for each in canonical)
        use = CacheUse.MISS if own_keys else CacheUse.COALESCED if futures else CacheUse.HIT
        # A client records the attempts of the batches it started, and its share of all its batches.
        distinct = {id(each): each for each in costs}.values()
        cost = Reply(
            200,
            b"",
            cache=use,
            wait_seconds=max((each.wait_seconds for each in distinct), default=0.0),
            attempts=tuple(
                attempt for each in distinct if each.payer in own_keys for attempt in each.attempts
            ),
            packed=max(len(identifiers), 1),
            share=sum(len(each.attempts) / max(each.rider_count, 1) for each in costs),
        )
        return rows, cost

    async def stop(self) -> None:
        """Cancel all pending look-ups; their clients have disconnected."""
        await _cancel(self._senders)

    def _key(self, fields: str, identifier: str) -> str:
        return content_hash("paper", self._answers.identity, fields, identifier)

    def _enqueue(self, fields: str, identifier: str, key: str) -> None:
        def forget(_: object) -> None:
            self._in_flight.pop(key, None)
            self._riders.pop(key, None)

        future: asyncio.Future[Row] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = future
        future.add_done_callback(forget)
        bundle = self._bundles.setdefault(fields, _Bundle())
        bundle.waiting[identifier] = future
        self._ensure_sender(fields, bundle)

    def _ensure_sender(self, fields: str, bundle: _Bundle) -> None:
        if bundle.sender is None and bundle.waiting:
            bundle.sender = asyncio.create_task(self._send(fields, bundle))
            self._senders.add(bundle.sender)
            bundle.sender.add_done_callback(self._senders.discard)

    async def _send(self, fields: str, bundle: _Bundle) -> None:
        """Send one batch of the identifiers that wait when its turn comes."""
        await asyncio.sleep(_LINGER_SECONDS)
        batch: dict[str, asyncio.Future[Row]] = {}
        has_nested_fields = any(
            name.startswith(("references", "citations")) for name in fields.split(",")
        )
        batch_limit = LARGEST_NESTED_BATCH if has_nested_fields else LARGEST_BATCH

        def make() -> Request:
            for identifier in list(bundle.waiting)[:batch_limit]:
                batch[identifier] = bundle.waiting.pop(identifier)
            bundle.sender = None
            self._ensure_sender(fields, bundle)
            return _batch(fields, list(batch))

        try:
            reply = await self._transport.ask(make, retry_gateway_timeout=False)
            if not batch:  # given up before its turn
                batch.update(bundle.waiting)
                bundle.waiting, bundle.sender = {}, None
            cost = BatchCost()
            outcomes = await self._outcomes(fields, list(batch), reply, cost)
            keys = {identifier: self._key(fields, identifier) for identifier in batch}
            self._answers.put(
                {keys[each]: row.paper for each, row in outcomes.items() if row.paper is not None}
            )
            # Counted at the end, because others may have joined while it was in flight.
            cost.rider_count = sum(self._riders[key] for key in keys.values())
            cost.payer = next(iter(keys.values()))
            for identifier, future in batch.items():
                future.set_result(replace(outcomes[identifier], cost=cost))
        finally:
            for future in batch.values():
                if not future.done():
                    detail = "the gateway stopped before the look-up was answered"
                    future.set_result(Row(None, could_not_look(Reason.SERVER_ERROR, detail)))

    async def _outcomes(
        self, fields: str, identifiers: list[str], reply: Reply, cost: BatchCost
    ) -> dict[str, Row]:
        """Return a batch's rows.

        A batch too large, too slow or truncated is halved.
        """
        cost.attempts += reply.attempts
        cost.wait_seconds += reply.wait_seconds
        if reply.status == 400 and NONE_KNOWN.encode() in reply.body:
            return dict.fromkeys(identifiers, Row(_NULL))
        rows = orjson.loads(reply.body) if reply.status == 200 else None
        too_slow = reply.status == 504 and reply.reason is None
        too_large = reply.status == 400 and _TOO_LARGE in reply.body
        papers = [row for row in rows or () if isinstance(row, dict)]
        # References and citations are truncated separately.
        is_truncated = any(
            sum(len(row.get(name) or ()) for row in papers) >= MOST_NESTED_ROWS
            for name in ("references", "citations")
        )
        if (too_slow or too_large or is_truncated) and (len(identifiers) > 1 or too_slow):
            middle = (len(identifiers) + 1) // 2
            outcomes: dict[str, Row] = {}
            for part in filter(None, (identifiers[:middle], identifiers[middle:])):
                # A single identifier cannot be halved, so a gateway timeout is retried.
                last = await self._transport.ask(
                    partial(_batch, fields, part), retry_gateway_timeout=len(identifiers) == 1
                )
                outcomes |= await self._outcomes(fields, part, last, cost)
            return outcomes
        if isinstance(rows, list) and len(rows) == len(identifiers):
            pairs = zip(identifiers, rows, strict=True)
            return {identifier: Row(orjson.dumps(row)) for identifier, row in pairs}
        detail = "the batch answer does not fit its question"
        failure = reply if rows is None else could_not_look(Reason.MALFORMED_ANSWER, detail)
        return dict.fromkeys(identifiers, Row(None, failure))


def _batch(fields: str, identifiers: list[str]) -> Request:
    parameters = (("fields", fields),) if fields else ()
    return Request(
        "POST", BATCH_PATH, parameters, orjson.dumps({"ids": identifiers}), len(identifiers)
    )
