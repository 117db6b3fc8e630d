"""Building the index of a snapshot, with progress a person can follow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tasks.literature.snapshot.build import index_for_parquet

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
