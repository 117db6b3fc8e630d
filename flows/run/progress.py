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
class ProgressSource:
    """Work with countable progress: `done()` of `total()` units.

    `total` may fall during the work. `suffix` is text after the numbers.
    """

    done: Callable[[], int]
    total: Callable[[], int]
    verb: str
    nouns: str
    artifact_key: str
    description: str
    suffix: Callable[[], str] = str


@contextmanager
def progress(source: ProgressSource, report: Report | None = None) -> Iterator[None]:
    """Show progress while the block runs: a bar, or a line every ten seconds.

    `report` is called every five seconds and at the end.
    """
    console = Console(stderr=True)
    stop = threading.Event()
    console.quiet = not notes_are_on()
    watch = _watch_bar if console.is_terminal else _watch_lines
    watchers = [
        threading.Thread(target=watch, args=(source, stop, console), daemon=True),
        threading.Thread(target=_watch_for_the_log, args=(source, stop), daemon=True),
    ]
    if report is not None:
        reporter = threading.Thread(target=_report, args=(source, stop, report), daemon=True)
        watchers.append(reporter)
    for watcher in watchers:
        watcher.start()
    try:
        yield
    finally:
        stop.set()
        for watcher in watchers:
            watcher.join()


def _watch_bar(source: ProgressSource, stop: threading.Event, console: Console) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(
            f"{source.nouns} {source.verb}".capitalize(),
            total=source.total(),
            completed=source.done(),
        )
        label = bar.tasks[task].description
        while not stop.wait(POLL_SECONDS):
            bar.update(
                task,
                completed=source.done(),
                total=source.total(),
                description=f"{label}{source.suffix()}",
            )
        bar.update(task, completed=source.done(), total=source.total())


def _watch_lines(source: ProgressSource, stop: threading.Event, console: Console) -> None:
    start_time, done_at_start = time.monotonic(), source.done()
    last_line = ""
    while not stop.wait(LINE_SECONDS if last_line else POLL_SECONDS):
        done_count = source.done()
        line = _line(source, done_count)
        if line != last_line:
            rate = (done_count - done_at_start) / max(time.monotonic() - start_time, 1e-9)
            remaining = (
                f", about {(source.total() - done_count) / rate / 60:.1f} min to go"
                if rate > 0
                else ""
            )
            console.print(f"{time_of_day()} {line}{remaining}", highlight=False)
            last_line = line
    if (line := _line(source, source.done())) != last_line:
        console.print(f"{time_of_day()} {line}", highlight=False)


def _watch_for_the_log(source: ProgressSource, stop: threading.Event) -> None:
    last_count, is_stopped = -1, False
    while not is_stopped:
        is_stopped = stop.wait(LINE_SECONDS)
        done_count = source.done()
        if done_count != last_count:
            counts = {
                "done_count": done_count,
                "total_count": source.total(),
                "nouns": source.nouns,
            }
            EVENTS.info("progress", extra=counts)
        last_count = done_count


def _line(source: ProgressSource, done_count: int) -> str:
    return f"{source.verb} {done_count} of {source.total()} {source.nouns}{source.suffix()}"


def _report(source: ProgressSource, stop: threading.Event, report: Report) -> None:
    is_finished = False
    while not is_finished:
        is_finished = stop.wait(REPORT_SECONDS)
        is_finished |= not report(100.0 * source.done() / max(source.total(), 1))
