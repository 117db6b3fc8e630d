"""The gateway a run talks to: an existing one, or one started for the run and kept alive while it
lasts.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache

from flows.cli.terminal import print_warning
from flows.run.cluster_access import places_for_workers
from flows.run.indexing import index_with_progress, shown_progress
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.literature.paper import LITERATURE_RULES
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess, literature_identity
from tasks.literature.gateway.upstreams import identity_of
from tasks.literature.snapshot.folder import read_manifest
from warehouse.warehouse import Warehouse

NO_REFERENCES = "The snapshot knows no references: papers are found by search alone."
NO_PASSAGES = "The snapshot does not know how papers cite each other, only that they do."


@dataclass(frozen=True, slots=True)
class OpenGateway:
    """Address of a gateway, and the literature behind it.

    Attributes:
        start: starts it where it does not run yet; its address. A run with nothing to do needs
            none.
        lacks: in words, what of its citations a snapshot does not know; empty: nothing, or it is
            the gateway's own affair.
    """

    start: Callable[[], str]
    literature: str
    lacks: str = ""
    knows_references: bool = True

    @property
    def url(self) -> str:
        return self.start()


@contextmanager
def open_gateway(
    literature: LiteratureChoice, warehouse: Warehouse, scheduler_address: str | None = None
) -> Iterator[OpenGateway]:
    """A gateway for the literature, or the one it names; one that is started here is there for the
    workers of the scheduler, too, and starts when its address is first asked for.

    A Parquet or JSONL snapshot is indexed first; the index is kept under `settings.home`.

    Raises:
        ConfigurationError: no gateway answers at the given URL.
        SnapshotError: the snapshot is missing, empty or broken.
    """
    if literature.url is not None:
        url = literature.url
        yield OpenGateway(lambda: url, literature_identity(url))
        return
    found = indexed(literature, warehouse.settings)
    _warn_of_earlier_rules(found)
    with ExitStack() as stack:

        @cache
        def start() -> str:
            place = places_for_workers(scheduler_address, warehouse.settings)
            return stack.enter_context(
                GatewayProcess(warehouse.settings, found, warehouse.cache, place)
            ).url

        lacks, identity = lacking(found), identity_of(found, warehouse.settings)
        yield OpenGateway(
            lambda: _serving(start(), identity), identity, lacks, lacks != NO_REFERENCES
        )


@contextmanager
def gateway_url(literature: LiteratureChoice, settings: Settings) -> Iterator[str]:
    """Address of what answers look-ups outside a run: the gateway that is named, else one for the
    block, whose answers all such commands of the machine share.
    """
    if literature.url is not None:
        yield literature.url
        return
    cache = settings.home / "literature-cache"
    with GatewayProcess(settings, indexed(literature, settings), cache) as gateway:
        yield gateway.url


def _serving(url: str, identity: str) -> str:
    """`url`, whose gateway was started after its literature was named."""
    if literature_identity(url) != identity:
        raise ConfigurationError("the snapshot was updated meanwhile: the same command goes on")
    return url


def _warn_of_earlier_rules(literature: LiteratureChoice) -> None:
    snapshot = literature.snapshot
    if snapshot is not None and read_manifest(snapshot).rules != LITERATURE_RULES:
        print_warning(
            f"{snapshot} was built by another version, which read dates, retractions and versions"
            " of papers otherwise: build it again with `assay literature build`, then apply its"
            " updates"
        )


def lacking(literature: LiteratureChoice) -> str:
    """Return what a snapshot that stands alone does not know of citations, as one sentence."""
    if literature.snapshot is None or not literature.unlimited:
        return ""
    manifest = read_manifest(literature.snapshot)
    if not manifest.has_references:
        return NO_REFERENCES
    return "" if manifest.has_contexts else NO_PASSAGES


def indexed(literature: LiteratureChoice, settings: Settings) -> LiteratureChoice:
    path = literature.snapshot
    if path is None or path.is_dir():
        return literature
    return literature.at(index_with_progress(path, settings.home))


def build_network(literature: LiteratureChoice, settings: Settings) -> None:
    """Build the network of a snapshot's concepts before any worker needs it, with progress."""
    from tasks.ideation.network import open_network

    snapshot = indexed(literature, settings).snapshot
    if snapshot is not None:
        with shown_progress() as progress, open_network(snapshot, settings.home, progress=progress):
            pass
