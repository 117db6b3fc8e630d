"""One command at a time works on a run: two would share shard files and pay for the same calls."""

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.warehouse import Warehouse


@contextmanager
def only_command_on(warehouse: Warehouse, run_id: RunId) -> Iterator[None]:
    """Hold the run while the block runs; a killed process lets go by dying.

    Raises:
        ConfigurationError: another command is at work on the same run.
    """
    path = warehouse.state / "runs" / run_id / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            f"another command is at work on run {run_id} already: wait for it, or stop it first"
        ) from error
    try:
        yield
    finally:
        lock.release()
