"""How one Python process starts another."""

import sys


def interpreter() -> list[str]:
    """`python -P`: this interpreter, which imports nothing from the folder it is started in.

    A file there, such as `orjson.py`, is not taken for a library. `PYTHONPATH` and installed
    packages count as ever.
    """
    return [sys.executable, "-P"]


def module_command(module: str, *arguments: str) -> list[str]:
    """`python -P -m MODULE ARGUMENTS…`."""
    return [*interpreter(), "-m", module, *arguments]
