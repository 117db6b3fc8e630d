"""Answers of the live API, each asked for once: kept on disk, and paper look-ups of all clients
packed, identifiers with the same fields together.
"""

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
from tasks.literature.gateway.transport import Transport
from tasks.web.calls import CachedAnswers
from warehouse.stores.keyed_store import KeyedStore

# Larger batches with nested lists are often answered with 500 or 504.
LARGEST_NESTED_BATCH = 100
MOST_NESTED_ROWS = 9_999
"""Over a whole batch the API cuts nested lists off here, silently and anywhere: a full answer is no
answer.
"""
_TOO_LARGE = b"exceed maximum size"
# Time for the look-ups of other ideas to join; a request to the API takes far longer.
_LINGER_SECONDS = 0.01
_NULL = b"null"
_STATUS = struct.Struct(">H")


class Answers(CachedAnswers):
    """Only definite replies are kept (success, 400, 404); a failure is asked again.

    Identical questions in flight are asked once.
    """

    def __init__(self, store: KeyedStore, identity: str, maximum_age_seconds: float) -> None:
        super().__init__(store, maximum_age_seconds)
        self.identity = identity
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}

    async def answer(self, request: Request, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """The kept reply, the one somebody else is waiting for, or a new one.

        The upstream is asked in a task of its own: a client that hangs up does not take the answer
        from the others.
        """
        key = f"{self.identity}|{request.key()}"
        in_flight = self._in_flight.get(key)
        if in_flight is not None:
            reply = await asyncio.shield(in_flight)
            return replace(reply, cache=CacheUse.COALESCED, attempts=(), share=0.0)
        cached = self.get([key]).get(key)
        if cached is not None:
            (status,) = _STATUS.unpack_from(cached)
            return Reply(status, cached[_STATUS.size :], cache=CacheUse.HIT)

        async def ask_and_keep() -> Reply:
            reply = await ask()
            if reply.definite:
                self.put({key: _STATUS.pack(reply.status) + reply.body})
            return reply

        task = self._in_flight[key] = asyncio.create_task(ask_and_keep())
        task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await asyncio.shield(task)

    async def stop(self) -> None:
        """End what is still being asked; who waits for it is gone."""
        await _cancel(self._in_flight.values())


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    pending = list(tasks)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


@dataclass(eq=False, slots=True)
class Journey:
    """The cost of one departure.

    Attributes:
        attempts: all requests sent for it, repetitions and halves included.
        riders: look-ups of all clients that travelled in it.
        payer: key of the look-up whose client is told the attempts.
    """

    attempts: list[Attempt] = field(default_factory=list)
    wait_seconds: float = 0.0
    riders: int = 0
    payer: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One identifier's outcome: the paper as JSON (`null` when unknown), or the reply that stands
    for a failure.
    """

    paper: bytes | None
    failure: Reply | None = None
    journey: Journey | None = None


@dataclass(slots=True)
class _Bundle:
    """Identifiers with the same fields that wait for the next departure."""

    waiting: dict[str, asyncio.Future[Row]] = field(default_factory=dict)
    sender: asyncio.Task[None] | None = None


class LookUps:
    """Look-ups by identifier through one limiter."""

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
        """Outcomes in the order asked, and a reply without a body that carries what they took.

        `fields` is the API's parameter; an identifier of no known form is unknown.
        """
        fields = ",".join(sorted(set(fields.split(","))))
        canonical = [canonical_id(each) for each in identifiers]
        keys = {each: self._key(fields, each) for each in canonical if each is not None}
        cached = self._answers.get(list(keys.values()))
        own_keys: set[str] = set()
        futures: dict[str, asyncio.Future[Row]] = {}
        for identifier, key in keys.items():
            if key in cached:
                continue
            if key not in self._in_flight:
                self._enqueue(fields, identifier, key)
                own_keys.add(key)
            futures[identifier] = self._in_flight[key]
            self._riders[key] += 1
        self.counts.update(
            {
                "asked": len(identifiers),
                "kept": len(cached),
                "sent": len(own_keys),
                "coalesced": len(futures) - len(own_keys),
            }
        )
        outcomes = {
            identifier: await asyncio.shield(future) for identifier, future in futures.items()
        }
        journeys = [row.journey for row in outcomes.values() if row.journey is not None]
        outcomes |= {each: Row(cached[key]) for each, key in keys.items() if key in cached}
        rows = tuple(outcomes[each] if each is not None else Row(_NULL) for each in canonical)
        use = CacheUse.MISS if own_keys else CacheUse.COALESCED if futures else CacheUse.HIT
        # The client pays the attempts of the journeys it began, and a share in all it rode on.
        distinct = {id(journey): journey for journey in journeys}.values()
        cost = Reply(
            200,
            b"",
            cache=use,
            wait_seconds=max((journey.wait_seconds for journey in distinct), default=0.0),
            attempts=tuple(
                attempt for each in distinct if each.payer in own_keys for attempt in each.attempts
            ),
            packed=max(len(identifiers), 1),
            share=sum(len(each.attempts) / max(each.riders, 1) for each in journeys),
        )
        return rows, cost

    async def stop(self) -> None:
        """End what is still waiting or being asked; who waits for it is gone."""
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
        """One departure: takes what waits when its turn comes, and leaves the rest to the next."""
        await asyncio.sleep(_LINGER_SECONDS)
        batch: dict[str, asyncio.Future[Row]] = {}
        nested = any(name.startswith(("references", "citations")) for name in fields.split(","))
        most = LARGEST_NESTED_BATCH if nested else LARGEST_BATCH

        def make() -> Request:
            for identifier in list(bundle.waiting)[:most]:
                batch[identifier] = bundle.waiting.pop(identifier)
            bundle.sender = None
            self._ensure_sender(fields, bundle)
            return _batch(fields, list(batch))

        try:
            reply = await self._transport.ask(make, retry_gateway_timeout=False)
            if not batch:  # given up before its turn
                batch.update(bundle.waiting)
                bundle.waiting, bundle.sender = {}, None
            journey = Journey()
            outcomes = await self._outcomes(fields, list(batch), reply, journey)
            keys = {identifier: self._key(fields, identifier) for identifier in batch}
            self._answers.put(
                {keys[each]: row.paper for each, row in outcomes.items() if row.paper is not None}
            )
            # Counted at the end: others may have joined while it was under way.
            journey.riders = sum(self._riders[key] for key in keys.values())
            journey.payer = next(iter(keys.values()))
            for identifier, future in batch.items():
                future.set_result(replace(outcomes[identifier], journey=journey))
        finally:
            for future in batch.values():
                if not future.done():
                    detail = "the gateway stopped before the look-up was answered"
                    future.set_result(Row(None, could_not_look(Reason.SERVER_ERROR, detail)))

    async def _outcomes(
        self, fields: str, identifiers: list[str], reply: Reply, journey: Journey
    ) -> dict[str, Row]:
        """A batch's rows; asked again in halves where the answer was too large, too slow, or cut
        off in silence.
        """
        journey.attempts += reply.attempts
        journey.wait_seconds += reply.wait_seconds
        if reply.status == 400 and NONE_KNOWN.encode() in reply.body:
            return dict.fromkeys(identifiers, Row(_NULL))
        rows = orjson.loads(reply.body) if reply.status == 200 else None
        too_slow = reply.status == 504 and reply.reason is None
        shrinkable = (
            too_slow
            or (reply.status == 400 and _TOO_LARGE in reply.body)
            or _nested_rows(rows) >= MOST_NESTED_ROWS
        )
        if shrinkable and (len(identifiers) > 1 or too_slow):
            middle = (len(identifiers) + 1) // 2
            outcomes: dict[str, Row] = {}
            for part in filter(None, (identifiers[:middle], identifiers[middle:])):
                # One alone cannot be halved any more: it is waited for as every other question is.
                last = await self._transport.ask(
                    partial(_batch, fields, part), retry_gateway_timeout=len(identifiers) == 1
                )
                outcomes |= await self._outcomes(fields, part, last, journey)
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


def _nested_rows(rows: object) -> int:
    """The longer of the two sums: references and citations are cut off apart."""
    if not isinstance(rows, list):
        return 0
    sums = (
        sum(len(row.get(name) or ()) for row in rows if isinstance(row, dict))
        for name in ("references", "citations")
    )
    return max(sums)
