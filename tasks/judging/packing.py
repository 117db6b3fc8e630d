"""Many questions in few calls: batches of one size, and calls that share the beginning of their prompts."""

import asyncio
import itertools
import math
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

ItemT = TypeVar("ItemT")


def even_batches(items: Sequence[ItemT], largest: int) -> list[Sequence[ItemT]]:
    """`items` in order, in as few batches of at most `largest` as possible, none much smaller than the others."""
    count = math.ceil(len(items) / largest)
    bounds = [round(place * len(items) / count) for place in range(count + 1)] if count else [0]
    return [items[start:end] for start, end in itertools.pairwise(bounds)]


async def first_alone(asks: Sequence[Callable[[], Coroutine[Any, Any, ItemT]]]) -> list[ItemT]:
    """The answers in order: the first question is answered before the others are asked, side by side.

    Providers keep the beginning of a prompt once a call with it was answered; calls that set out together each pay for it in full.
    """
    if not asks:
        return []
    first = await asks[0]()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask()) for ask in asks[1:]]
    return [first, *(task.result() for task in tasks)]
