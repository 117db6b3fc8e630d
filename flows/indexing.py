"""Building the index of a snapshot, with progress a person can follow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from schemas.settings import Settings
from tasks.embeddings.embedder import Embedder
from tasks.literature.snapshot.build import build_snapshot, index_for_parquet
from tasks.literature.snapshot.manifest import read_manifest
from tasks.literature.snapshot.update import update_snapshot

LINE_EVERY = 10_000

Report = Callable[[int, int, str], None]


@contextmanager
def shown_progress() -> Iterator[Report]:
    """A callback `(done, total, stage)` that draws a bar on a terminal and writes lines elsewhere."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        last: dict[str, int] = {}

        def lines(done: int, total: int, stage: str) -> None:
            if done >= total or done - last.get(stage, -LINE_EVERY) >= LINE_EVERY:
                last[stage] = done
                console.print(f"{stage}: {done:,} of {total:,}")

        yield lines
        return
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console) as bar:
        tasks = {}

        def draw(done: int, total: int, stage: str) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield draw


def index_with_progress(source: Path, home: Path) -> Path:
    """The index of a Parquet or JSONL file, built on first use and kept under `home`."""
    with shown_progress() as report:
        return index_for_parquet(source, home, report)


def build_index(source: Path, target: Path, embeddings: bool, settings: Settings) -> str:
    """Build the index of `source` in `target` with progress; what it holds, in one line."""
    with shown_progress() as report:
        return str(build_snapshot(source, target, embedder=_embedder(settings) if embeddings else None, progress=report))


def update_index(source: Path, target: Path, embeddings: bool, settings: Settings) -> str:
    """Apply the changes in `source` to the index in `target`; what came of them, in one line. An index with embeddings keeps them."""
    wanted = embeddings or read_manifest(target).embedding_dimensions is not None
    with shown_progress() as report:
        updated = update_snapshot(source, target, embedder=_embedder(settings) if wanted else None, progress=report)
    counted = ", ".join(f"{count:,} {name}" for name, count in updated.counts.items())
    return f"{updated.snapshot}; {counted or 'nothing new'}"


def _embedder(settings: Settings) -> Embedder:
    from tasks.embeddings.sentence_embedder import SentenceEmbedder  # loads much: only where papers are embedded

    return SentenceEmbedder(settings.embeddings, None)
