"""How far a run is, read from the receipts that have landed: on the terminal, as plain lines, and as a Prefect artifact."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from flows.plan import RunPlan
from warehouse.layout import Layout

POLL_SECONDS = 0.5
ARTIFACT_SECONDS = 5.0
LINE_SECONDS = 10.0


@contextmanager
def progress_of(plan: RunPlan, layout: Layout) -> Iterator[None]:
    """Show progress while the block runs: a bar on a terminal, a line every ten seconds elsewhere."""
    console = Console(stderr=True)
    stopped = threading.Event()
    artifact_id = create_progress_artifact(progress=0.0, key="evaluate-batch-progress", description=f"Ideas evaluated in run {plan.run_id}")
    watch = _watch_bar if console.is_terminal else _watch_lines
    watcher = threading.Thread(target=watch, args=(plan, layout, stopped, console), daemon=True)
    watcher.start()
    reporter = threading.Thread(target=_report, args=(plan, layout, stopped, artifact_id), daemon=True)
    reporter.start()
    try:
        yield
    finally:
        stopped.set()
        watcher.join()
        reporter.join()


def _finished(plan: RunPlan, layout: Layout) -> int:
    folder = layout.run(plan.run_id)
    landed = sum(entry.name.startswith("idea=") for entry in os.scandir(folder)) if folder.is_dir() else 0
    return min(landed, plan.idea_count)


def _watch_bar(plan: RunPlan, layout: Layout, stopped: threading.Event, console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("Evaluating ideas", total=plan.idea_count, completed=_finished(plan, layout))
        while not stopped.wait(POLL_SECONDS):
            bar.update(task, completed=_finished(plan, layout))
        bar.update(task, completed=_finished(plan, layout))


def _watch_lines(plan: RunPlan, layout: Layout, stopped: threading.Event, console: Console) -> None:
    started, before = time.monotonic(), _finished(plan, layout)
    shown = -1
    while not stopped.wait(POLL_SECONDS if shown < 0 else LINE_SECONDS):
        done = _finished(plan, layout)
        if done != shown:
            rate = (done - before) / max(time.monotonic() - started, 1e-9)
            remaining = f", about {(plan.idea_count - done) / rate / 60:.1f} min to go" if rate > 0 else ""
            console.print(f"evaluated {done} of {plan.idea_count} ideas{remaining}", highlight=False)
            shown = done
    if (done := _finished(plan, layout)) != shown:
        console.print(f"evaluated {done} of {plan.idea_count} ideas", highlight=False)


def _report(plan: RunPlan, layout: Layout, stopped: threading.Event, artifact_id: UUID) -> None:
    done = False
    while not done:
        done = stopped.wait(ARTIFACT_SECONDS)
        share = 100.0 * _finished(plan, layout) / max(plan.idea_count, 1)
        update_progress_artifact(artifact_id=artifact_id, progress=share)
