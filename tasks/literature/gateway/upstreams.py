"""Upstreams of the gateway: the live API, or a snapshot with the live API as fallback."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError, RequestRejectedError
from schemas.settings import Settings
from tasks.literature.api_shapes import parse_paper
from tasks.literature.gateway.arrival_limiter import ArrivalLimiter, Departures, departures_file
from tasks.literature.gateway.live_requests import RequestRecord, Transport
from tasks.literature.gateway.look_ups import Answers, LookUps, Row
from tasks.literature.gateway.messages import (
    BATCH_PATH,
    NONE_KNOWN,
    Reply,
    Request,
    Upstream,
    error_reply,
    no_such_route,
)
from tasks.literature.gateway.parameters import batch_identifiers, days_of, window_of
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.snapshot.folder import read_manifest, snapshot_identity
from tasks.literature.snapshot.records import as_number
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.literature.snapshot.text_index import DayRange
from tasks.web.client import InvalidURL, web_address
from warehouse.source_states import RECORD_NAME
from warehouse.stores.keyed_store import KeyedStore

_RECOMMENDATIONS = frozenset({"papers", "papers/forpaper"})
_FIELDS_OF_DATES = frozenset({"year", "publicationDate", "venue", "externalIds"})
CACHED_SECONDS = 30 * 86_400.0
# The gateway filters by date, so it requests more than needed; the cost is one request either way.
_RECOMMENDED_BEFORE_FILTER = 100


class LiveUpstream:
    """The live API, with batched look-ups and a date range for recommendations."""

    name = "semantic_scholar"

    def __init__(
        self, settings: Settings, store: KeyedStore, transport: Transport | None = None
    ) -> None:
        self._transport = transport or Transport(settings)
        self.identity = _live_identity(settings)
        self._answers = Answers(store, self.identity, CACHED_SECONDS)
        self.look_ups = LookUps(self._transport, self._answers)

    async def answer(self, request: Request) -> Reply:
        try:
            return await self._answer(request)
        except RequestRejectedError as error:
            return error_reply(400, str(error))

    async def _answer(self, request: Request) -> Reply:
        if request.method == "POST" and request.path == BATCH_PATH:
            identifiers = batch_identifiers(request.body)
            fields = request.parameter("fields")
            return batch_reply(*await self.look_ups.papers(fields, identifiers))
        route = request.route
        if route is None:
            return no_such_route(request)
        if route.endpoint == "paper" and route.identifier is not None:
            return await self._paper(route.identifier, request.parameter("fields"))
        if route.endpoint in _RECOMMENDATIONS and request.parameter("publicationDateOrYear"):
            return await self._recommend_within(request)
        return await self._answers.answer(request, lambda: self._transport.ask(lambda: request))

    async def _paper(self, identifier: str, fields: str) -> Reply:
        (row,), cost = await self.look_ups.papers(fields, [identifier])
        reply = row.failure or (
            error_reply(404, f"Paper with id {identifier} not found")
            if row.paper in (None, b"null")
            else Reply(200, row.paper or b"")
        )
        return replace(cost, status=reply.status, body=reply.body)

    async def _recommend_within(self, request: Request) -> Reply:
        """Return recommendations within the date range, which the API itself ignores."""
        days = days_of(request)
        limit = window_of(request, default=100, largest=500).limit
        fields = set(request.parameter("fields", "title").split(",")) | _FIELDS_OF_DATES
        wider_request = request.replacing(
            publicationDateOrYear=None,
            limit=str(max(limit, _RECOMMENDED_BEFORE_FILTER)),
            fields=",".join(sorted(fields)),
        )
        reply = await self._answers.answer(
            wider_request, lambda: self._transport.ask(lambda: wider_request)
        )
        if reply.status != 200:
            return reply
        rows = orjson.loads(reply.body).get("recommendedPapers") or ()
        papers = [paper for paper in rows if _within(paper, days)]
        return replace(reply, body=orjson.dumps({"recommendedPapers": papers[:limit]}))

    def statistics(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "upstream": self._transport.statistics(),
            "look_ups": dict(self.look_ups.counts),
        }

    async def close(self) -> None:
        await asyncio.gather(self._answers.stop(), self.look_ups.stop())
        await self._transport.close()
        self._answers.close()


def batch_reply(rows: Sequence[Row], cost: Reply) -> Reply:
    """Return the rows as a list.

    Like the API, it refuses a batch without known ids with 400.
    """
    reply = next((row.failure for row in rows if row.failure is not None), None)
    if reply is None and all(row.paper in (None, b"null") for row in rows):
        reply = error_reply(400, NONE_KNOWN)
    if reply is None:
        reply = Reply(200, b"[" + b",".join(row.paper or b"null" for row in rows) + b"]")
    return replace(cost, status=reply.status, body=reply.body, packed=len(rows))


def _within(paper: dict[str, Any], days: DayRange) -> bool:
    parsed_paper = parse_paper({**paper, "paperId": "-", "title": "-"})
    latest = parsed_paper.latest_publication_date if parsed_paper is not None else None
    return latest is not None and days.first <= as_number(latest) <= days.last


class SnapshotFirst:
    """A snapshot for look-ups by identifier, with the live API for all else.

    Searches go to the live API, which covers more papers. If it fails, the search fails too: the
    snapshot's results alone are never returned.
    """

    name = "semantic_scholar"

    def __init__(self, snapshot: SnapshotUpstream, live: LiveUpstream) -> None:
        self._snapshot = snapshot
        self._live = live

    @property
    def identity(self) -> str:
        return f"{self._snapshot.identity}+{self._live.identity}"

    async def answer(self, request: Request) -> Reply:
        if request.method == "POST" and request.path == BATCH_PATH:
            return await self._batch(request)
        if request.endpoint == "paper":
            local = await self._snapshot.answer(request)
            is_complete = local.status == 200 and not _unknown_lists(orjson.loads(local.body))
            if is_complete or local.status not in (200, 404):
                return local
        return await self._live.answer(request)

    async def _batch(self, request: Request) -> Reply:
        """Answer a batch by position: the snapshot's row if complete, else the live one."""
        local = await self._snapshot.answer(request)
        if local.status == 400 and NONE_KNOWN.encode() not in local.body:
            return local
        identifiers: list[str] = orjson.loads(request.body)["ids"]
        local_rows = orjson.loads(local.body) if local.status == 200 else [None] * len(identifiers)
        missing_places = [
            place for place, row in enumerate(local_rows) if row is None or _unknown_lists(row)
        ]
        if not missing_places:
            return local
        live_rows, cost = await self._live.look_ups.papers(
            request.parameter("fields"), [identifiers[place] for place in missing_places]
        )
        rows = [Row(orjson.dumps(row)) for row in local_rows]
        for place, row in zip(missing_places, live_rows, strict=True):
            # A look-up that failed is a failure, not an unknown list.
            if local_rows[place] is None or row.paper != b"null":
                rows[place] = row
        return batch_reply(rows, cost)

    def statistics(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "snapshot": self._snapshot.statistics(),
            "live": self._live.statistics(),
        }

    async def close(self) -> None:
        await asyncio.gather(self._snapshot.close(), self._live.close())


