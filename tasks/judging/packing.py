"""Many questions in few calls: batches of one size, and calls that share the beginning of their
prompts.
"""

import asyncio
import itertools
import math
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from tasks.shards.standstill import may_stand_still

ItemT = TypeVar("ItemT")


def even_batches(items: Sequence[ItemT], largest: int) -> list[Sequence[ItemT]]:
    """`items` in order, in as few batches of at most `largest` as possible, none much smaller than
    the others.
    """
    count = math.ceil(len(items) / largest)
    bounds = [round(place * len(items) / count) for place in range(count + 1)] if count else [0]
    return [items[start:end] for start, end in itertools.pairwise(bounds)]


class Beginning:
    """Common beginning of the prompts of several calls. Not shared between threads.

    Providers keep the beginning of a prompt once a call with it was answered; calls that set out
    together each pay for it in full. So the first call to come is answered before the others set
    out.
    """

    def __init__(self) -> None:
        self._answered: asyncio.Event | None = None

    async def ask(self, question: Callable[[], Coroutine[Any, Any, ItemT]]) -> ItemT:
        """The answer to `question`, asked once the first one was answered or has failed."""
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
    """The results in order. An error of one cancels the others and is raised in a group."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in work]
    return [task.result() for task in tasks]


async def first_alone(asks: Sequence[Callable[[], Coroutine[Any, Any, ItemT]]]) -> list[ItemT]:
    """The answers in order: the first question is answered before the others are asked, side by
    side.
    """
    beginning = Beginning()
    return await side_by_side(beginning.ask(ask) for ask in asks)
