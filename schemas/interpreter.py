"""Commands that start Python processes, processors, and garbage collection settings."""

import atexit
import gc
import os
import sys

_NEW_OBJECTS = 20_000
_YOUNG_COLLECTIONS = 20
_MIDDLE_COLLECTIONS = 50


def interpreter() -> list[str]:
    """Return `python -P`: this interpreter, without imports from the working directory.

    A file there, such as `orjson.py`, must not shadow a library.
    """
    return [sys.executable, "-P"]


def module_command(module: str, *arguments: str) -> list[str]:
    """Return `python -P -m MODULE ARGUMENTS…`."""
    return [*interpreter(), "-m", module, *arguments]


def processor_count() -> int:
    """Return how many processors this process may use; a container may see more."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no such call
        return os.cpu_count() or 1


def collect_garbage_seldom() -> None:
    """Collect garbage less often, and not at exit.

    The libraries of a run create a million permanent objects; scanning them repeatedly would take
    half the time of a short command.
    """
    gc.set_threshold(_NEW_OBJECTS, _YOUNG_COLLECTIONS, _MIDDLE_COLLECTIONS)
    atexit.register(gc.freeze)
