"""Paper look-ups of all clients, packed: identifiers with the same fields leave together, each one
asked for once.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

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
from tasks.literature.gateway.storage import Answers
from tasks.literature.gateway.transport import Transport

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


@dataclass(eq=False, slots=True)
class Journey:
    """What one departure took.

    Attributes:
        attempts: all requests sent for it, repetitions and halves included.
        riders: look-ups of all clients that travelled in it.
        payer: key of the look-up whose client is told the attempts.
    """

    attempts: list[Attempt] = field(default_factory=list)
    wait_seconds: float = 0.0
    riders: int = 0
    payer: str = ""

    def add(self, reply: Reply) -> None:
        """A request of this journey was answered."""
        self.attempts += reply.attempts
        self.wait_seconds += reply.wait_seconds


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
        keys = {
            identifier: self._key(fields, identifier)
            for identifier in canonical
            if identifier is not None
        }
        kept = self._answers.get(list(keys.values()))
        own: list[str] = []
        futures: dict[str, asyncio.Future[Row]] = {}
        for identifier, key in keys.items():
            if key in kept:
                continue
            future = self._in_flight.get(key)
            if future is None:
                future = self._enqueue(fields, identifier, key)
                own.append(key)
            futures[identifier] = future
            self._riders[key] += 1
        self.counts.update(
            asked=len(identifiers), kept=len(kept), sent=len(own), coalesced=len(futures) - len(own)
        )
        found = {identifier: await asyncio.shield(future) for identifier, future in futures.items()}
        journeys = [row.journey for row in found.values() if row.journey is not None]
        found.update(
            {identifier: Row(kept[key]) for identifier, key in keys.items() if key in kept}
        )
        rows = tuple(
            found[identifier] if identifier is not None else Row(_NULL) for identifier in canonical
        )
        use = CacheUse.MISS if own else CacheUse.COALESCED if futures else CacheUse.HIT
        return rows, _spent(journeys, set(own), use, len(identifiers))

    async def stop(self) -> None:
        """End what is still waiting or being asked; who waits for it is gone."""
        senders = list(self._senders)
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)

    def _key(self, fields: str, identifier: str) -> str:
        return content_hash("paper", self._answers.identity, fields, identifier)

    def _enqueue(self, fields: str, identifier: str, key: str) -> asyncio.Future[Row]:
        future: asyncio.Future[Row] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = future
        future.add_done_callback(lambda _: self._forget(key))
        bundle = self._bundles.setdefault(fields, _Bundle())
        bundle.waiting[identifier] = future
        self._ensure_sender(fields, bundle)
        return future

    def _forget(self, key: str) -> None:
        self._in_flight.pop(key, None)
        self._riders.pop(key, None)

    def _ensure_sender(self, fields: str, bundle: _Bundle) -> None:
        if bundle.sender is None and bundle.waiting:
            bundle.sender = asyncio.create_task(self._send(fields, bundle))
            self._senders.add(bundle.sender)
            bundle.sender.add_done_callback(self._senders.discard)

    async def _send(self, fields: str, bundle: _Bundle) -> None:
        """One departure: takes what waits at the moment its turn comes, and leaves the rest to the
        next.
        """
        await asyncio.sleep(_LINGER_SECONDS)
        taken: dict[str, asyncio.Future[Row]] = {}

        def make() -> Request:
            for identifier in list(bundle.waiting)[: _largest(fields)]:
                taken[identifier] = bundle.waiting.pop(identifier)
            bundle.sender = None
            self._ensure_sender(fields, bundle)
            return _batch(fields, list(taken))

        try:
            reply = await self._transport.ask(make, retry_gateway_timeout=False)
            if not taken:  # given up before its turn
                taken.update(bundle.waiting)
                bundle.waiting, bundle.sender = {}, None
            journey = Journey()
            outcomes = await self._outcomes(fields, list(taken), reply, journey)
            self._answers.put(
                {
                    self._key(fields, each): row.paper
                    for each, row in outcomes.items()
                    if row.paper is not None
                }
            )
            keys = [self._key(fields, identifier) for identifier in taken]
            # Counted at the end: others may have joined while it was under way.
            journey.riders, journey.payer = sum(self._riders[key] for key in keys), keys[0]
            for identifier, future in taken.items():
                future.set_result(replace(outcomes[identifier], journey=journey))
        finally:
            for future in taken.values():
                if not future.done():
                    detail = "the gateway stopped before the look-up was answered"
                    future.set_result(Row(None, could_not_look(Reason.SERVER_ERROR, detail)))

    async def _outcomes(
        self, fields: str, identifiers: list[str], reply: Reply, journey: Journey
    ) -> dict[str, Row]:
        """A batch's rows; asked again in halves where the answer was too large, too slow, or cut
        off in silence.
        """
        journey.add(reply)
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
            return await self._asked_again(fields, identifiers, journey)
        if isinstance(rows, list) and len(rows) == len(identifiers):
            found = zip(identifiers, rows, strict=True)
            return {identifier: Row(orjson.dumps(row)) for identifier, row in found}
        detail = "the batch answer does not fit its question"
        failure = reply if rows is None else could_not_look(Reason.MALFORMED_ANSWER, detail)
        return dict.fromkeys(identifiers, Row(None, failure))

    async def _asked_again(
        self, fields: str, identifiers: list[str], journey: Journey
    ) -> dict[str, Row]:
        middle = (len(identifiers) + 1) // 2
        outcomes: dict[str, Row] = {}
        for part in filter(None, (identifiers[:middle], identifiers[middle:])):
            make = partial(_batch, fields, part)
            # One alone cannot be halved any more: it is waited for as every other question is.
            reply = await self._transport.ask(make, retry_gateway_timeout=len(identifiers) == 1)
            outcomes |= await self._outcomes(fields, part, reply, journey)
        return outcomes


def _largest(fields: str) -> int:
    nested = any(name.startswith(("references", "citations")) for name in fields.split(","))
    return LARGEST_NESTED_BATCH if nested else LARGEST_BATCH


def _batch(fields: str, identifiers: list[str]) -> Request:
    parameters = (("fields", fields),) if fields else ()
    return Request(
        "POST", BATCH_PATH, parameters, orjson.dumps({"ids": identifiers}), len(identifiers)
    )


def _spent(journeys: Sequence[Journey], own: set[str], use: CacheUse, look_ups: int) -> Reply:
    """The attempts of the journeys this client pays for, and its share in all it rode on."""
    distinct = {id(journey): journey for journey in journeys}.values()
    attempts = tuple(
        attempt for journey in distinct if journey.payer in own for attempt in journey.attempts
    )
    share = sum(len(journey.attempts) / max(journey.riders, 1) for journey in journeys)
    wait_seconds = max((journey.wait_seconds for journey in distinct), default=0.0)
    return Reply(200, b"", use, wait_seconds, attempts, max(look_ups, 1), share)


def _nested_rows(rows: object) -> int:
    """The longer of the two sums: references and citations are cut off apart."""
    if not isinstance(rows, list):
        return 0
    sums = (
        sum(len(row.get(name) or ()) for row in rows if isinstance(row, dict))
        for name in ("references", "citations")
    )
    return max(sums)
