"""Child processes, forked from a server that has imported what they need."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from typing import Any

CHILDREN = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload(["tests.support.evaluations", "tasks.accounting.budgets"])


def start_child(work: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """Start `work` in a process with the environment as it is now."""
    child = CHILDREN.Process(target=_work, args=(dict(os.environ), work, arguments))
    child.start()
    return child


def _work(environment: dict[str, str], work: Callable[..., None], arguments: Any) -> None:
    os.environ.update(environment)
    work(*arguments)
