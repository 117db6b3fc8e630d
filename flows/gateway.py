"""The gateway a run talks to: an existing one, or one started for the run and kept alive while it lasts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flows.indexing import index_with_progress
from flows.request import THEN_LIVE
from schemas.run import RunRequest
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.identity import literature_identity
from warehouse.layout import Layout


@dataclass(frozen=True, slots=True)
class OpenGateway:
    """Where the gateway answers, and what literature is behind it."""

    url: str
    literature: str


@contextmanager
def gateway_for(request: RunRequest, settings: Settings, layout: Layout) -> Iterator[OpenGateway]:
    """Open the literature the request names; see `open_gateway`."""
    with open_gateway(request.literature, settings, layout) as gateway:
        yield gateway


@contextmanager
def open_gateway(literature: str, settings: Settings, layout: Layout) -> Iterator[OpenGateway]:
    """Open `snapshot:PATH`, `live` or a gateway's URL.

    A Parquet or JSONL snapshot is indexed first; the index is kept under `settings.home`.

    Raises:
        ConfigurationError: no gateway answers at the given URL.
        SnapshotError: the snapshot is missing, empty or broken.
    """
    if literature.startswith(("http://", "https://")):
        yield OpenGateway(literature, literature_identity(literature))
        return
    with GatewayProcess(settings, indexed(literature, settings), layout.cache) as process:
        yield OpenGateway(process.url, literature_identity(process.url))


def indexed(literature: str, settings: Settings) -> str:
    """`live` as it is; `snapshot:<file>` → `snapshot:<index>`, built on first use; `+live` stays behind it."""
    if not literature.startswith("snapshot:"):
        return literature
    suffix = THEN_LIVE if literature.endswith(THEN_LIVE) else ""
    path = Path(literature.removeprefix("snapshot:").removesuffix(THEN_LIVE))
    return (
        literature
        if path.is_dir()
        else f"snapshot:{index_with_progress(path, settings.home)}{suffix}"
    )
