"""Suspension of units whose tasks all wait for answers from batches.

A unit sends as many questions to batches as it can. It is suspended once each of its tasks waits
for such an answer, or for a task that does. After the answers have arrived, the unit restarts from
the beginning.
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
    """All tasks of the unit wait for answers from outside."""


_FOLLOWED_TASKS: ContextVar["_Tasks | None"] = ContextVar("tasks_followed", default=None)


def may_stand_still() -> bool:
    """Return whether the caller is part of work that `until_standstill` follows."""
    return _FOLLOWED_TASKS.get() is not None


@contextmanager
def unfollowed() -> Iterator[None]:
    """Exclude tasks started in the block from standstill checks.

    A library's own tasks may never end.
    """
    token = _FOLLOWED_TASKS.set(None)
    try:
        yield
    finally:
        _FOLLOWED_TASKS.reset(token)


async def answer_from_outside() -> None:
    """Wait until the unit is suspended. Valid only inside `until_standstill`."""
    tasks = _FOLLOWED_TASKS.get()
    assert tasks is not None
    await tasks.outside()


async def until_standstill(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return the result of `work`.

    Raises:
        StandstillError: every task of `work` waits for an answer from outside. All are cancelled.
    """
    loop = asyncio.get_running_loop()
    if loop.get_task_factory() is not _follow:
        loop.set_task_factory(cast(Any, _follow))
    tasks = _Tasks(loop)
    context = copy_context()
    context.run(_FOLLOWED_TASKS.set, tasks)
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
    """Marks of suspended units, as files that outlive the worker.

    Args:
        folder: holds nothing but these marks; created with the first one.
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
        """Delete the marks of all units, because the answers have arrived."""
        for mark in self.folder.glob(f"*{_MARK}"):
            mark.unlink()

    def _mark(self, unit: str) -> Path:
        return self.folder / f"{content_hash(unit, length=32)}{_MARK}"


class _Tasks:
    """Tasks of one unit, with the object that each of them awaits."""

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
        """Check for a standstill after the loop's due callbacks."""
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
        """Return whether a task awaits an outside answer or another task."""
        awaited_object = steps.waits_for
        if not isinstance(awaited_object, asyncio.Future) or awaited_object.done():
            return False
        if awaited_object in self._outside or awaited_object in self._steps:
            return True
        return has_children and (
            type(awaited_object) is not asyncio.Future or steps.waits_in_asyncio()
        )


class _Steps(Coroutine[Any, Any, Any]):
    """Coroutine that stores the object it last yielded to the event loop."""

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
        """Return whether asyncio's own code awaits the object.

        An example is the end of a task group.
        """
        inner: Any = self._coroutine
        while inspect.iscoroutine(inner.cr_await):
            inner = inner.cr_await
        return inner.cr_code.co_filename in _WAITING_FOR_TASKS

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:  # anyio reads cr_frame and similar attributes
        return getattr(self._coroutine, name)


def _follow(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT], **named: Any
) -> asyncio.Task[ResultT]:
    """Create a task for the event loop.

    A followed task's child is followed too.
    """
    tasks = _FOLLOWED_TASKS.get()
    if tasks is None or not asyncio.iscoroutine(coroutine):
        return asyncio.Task(coroutine, loop=loop, **named)
    return tasks.start(coroutine, **named)
