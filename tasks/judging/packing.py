"""Batches of even size, and calls that share a prompt prefix."""

import asyncio
import itertools
import math
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from tasks.shards.standstill import may_stand_still

ItemT = TypeVar("ItemT")


def even_batches(items: Sequence[ItemT], largest: int) -> list[Sequence[ItemT]]:
    """Split `items` into the fewest even batches of at most `largest`."""
    count = math.ceil(len(items) / largest)
    bounds = [round(place * len(items) / count) for place in range(count + 1)] if count else [0]
    return [items[start:end] for start, end in itertools.pairwise(bounds)]


class Beginning:
    """A prompt prefix that several calls share. Not thread-safe.

    Providers cache a prefix after the first answer, and simultaneous calls each pay for it in full.
    The other calls therefore wait for the first one.
    """

    def __init__(self) -> None:
        self._answered: asyncio.Event | None = None

    async def ask(self, question: Callable[[], Coroutine[Any, Any, ItemT]]) -> ItemT:
        """Ask `question` after the first one was answered or has failed."""
        if may_stand_still():
            return await question()
        if self._answered is not None:
            await self._answered.wait()
            return await question()
        self._answered = asyncio.Event()
        try:
            return await question()
        finally:
            self._answered.set()


async def side_by_side(work: Iterable[Coroutine[Any, Any, ItemT]]) -> list[ItemT]:
    """Run coroutines concurrently; return their results in order.

    An error of one cancels the others and is raised in a group.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in work]
    return [task.result() for task in tasks]


async def first_alone(asks: Sequence[Callable[[], Coroutine[Any, Any, ItemT]]]) -> list[ItemT]:
    """Ask the first question alone, then the others concurrently.

    Return answers in order.
    """
    beginning = Beginning()
    return await side_by_side(beginning.ask(ask) for ask in asks)
