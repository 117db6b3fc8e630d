"""What Dask runs first in each worker that Assay starts (its name for this is a preload)."""

from distributed import Worker

from schemas.interpreter import collect_garbage_seldom
from tasks.telemetry.reporting import count_calls


def dask_setup(_worker: Worker) -> None:
    """Called by Dask once the worker is there, before it is given work."""
    collect_garbage_seldom()
    count_calls()
