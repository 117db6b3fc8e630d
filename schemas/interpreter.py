"""How one Python process starts another, and what each spends on collecting garbage."""

import atexit
import gc
import sys

_NEW_OBJECTS = 20_000
_YOUNG_COLLECTIONS = 20
_MIDDLE_COLLECTIONS = 50


def interpreter() -> list[str]:
    """`python -P`: this interpreter, which imports nothing from the folder it is started in.

    A file there, such as `orjson.py`, is not taken for a library. `PYTHONPATH` and installed
    packages count as ever.
    """
    return [sys.executable, "-P"]


def module_command(module: str, *arguments: str) -> list[str]:
    """`python -P -m MODULE ARGUMENTS…`."""
    return [*interpreter(), "-m", module, *arguments]


def collect_garbage_seldom() -> None:
    """Have this process look for cycles of objects seldom, and not when it ends.

    Importing the libraries of a run makes a million objects that stay. Python would search them for
    garbage again and again, and once more at the end: half of what a short command costs.
    """
    gc.set_threshold(_NEW_OBJECTS, _YOUNG_COLLECTIONS, _MIDDLE_COLLECTIONS)
    atexit.register(gc.freeze)
