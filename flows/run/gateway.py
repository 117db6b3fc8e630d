"""Literature gateway of a run: an existing one, or one started for its duration."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache

from flows.cli.terminal import print_warning
from flows.run.cluster_access import places_for_workers
from flows.run.indexing import index_with_progress
from flows.run.network import bypass_proxies
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
        start: starts the gateway on first use and returns its address. A run with nothing to do
            needs none.
        lacks: a sentence about missing citation data of a snapshot; empty: nothing is missing, or
            the gateway was started elsewhere.
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
    """Yield the named gateway, or one that starts when its address is first used.

    Workers of the scheduler can reach it too. A Parquet or JSONL snapshot is indexed first; the
    index is stored under `settings.home`.

    Raises:
        ConfigurationError: no gateway answers at the given URL.
        SnapshotError: the snapshot is missing, empty or broken.
    """
    if literature.url is not None:
        url = literature.url
        bypass_proxies(url)
        yield OpenGateway(lambda: url, literature_identity(url))
        return
    index = with_index(literature, warehouse.settings)
    _warn_of_earlier_rules(index)
    with ExitStack() as stack:

        @cache
        def start() -> str:
            place = places_for_workers(scheduler_address, warehouse.settings)
            return stack.enter_context(
                GatewayProcess(warehouse.settings, index, warehouse.cache, place)
            ).url

        missing_data, identity = (missing_citations(index), identity_of(index, warehouse.settings))
        yield OpenGateway(
            lambda: _serving(start(), identity),
            identity,
            missing_data,
            missing_data != NO_REFERENCES,
        )


@contextmanager
def gateway_url(literature: LiteratureChoice, settings: Settings) -> Iterator[str]:
    """Yield the address of a gateway for searches outside a run.

    The cache of a started gateway is shared by all such commands of the machine.
    """
    if literature.url is not None:
        bypass_proxies(literature.url)
        yield literature.url
        return
    cache = settings.home / "literature-cache"
    with GatewayProcess(settings, with_index(literature, settings), cache) as gateway:
        yield gateway.url


def _serving(url: str, identity: str) -> str:
    """Return `url` if its gateway serves the literature with this identity."""
    if literature_identity(url) != identity:
        raise ConfigurationError("the snapshot was updated meanwhile: run the same command again")
    return url


def _warn_of_earlier_rules(literature: LiteratureChoice) -> None:
    snapshot = literature.snapshot
    if snapshot is not None and read_manifest(snapshot).rules != LITERATURE_RULES:
        print_warning(
            f"{snapshot} was built by another version, which read dates, retractions and versions"
            " of papers otherwise: build it again with `assay literature build`, then apply its"
            " updates"
        )


def missing_citations(literature: LiteratureChoice) -> str:
    """Return a sentence about missing citation data of a snapshot; empty if complete."""
    if literature.snapshot is None or not literature.unlimited:
        return ""
    manifest = read_manifest(literature.snapshot)
    if not manifest.has_references:
        return NO_REFERENCES
    return "" if manifest.has_contexts else NO_PASSAGES


def with_index(literature: LiteratureChoice, settings: Settings) -> LiteratureChoice:
    path = literature.snapshot
    if path is None or path.is_dir():
        return literature
    return literature.at(index_with_progress(path, settings.home))
