"""Threads in which LiteLLM prepares calls. What it prepared for a cancelled call is closed."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

_LONGEST_SECONDS = 1.0
"""Preparing takes milliseconds; where a thread takes longer, it may have sent the call itself."""


class Preparation:
    """The preparation of one call."""

    abandoned: "Future[Any] | None" = None

    async def is_unsent(self) -> bool:
        """Return whether the call was cancelled before it was sent."""
        future = self.abandoned
        if future is None:
            return False
        await asyncio.wait({asyncio.wrap_future(future)}, timeout=_LONGEST_SECONDS)
        return future.cancelled() or inspect.iscoroutine(_result_of(future))


_CURRENT: ContextVar[Preparation | None] = ContextVar("preparation", default=None)
_LOOPS: "WeakSet[asyncio.AbstractEventLoop]" = WeakSet()


@contextmanager
def preparation() -> Iterator[Preparation]:
    """Follow the call that is made inside, in the running loop."""
    loop = asyncio.get_running_loop()
    if loop not in _LOOPS:
        loop.set_default_executor(_Threads())
        _LOOPS.add(loop)
    current = Preparation()
    token = _CURRENT.set(current)
    try:
        yield current
    finally:
        _CURRENT.reset(token)


class _Prepared(Future[Any]):
    """A result of a thread; a coroutine that nobody waits for is closed."""

    def __init__(self) -> None:
        super().__init__()
        self._preparation = _CURRENT.get()
        self._is_abandoned = False

    def cancel(self) -> bool:
        self._is_abandoned = True
        if self._preparation is not None:
            self._preparation.abandoned = self
        if self.done():
            self._close()
        return super().cancel()

    def set_result(self, result: Any) -> None:
        super().set_result(result)
        if self._is_abandoned:
            self._close()

    def _close(self) -> None:
        if inspect.iscoroutine(result := _result_of(self)):
            result.close()


def _result_of(future: Future[Any]) -> Any:
    """Return the result; None: there is none, or not yet."""
    if not future.done() or future.cancelled() or future.exception() is not None:
        return None
    return future.result()


class _Threads(ThreadPoolExecutor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        prepared = _Prepared()

        def work() -> None:
            if not prepared.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 -- whoever waits gets it
                prepared.set_exception(error)
            else:
                prepared.set_result(result)

        super().submit(work)
        return prepared
