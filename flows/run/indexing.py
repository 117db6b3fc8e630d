"""Building and updating the index of a snapshot, with progress."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flows.cli.terminal import notes_are_on, time_of_day
from schemas.settings import Settings
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import paper_text
from tasks.literature.snapshot.build import build_snapshot, index_for_parquet
from tasks.literature.snapshot.folder import read_manifest
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.update import update_snapshot
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse

LINE_EVERY = 10_000
_PAPERS_PER_TURN = 512

Report = Callable[[int, int, str], None]


@contextmanager
def progress_display() -> Iterator[Report]:
    """Yield a callback `(done, total, stage)` that shows progress.

    It draws a bar on a terminal, prints lines elsewhere, and nothing with `--quiet`.
    """
    console = Console(stderr=True, highlight=False, quiet=not notes_are_on())
    if not console.is_terminal:
        last_counts: dict[str, int] = {}

        def lines(done_count: int, total: int, stage: str) -> None:
            if (
                done_count >= total
                or done_count - last_counts.get(stage, -LINE_EVERY) >= LINE_EVERY
            ):
                last_counts[stage] = done_count
                console.print(f"{time_of_day()} {stage}: {done_count:,} of {total:,}")

        yield lines
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    ) as bar:
        tasks = {}

        def draw(done_count: int, total: int, stage: str) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done_count, total=total)

        yield draw


def index_with_progress(source: Path, home: Path) -> Path:
    """Return the index of a Parquet or JSONL file, built on first use under `home`."""
    with progress_display() as report:
        return index_for_parquet(source, home, report)


def build_index(source: Path, target: Path, embeddings: bool, settings: Settings) -> str:
    """Build the index of `source` in `target`, and return a line about its content."""
    with progress_display() as report:
        return str(
            build_snapshot(
                source,
                target,
                embedder=_embedder(settings) if embeddings else None,
                progress=report,
            )
        )


def update_index(source: Path, target: Path, embeddings: bool, settings: Settings) -> str:
    """Apply the changes in `source` to an index, and return a line about them.

    An index with embeddings keeps them.
    """
    embedder = _embedder(settings) if embeddings else embedder_for(target, settings)
    with progress_display() as report:
        update = update_snapshot(source, target, embedder=embedder, progress=report)
    counts = ", ".join(f"{count:,} {name}" for name, count in update.counts.items())
    return f"{update.snapshot}; {counts or 'nothing new'}"


def embed_for_evaluations(index: Path, warehouse: Path, settings: Settings) -> str:
    """Store the embedding of every indexed paper in the cache of the warehouse.

    Workers then embed only ideas. Model, text and key are those of an evaluation, so no score
    changes. An interrupted run resumes.
    """
    from tasks.embeddings.sentence_embedder import SentenceEmbedder  # slow import

    manifest = read_manifest(index)
    store = PaperStore(index, name=manifest.store_name)
    embedder = SentenceEmbedder(
        settings.embeddings, KeyedStore(Warehouse(warehouse, settings).cache / "embeddings.sqlite")
    )
    try:
        with progress_display() as report:
            asyncio.run(
                _embed_all(
                    store, embedder, lambda done: report(done, manifest.paper_count, "vectors")
                )
            )
    finally:
        store.close()
    return f"{manifest.paper_count:,} vectors are in {warehouse}"


async def _embed_all(store: PaperStore, embedder: Embedder, report: Callable[[int], None]) -> None:
    papers = store.records_from(0)
    embedded_count = 0
    while batch := [
        paper_text(record.title, record.abstract) for _, record in islice(papers, _PAPERS_PER_TURN)
    ]:
        await embedder.embed(batch)
        embedded_count += len(batch)
        report(embedded_count)


def embedder_for(index: Path, settings: Settings) -> Embedder | None:
    """Return the embedder for changed papers; None if the index has no embeddings.

    Raises:
        SnapshotError: there is no finished index.
    """
    has_embeddings = read_manifest(index).embedding_dimensions is not None
    return _embedder(settings) if has_embeddings else None


def _embedder(settings: Settings) -> Embedder:
    from tasks.embeddings.sentence_embedder import SentenceEmbedder  # slow import

    return SentenceEmbedder(settings.embeddings, None)
