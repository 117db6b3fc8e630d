"""Shards: written as files, sent to the workers, and sent again when a worker was lost."""

from collections.abc import Callable, Iterable
from pathlib import Path

from prefect import Task
from prefect.futures import wait

from schemas.errors import ConfigurationError
from tasks.shards.work import Shard

MAXIMUM_ROUNDS = 3
"""Times a lost shard is sent again; what did land of it is not made again."""

SHARDS_PER_WORKER = 4


def write_shards(folder: Path, shards: Iterable[Shard]) -> dict[Path, tuple[str, ...]]:
    """Write every shard as a file, in place of those of an earlier start; the names of its units."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("shard-*.json"):
        old.unlink()
    names = {}
    for number, shard in enumerate(shards):
        path = folder / f"shard-{number:05d}.json"
        path.write_text(shard.model_dump_json())
        names[path] = shard.unit_names
    return names


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
