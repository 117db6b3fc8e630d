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
from tasks.literature.snapshot.folder import read_manifest
from warehouse.layout import Layout

NO_REFERENCES = "The snapshot knows no references: papers are found by search alone."
NO_PASSAGES = "The snapshot does not know how papers cite each other, only that they do."


@dataclass(frozen=True, slots=True)
class OpenGateway:
    """Where the gateway answers, and what literature is behind it.

    Attributes:
        lacks: in words, what of its citations a snapshot does not know; empty: nothing, or it is
            the gateway's own affair.
    """

    url: str
    literature: str
    lacks: str = ""
    knows_references: bool = True


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
    found = indexed(literature, settings)
    with GatewayProcess(settings, found, layout.cache) as process:
        lacks = lacking(found)
        identity = literature_identity(process.url)
        yield OpenGateway(process.url, identity, lacks, lacks != NO_REFERENCES)


def lacking(literature: LiteratureChoice) -> str:
    """What a snapshot that stands alone does not know of citations, as one sentence."""
    if literature.snapshot is None or not literature.unlimited:
        return ""
    manifest = read_manifest(literature.snapshot)
    if not manifest.has_references:
        return NO_REFERENCES
    return "" if manifest.has_contexts else NO_PASSAGES


def indexed(literature: LiteratureChoice, settings: Settings) -> LiteratureChoice:
    """The same literature with the index in place of a file, built on first use."""
    path = literature.snapshot
    if path is None or path.is_dir():
        return literature
    return literature.at(index_with_progress(path, settings.home))
