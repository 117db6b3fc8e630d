"""Work that goes on until it can only wait for answers that come from outside, much later.

A unit whose questions travel in batches asks as many of them as it can; once each of its tasks
waits for such an answer, or for a task that does, the unit is put down. It is worked on from the
beginning when the answers are there.
"""

import asyncio
import inspect
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, TypeVar, cast

from schemas.identifiers import content_hash

ResultT = TypeVar("ResultT")
_MARK = ".waiting"
_WAITING_FOR_TASKS = (asyncio.taskgroups.__file__, asyncio.tasks.__file__)


class StandstillError(Exception):
    """All of the work waits for answers from outside."""


_FOLLOWED: ContextVar["_Tasks | None"] = ContextVar("tasks_followed", default=None)


def may_stand_still() -> bool:
    """Return whether the caller is part of work that `until_standstill` follows."""
    return _FOLLOWED.get() is not None


@contextmanager
def unfollowed() -> Iterator[None]:
    """Tasks started inside are none of the work's: a library's own, which may never end."""
    token = _FOLLOWED.set(None)
    try:
        yield
    finally:
        _FOLLOWED.reset(token)


async def answer_from_outside() -> None:
    """Waits for what does not come while the work goes on; only inside `until_standstill`."""
    tasks = _FOLLOWED.get()
    assert tasks is not None
    await tasks.outside()


async def until_standstill(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return what `work` gives.

    Raises:
        StandstillError: every task of it waits for an answer from outside; all of them are ended.
    """
    loop = asyncio.get_running_loop()
    if loop.get_task_factory() is not _follow:
        loop.set_task_factory(cast(Any, _follow))
    tasks = _Tasks(loop)
    context = copy_context()
    context.run(_FOLLOWED.set, tasks)
    main = context.run(loop.create_task, work)
    tasks.main = main
    try:
        return await main
    except asyncio.CancelledError:
        if tasks.still and main.cancelled():
            raise StandstillError from None
        main.cancel()
        raise


class PutDown:
    """Units that were put down, as files: they outlive the worker.

    Args:
        folder: theirs alone; made when the first unit is put down.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def wait(self, unit: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._mark(unit).touch()

    def is_waiting(self, unit: str) -> bool:
        return self._mark(unit).exists()

    def end(self, unit: str) -> None:
        self._mark(unit).unlink(missing_ok=True)

    def go_on(self) -> None:
        """No unit waits any more: the answers are there."""
        for mark in self.folder.glob(f"*{_MARK}"):
            mark.unlink()

    def _mark(self, unit: str) -> Path:
        return self.folder / f"{content_hash(unit, length=32)}{_MARK}"


class _Tasks:
    """The tasks of one piece of work, and what each of them waits for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.main: asyncio.Task[Any] | None = None
        self.still = False
        self._loop = loop
        self._steps: dict[asyncio.Task[Any], _Steps] = {}
        self._parents: dict[asyncio.Task[Any], asyncio.Task[Any] | None] = {}
        self._outside: set[asyncio.Future[None]] = set()

    async def outside(self) -> None:
        answer = self._loop.create_future()
        self._outside.add(answer)
        try:
            await answer
        finally:
            self._outside.discard(answer)

    def start(self, coroutine: Coroutine[Any, Any, Any], **named: Any) -> asyncio.Task[Any]:
        steps = _Steps(coroutine, self)
        parent = asyncio.current_task(self._loop)
        task: asyncio.Task[Any] = asyncio.Task(steps, loop=self._loop, **named)
        self._steps[task] = steps
        self._parents[task] = parent
        task.add_done_callback(self._ended)
        return task

    def stepped(self) -> None:
        """A task has come to a wait: once the loop has done what is due, look."""
        if self._outside and not self.still:
            self._loop.call_soon(self._look)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._steps[task], self._parents[task]
        self.stepped()

    def _look(self) -> None:
        if self.still or self.main is None or self.main.done() or not self._outside:
            return
        parents = set(self._parents.values())
        if all(
            not task.done() and self._waits(steps, has_children=task in parents)
            for task, steps in self._steps.items()
        ):
            self.still = True
            self.main.cancel()

    def _waits(self, steps: "_Steps", *, has_children: bool) -> bool:
        """Return whether a task waits for an answer from outside, or for other tasks of the work."""
        awaited_object = steps.waits_for
        if not isinstance(awaited_object, asyncio.Future) or awaited_object.done():
            return False
        if awaited_object in self._outside or awaited_object in self._steps:
            return True
        return has_children and (
            type(awaited_object) is not asyncio.Future or steps.waits_in_asyncio()
        )


class _Steps(Coroutine[Any, Any, Any]):
    """A coroutine that remembers what it waits for: what it gives to the event loop."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], tasks: _Tasks) -> None:
        self._coroutine = coroutine
        self._tasks = tasks
        self.waits_for: object = None

    def send(self, value: Any) -> Any:
        self.waits_for = None
        self.waits_for = self._coroutine.send(value)
        self._tasks.stepped()
        return self.waits_for

    def throw(self, *error: Any) -> Any:
        self.waits_for = None
        self.waits_for = self._coroutine.throw(*error)
        self._tasks.stepped()
        return self.waits_for

    def close(self) -> None:
        self._coroutine.close()

    def waits_in_asyncio(self) -> bool:
        """Return whether what waits is asyncio's own way of waiting for tasks,
        such as the end of a group.
        """
        inner: Any = self._coroutine
        while inspect.iscoroutine(inner.cr_await):
            inner = inner.cr_await
        return inner.cr_code.co_filename in _WAITING_FOR_TASKS

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:  # cr_frame and the like, which anyio looks at
        return getattr(self._coroutine, name)


def _follow(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT], **named: Any
) -> asyncio.Task[ResultT]:
    """The event loop's task factory: a task started by followed work is followed as well."""
    tasks = _FOLLOWED.get()
    if tasks is None or not asyncio.iscoroutine(coroutine):
        return asyncio.Task(coroutine, loop=loop, **named)
    return tasks.start(coroutine, **named)
