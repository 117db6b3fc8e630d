"""Keeps linear algebra of small groups on one thread: handing a matrix of 100 rows to two takes longer than the work itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

ONE_THREAD_UP_TO = 600
"""Ideas."""


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Within, linear algebra about a group of `size` ideas runs on one thread where more would only get in each other's way."""
    if size > ONE_THREAD_UP_TO:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
