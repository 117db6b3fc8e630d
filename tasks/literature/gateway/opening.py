"""From the choice of literature to the upstream it means."""

from pathlib import Path

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.literature.gateway.live import LiveUpstream
from tasks.literature.gateway.messages import Upstream
from tasks.literature.gateway.request_record import RECORD_NAME, RequestRecord
from tasks.literature.gateway.snapshot_first import SnapshotFirst
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.gateway.transport import Transport
from tasks.literature.snapshot.manifest import read_manifest
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.web.arrival_limiter import ArrivalLimiter
from tasks.web.departures import SharedDepartures, departures_file
from warehouse.keyed_store import KeyedStore

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
    """The allowance is shared with every gateway of the machine that uses the same key, whatever its cache."""
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
