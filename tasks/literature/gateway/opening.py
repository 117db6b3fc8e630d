"""From the choice of literature to the upstream it means."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.literature.gateway.live import LiveUpstream, batch_reply
from tasks.literature.gateway.look_ups import BATCH_PATH, Row
from tasks.literature.gateway.messages import CacheUse, Reply, Request, Upstream
from tasks.literature.gateway.request_record import RECORD_NAME, RequestRecord
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.gateway.transport import Transport
from tasks.literature.snapshot.manifest import read_manifest
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.web.arrival_limiter import ArrivalLimiter
from tasks.web.departures import SharedDepartures, departures_file
from warehouse.keyed_store import KeyedStore

# The snapshot first, and the live API for what it lacks.


class SnapshotFirst:
    """Papers and papers like them come from the snapshot where it has them; searches go live, for
    they see more there.

    When the live API cannot be asked, a search is answered with its failure, never with the
    snapshot's part alone.
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
            return await self._live.answer(request) if _lacking(local) else local
        return await self._live.answer(request)

    async def _batch(self, request: Request) -> Reply:
        """By position: the snapshot's row, else the live one.

        A nested list the snapshot does not know counts as lacking.
        """
        local = await self._snapshot.answer(request)
        if local.status == 400 and b"No valid paper ids" not in local.body:
            return local
        identifiers: list[str] = orjson.loads(request.body)["ids"]
        known = orjson.loads(local.body) if local.status == 200 else [None] * len(identifiers)
        lacking = [place for place, row in enumerate(known) if row is None or _unknown_lists(row)]
        if not lacking:
            return local
        found, spent = await self._live.rows(
            request.parameter("fields"), [identifiers[place] for place in lacking]
        )
        rows = [Row(orjson.dumps(row)) for row in known]
        for place, row in zip(lacking, found, strict=True):
            if (
                known[place] is None or row.paper != b"null"
            ):  # a look-up that failed is a failure, not an unknown list
                rows[place] = row
        return replace(
            batch_reply(rows, spent),
            packed=len(identifiers),
            cache=spent.cache if lacking else CacheUse.MISS,
        )

    def statistics(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "snapshot": self._snapshot.statistics(),
            "live": self._live.statistics(),
        }

    async def close(self) -> None:
        await asyncio.gather(self._snapshot.close(), self._live.close())


def _lacking(local: Reply) -> bool:
    """Whether the snapshot has not got the paper, or not the list that was asked of it."""
    return local.status == 404 or (local.status == 200 and _unknown_lists(orjson.loads(local.body)))


def _unknown_lists(answer: dict[str, Any]) -> bool:
    return any(answer.get(name, ()) is None for name in ("data", "references", "citations"))


CACHE_NAME = "literature.sqlite"


def check_literature(literature: LiteratureChoice) -> None:
    """Say early, in one line, what would keep a gateway from starting.

    Raises:
        ConfigurationError, SnapshotError
    """
    if literature.url is not None:
        raise ConfigurationError(
            f"literature {literature.text!r}: write snapshot:FOLDER, snapshot:FOLDER+live or live"
        )
    if literature.snapshot is not None:
        read_manifest(literature.snapshot)


def open_upstream(
    settings: Settings, literature: LiteratureChoice, cache_directory: Path
) -> Upstream:
    """Raises ConfigurationError or SnapshotError, one line each."""
    check_literature(literature)
    if literature.snapshot is None:
        return _live(settings, cache_directory)
    snapshot = open_snapshot(literature.snapshot)
    embedder = None
    if snapshot.has_vectors:
        from tasks.embeddings.sentence_embedder import (
            SentenceEmbedder,
        )  # loads a model: only where vectors are to be compared

        embedder = SentenceEmbedder(settings.embeddings, None)
    local = SnapshotUpstream(snapshot, embedder)
    return SnapshotFirst(local, _live(settings, cache_directory)) if literature.then_live else local


def _live(settings: Settings, cache_directory: Path) -> LiveUpstream:
    """The allowance is shared with every gateway of the machine that uses the same key, whatever
    its cache.
    """
    store = KeyedStore(cache_directory / CACHE_NAME)
    store.get_many(["opens"])
    key = settings.semantic_scholar_api_key
    rate = settings.literature.requests_per_second
    transport = Transport(settings)
    allowance = departures_file(
        settings.home / "limits", transport.host, key.get_secret_value() if key else None
    )
    transport.limiter = ArrivalLimiter(rate, memory=SharedDepartures(allowance))
    transport.record = RequestRecord(cache_directory / RECORD_NAME, transport.host, rate)
    return LiveUpstream(settings, store, transport)
