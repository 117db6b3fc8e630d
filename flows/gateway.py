"""The gateway a run talks to: an existing one, or one started for the run and kept alive while it
lasts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flows.indexing import index_with_progress
from schemas.choices import LiteratureChoice
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess, literature_identity
from warehouse.layout import Layout


@dataclass(frozen=True, slots=True)
class OpenGateway:
    """Where the gateway answers, and what literature is behind it."""

    url: str
    literature: str


@contextmanager
def open_gateway(
    literature: LiteratureChoice, settings: Settings, layout: Layout
) -> Iterator[OpenGateway]:
    """Start a gateway for the literature, or take the one it names.

    A Parquet or JSONL snapshot is indexed first; the index is kept under `settings.home`.

    Raises:
        ConfigurationError: no gateway answers at the given URL.
        SnapshotError: the snapshot is missing, empty or broken.
    """
    if literature.url is not None:
        yield OpenGateway(literature.url, literature_identity(literature.url))
        return
    with GatewayProcess(settings, indexed(literature, settings), layout.cache) as process:
        yield OpenGateway(process.url, literature_identity(process.url))


def indexed(literature: LiteratureChoice, settings: Settings) -> LiteratureChoice:
    """The same literature with the index in place of a file, built on first use."""
    path = literature.snapshot
    if path is None or path.is_dir():
        return literature
    return literature.at(index_with_progress(path, settings.home))
