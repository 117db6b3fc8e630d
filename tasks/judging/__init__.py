"""Judging: steps, the engines that run them, and the one list of steps.

`judging.STEPS` is every registered step, in order of work; it is resolved on first use because the
topics that declare steps import this package.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "STEPS":
        from tasks.judging.registry import STEPS

        return STEPS
    raise AttributeError(name)
