"""Progress of a run, counted from landed receipts: terminal, log and callback."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from flows.cli.terminal import notes_are_on, time_of_day
from warehouse.run_log import EVENTS

POLL_SECONDS = 0.5
REPORT_SECONDS = 5.0
LINE_SECONDS = 10.0


Report = Callable[[float], bool]
"""Called with the percentage done; returns False if no further calls are needed."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Work with countable progress: `done()` of `total()` units.

    `total` may fall during the work. `beside` is text after the numbers.
    """

    done: Callable[[], int]
    total: Callable[[], int]
    verb: str
    nouns: str
    artifact_key: str
    description: str
    beside: Callable[[], str] = str


@contextmanager
def progress(watched: Watched, report: Report | None = None) -> Iterator[None]:
    """Show progress while the block runs: a bar, or a line every ten seconds.

    `report` is called every five seconds and at the end.
    """
    console = Console(stderr=True)
    stopped = threading.Event()
    console.quiet = not notes_are_on()
    watch = _watch_bar if console.is_terminal else _watch_lines
    watchers = [
        threading.Thread(target=watch, args=(watched, stopped, console), daemon=True),
        threading.Thread(target=_watch_for_the_log, args=(watched, stopped), daemon=True),
    ]
    if report is not None:
        telling = threading.Thread(target=_report, args=(watched, stopped, report), daemon=True)
        watchers.append(telling)
    for watcher in watchers:
        watcher.start()
    try:
        yield
    finally:
        stopped.set()
        for watcher in watchers:
            watcher.join()


def _watch_bar(watched: Watched, stopped: threading.Event, console: Console) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(
            f"{watched.nouns} {watched.verb}".capitalize(),
            total=watched.total(),
            completed=watched.done(),
        )
        described = bar.tasks[task].description
        while not stopped.wait(POLL_SECONDS):
            bar.update(
                task,
                completed=watched.done(),
                total=watched.total(),
                description=f"{described}{watched.beside()}",
            )
        bar.update(task, completed=watched.done(), total=watched.total())


def _watch_lines(watched: Watched, stopped: threading.Event, console: Console) -> None:
    started, before = time.monotonic(), watched.done()
    last_line = ""
    while not stopped.wait(LINE_SECONDS if last_line else POLL_SECONDS):
        done = watched.done()
        line = _line(watched, done)
        if line != last_line:
            rate = (done - before) / max(time.monotonic() - started, 1e-9)
            remaining = (
                f", about {(watched.total() - done) / rate / 60:.1f} min to go" if rate > 0 else ""
            )
            console.print(f"{time_of_day()} {line}{remaining}", highlight=False)
            last_line = line
    if (line := _line(watched, watched.done())) != last_line:
        console.print(f"{time_of_day()} {line}", highlight=False)


def _watch_for_the_log(watched: Watched, stopped: threading.Event) -> None:
    before, over = -1, False
    while not over:
        over = stopped.wait(LINE_SECONDS)
        done = watched.done()
        if done != before:
            counts = {"done_count": done, "total_count": watched.total(), "nouns": watched.nouns}
            EVENTS.info("progress", extra=counts)
        before = done


def _line(watched: Watched, done: int) -> str:
    return f"{watched.verb} {done} of {watched.total()} {watched.nouns}{watched.beside()}"


def _report(watched: Watched, stopped: threading.Event, report: Report) -> None:
    over = False
    while not over:
        over = stopped.wait(REPORT_SECONDS)
        over |= not report(100.0 * watched.done() / max(watched.total(), 1))