def _unknown_lists(answer: dict[str, Any]) -> bool:
    return any(answer.get(name, ()) is None for name in ("data", "references", "citations"))


CACHE_NAME = "literature.sqlite"


def check_literature(literature: LiteratureChoice) -> None:
    """Raise ConfigurationError or SnapshotError if no gateway can serve the literature."""
    if literature.url is not None:
        raise ConfigurationError(
            f"literature {literature.text!r}: write snapshot:FOLDER, snapshot:FOLDER+live or live"
        )
    if literature.snapshot is not None:
        read_manifest(literature.snapshot)


def identity_of(literature: LiteratureChoice, settings: Settings) -> str:
    """Return the identity of the upstream that `open_upstream` opens, without opening it.

    Raises:
        ConfigurationError, SnapshotError
    """
    check_literature(literature)
    if literature.snapshot is None:
        return _live_identity(settings)
    local = snapshot_identity(read_manifest(literature.snapshot).fingerprint)
    return f"{local}+{_live_identity(settings)}" if literature.then_live else local


def _live_identity(settings: Settings) -> str:
    """Return the identity of the live API: its host and path.

    Proxies may serve several APIs.
    """
    url = settings.literature.upstream_url
    try:
        address = web_address(url)
    except InvalidURL as error:
        raise ConfigurationError(f"ASSAY_LITERATURE__UPSTREAM_URL={url}: {error}") from error
    return f"live:{address.netloc.decode('ascii')}{address.path.rstrip('/')}"


def open_upstream(
    settings: Settings, literature: LiteratureChoice, cache_directory: Path
) -> Upstream:
    """Open the upstream of a literature. Raises ConfigurationError or SnapshotError."""
    check_literature(literature)
    if literature.snapshot is None:
        return _live(settings, cache_directory)
    snapshot = open_snapshot(literature.snapshot)
    embedder = None
    if snapshot.has_vectors:
        # Imported here because it loads a model.
        from tasks.embeddings.sentence_embedder import SentenceEmbedder

        embedder = SentenceEmbedder(settings.embeddings, None)
    local = SnapshotUpstream(snapshot, embedder)
    return SnapshotFirst(local, _live(settings, cache_directory)) if literature.then_live else local


def _live(settings: Settings, cache_directory: Path) -> LiveUpstream:
    store = KeyedStore(cache_directory / CACHE_NAME)
    store.get_many(["opens"])
    return LiveUpstream(settings, store, open_transport(settings, cache_directory))


def open_transport(settings: Settings, cache_directory: Path) -> Transport:
    """Open the sender of requests to the live API.

    All processes with the same key share its rate limit.
    """
    key = settings.semantic_scholar_api_key
    rate = settings.literature.requests_per_second
    transport = Transport(settings)
    allowance = departures_file(
        settings.home / "limits", transport.host, key.get_secret_value() if key else None
    )
    transport.limiter = ArrivalLimiter(rate, memory=Departures(allowance))
    transport.record = RequestRecord(cache_directory / RECORD_NAME, transport.host, rate)
    return transport
