"""Dask preload: runs first in each worker that Assay starts."""

from distributed import Worker

from schemas.interpreter import collect_garbage_seldom
from tasks.telemetry.reporting import count_calls


def dask_setup(worker: Worker) -> None:
    """Configure a worker; Dask calls this before the worker gets tasks."""
    stop_profiling(worker)
    collect_garbage_seldom()
    count_calls()


def stop_profiling(worker: Worker) -> None:
    """Stop Dask's sampling of every thread a hundred times a second, which nobody reads.

    Under Python 3.11 before 3.11.9 a garbage collection during a sample deadlocks the process: it
    waits for the interpreter's lock, whose holder waits for the list of threads
    (python/cpython#106883, dask/distributed#8616).
    """
    for name in ("profile", "profile-cycle"):
        if (callback := worker.periodic_callbacks.pop(name, None)) is not None:
            callback.stop()
