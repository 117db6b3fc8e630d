"""The live Semantic Scholar API behind the gateway: kept answers, coalesced questions, packed
look-ups.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import orjson

from schemas.errors import RequestRejectedError
from schemas.settings import Settings
from tasks.literature.gateway.answers import Answers
from tasks.literature.gateway.days import days_of, last_day_of, window_of
from tasks.literature.gateway.look_ups import BATCH_PATH, LARGEST_BATCH, LookUps, Row
from tasks.literature.gateway.messages import Reply, Request, error_reply, no_such_route
from tasks.literature.gateway.transport import Transport
from tasks.literature.snapshot.text_index import DayRange
from warehouse.keyed_store import KeyedStore

_RECOMMENDATIONS = frozenset({"papers", "papers/forpaper"})
_DAY_SECONDS = 86_400.0
_RECOMMENDED_BEFORE_FILTER = 100


class LiveUpstream:
    """`answer` passes everything on; paper look-ups travel packed, recommendations take a date
    range besides.
    """

    name = "semantic_scholar"

    def __init__(
        self, settings: Settings, store: KeyedStore, transport: Transport | None = None
    ) -> None:
        self._transport = transport or Transport(settings)
        age_seconds = settings.literature.cache_maximum_age_days * _DAY_SECONDS
        self._answers = Answers(store, self.identity, age_seconds)
        self._look_ups = LookUps(self._transport, self._answers)

    @property
    def identity(self) -> str:
        return f"live:{self._transport.place}"

    async def answer(self, request: Request) -> Reply:
        try:
            return await self._answer(request)
        except RequestRejectedError as error:
            return error_reply(400, str(error))

    async def _answer(self, request: Request) -> Reply:
        if request.method == "POST" and request.path == BATCH_PATH:
            return await self._batch(request)
        route = request.route
        if route is None:
            return no_such_route(request)
        if route.endpoint == "paper" and route.identifier is not None:
            return await self._paper(route.identifier, request.parameter("fields"))
        if route.endpoint in _RECOMMENDATIONS and request.parameter("publicationDateOrYear"):
            return await self._recommended_within(request)
        return await self._answers.answer(request, lambda: self._transport.ask(lambda: request))

    async def rows(self, fields: str, identifiers: Sequence[str]) -> tuple[tuple[Row, ...], Reply]:
        """Outcomes by position, and a reply that carries what they took."""
        found = await self._look_ups.papers(fields, identifiers)
        return found.rows, found.spent

    async def _batch(self, request: Request) -> Reply:
        identifiers = batch_identifiers(request.body)
        found = await self._look_ups.papers(request.parameter("fields"), identifiers)
        return batch_reply(found.rows, found.spent)

    async def _paper(self, identifier: str, fields: str) -> Reply:
        found = await self._look_ups.papers(fields, [identifier])
        row = found.rows[0]
        reply = row.failure or (
            error_reply(404, f"Paper with id {identifier} not found")
            if row.paper in (None, b"null")
            else Reply(200, row.paper or b"")
        )
        return replace(found.spent, status=reply.status, body=reply.body)

    async def _recommended_within(self, request: Request) -> Reply:
        """The API recommends without regard to dates: ask for more at the same price, and cut to
        the range and limit here.
        """
        days = days_of(request)
        limit = window_of(request, default=100, largest=500).limit
        fields = set(request.parameter("fields", "title").split(",")) | {"year", "publicationDate"}
        asked = request.replacing(
            publicationDateOrYear=None,
            limit=str(max(limit, _RECOMMENDED_BEFORE_FILTER)),
            fields=",".join(sorted(fields)),
        )
        reply = await self._answers.answer(asked, lambda: self._transport.ask(lambda: asked))
        if reply.status != 200:
            return reply
        papers = [
            paper
            for paper in orjson.loads(reply.body).get("recommendedPapers") or ()
            if _within(paper, days)
        ]
        body = orjson.dumps({"recommendedPapers": papers[:limit]})
        return replace(reply, body=body)

    def statistics(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "upstream": self._transport.statistics(),
            "look_ups": dict(self._look_ups.counts),
        }

    async def close(self) -> None:
        await asyncio.gather(self._answers.stop(), self._look_ups.stop())
        await self._transport.close()
        self._answers.close()


def batch_identifiers(body: bytes) -> list[str]:
    """The ids of a batch request. Raises RequestRejectedError for a body the API does not take."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestRejectedError("Request body is not valid JSON") from error
    identifiers = parsed.get("ids") if isinstance(parsed, dict) else None
    if not isinstance(identifiers, list) or not all(isinstance(each, str) for each in identifiers):
        raise RequestRejectedError('Request body must be {"ids": [...]} with a list of strings')
    if len(identifiers) > LARGEST_BATCH:
        raise RequestRejectedError(f"Too many ids: at most {LARGEST_BATCH}")
    if not identifiers:
        raise RequestRejectedError("No valid paper ids given")
    return identifiers


def batch_reply(rows: Sequence[Row], spent: Reply) -> Reply:
    """A list by position; as in the API, a batch that knows none of its ids is refused with 400."""
    failure = next((row.failure for row in rows if row.failure is not None), None)
    if failure is None and all(row.paper in (None, b"null") for row in rows):
        failure = error_reply(400, "No valid paper ids given")
    status, body = (
        (failure.status, failure.body)
        if failure
        else (200, b"[" + b",".join(row.paper or b"null" for row in rows) + b"]")
    )
    return replace(spent, status=status, body=body, packed=len(rows))


def _within(paper: dict[str, Any], days: DayRange) -> bool:
    published, year = paper.get("publicationDate"), paper.get("year")
    try:
        day = (
            int(date.fromisoformat(published).strftime("%Y%m%d"))
            if published
            else last_day_of(year)
        )
    except (TypeError, ValueError):
        return False
    return days.first <= day <= days.last
