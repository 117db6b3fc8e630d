"""What Dask runs first in each local worker (its name for this is a preload)."""

from distributed import Worker

from schemas.interpreter import collect_garbage_seldom


def dask_setup(_worker: Worker) -> None:
    """Called by Dask once the worker is there, before it is given work."""
    collect_garbage_seldom()
