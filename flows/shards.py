"""Shards: work written as files, sent to the workers, and sent again when a worker was lost."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from prefect import Task
from prefect.futures import wait

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.reasons import Reason

MAXIMUM_ROUNDS = 3
"""Times a lost shard is sent again; what did land of it is not made again."""

SHARDS_PER_WORKER = 4


class Ended(Protocol):
    """A receipt, as far as it tells how its unit of work ended."""

    @property
    def incomplete_reason(self) -> Reason | None: ...


def write_shards(folder: Path, jobs: Iterable[Noun]) -> tuple[Path, ...]:
    """Write every job as a file of its own, in place of those of an earlier start."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("shard-*.json"):
        old.unlink()
    paths = []
    for number, job in enumerate(jobs):
        path = folder / f"shard-{number:05d}.json"
        path.write_text(job.model_dump_json())
        paths.append(path)
    return tuple(paths)


def send_shards(
    task: Task[[str], int], paths: tuple[Path, ...], unfinished: Callable[[], tuple[Path, ...]]
) -> None:
    """Send every shard to the workers; send again what a lost worker left undone.

    A task whose worker was lost for good ends with its Prefect state still `Running`, so it is the
    receipts behind `unfinished` that say what is done, never the states.

    Raises:
        ConfigurationError: a shard found that the request cannot be met.
    """
    waiting = paths
    for _ in range(MAXIMUM_ROUNDS):
        if not waiting:
            return
        futures = [task.submit(str(path)) for path in waiting]
        wait(futures)
        for future in futures:
            if future.state.is_failed() or future.state.is_crashed():
                reraise_configuration_errors(future.result(raise_on_failure=False))
        waiting = unfinished()


def reraise_configuration_errors(result: object) -> None:
    if isinstance(result, ConfigurationError):
        raise result


def first_incomplete_reason(names: Iterable[str], receipts: Mapping[str, Ended]) -> Reason | None:
    """Why the work is not whole, by the first unit that is not; one without a receipt lost its worker for good."""
    reasons = (
        receipts[name].incomplete_reason if name in receipts else Reason.WORKER_LOST
        for name in names
    )
    return next((reason for reason in reasons if reason), None)


def count_landed(folder: Path, prefix: str) -> int:
    """Units that have landed in a folder, such as those called `group=…`."""
    return (
        sum(entry.name.startswith(prefix) for entry in os.scandir(folder)) if folder.is_dir() else 0
    )
