"""Shards: written as files, worked on, and worked on again when a worker was lost."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from schemas.errors import ConfigurationError
from schemas.run import WorkRequest
from tasks.shards.work import Shard

MAXIMUM_ROUNDS = 3
"""Times a lost shard is sent again; what did land of it is not made again."""

SHARDS_PER_WORKER = 4

UnitT = TypeVar("UnitT")

Send = Callable[[Sequence[Path]], Iterable[BaseException]]
"""Has shard files worked on; what became of those that failed."""


def shard_count(request: WorkRequest, unit_count: int, per_worker: int = SHARDS_PER_WORKER) -> int:
    """Into how many shards so many units are dealt: one where the command works on them itself."""
    if request.in_this_process(unit_count):
        return min(unit_count, 1)
    return min(unit_count, request.worker_count * per_worker)


def dealt(units: Sequence[UnitT], request: WorkRequest) -> list[tuple[UnitT, ...]]:
    """`units` dealt out in turn, a hand for each shard."""
    count = shard_count(request, len(units))
    return [tuple(units[number::count]) for number in range(count)]


def write_shards(folder: Path, shards: Iterable[Shard]) -> dict[Path, tuple[str, ...]]:
    """Write every shard as a file, in place of those of an earlier start;
    the names of its units.
    """
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
    send: Send, paths: Sequence[Path], unfinished: Callable[[], Sequence[Path]]
) -> None:
    """Send every shard; send again what a lost worker left undone.

    A Prefect task whose worker was lost for good ends with its state still `Running`, so it is the
    receipts behind `unfinished` that say what is done, never what `send` gives.

    Raises:
        ConfigurationError: a shard found that the request cannot be met.
    """
    waiting = paths
    for _ in range(MAXIMUM_ROUNDS):
        if not waiting:
            return
        for error in send(waiting):
            if isinstance(error, ConfigurationError):
                raise error
        waiting = unfinished()
