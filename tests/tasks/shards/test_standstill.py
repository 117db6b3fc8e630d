"""Work stands still once each of its tasks can only wait for answers from outside."""

import asyncio
import time

import pytest

from tasks.shards.standstill import StandstillError, answer_from_outside, until_standstill


async def test_work_that_asks_nothing_outside_gives_its_result() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return await asyncio.create_task(asyncio.sleep(0.001, 7))

    assert await until_standstill(work()) == 7


async def test_every_question_that_can_be_asked_is_asked_before_the_work_stands_still() -> None:
    asked: list[str] = []

    async def ask(name: str, after_seconds: float) -> None:
        await asyncio.sleep(after_seconds)
        await asyncio.to_thread(lambda: None)
        asked.append(name)
        await answer_from_outside()

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ask("at once", 0))
            group.create_task(ask("after a look-up", 0.05))
            nested = group.create_task(asyncio.wait_for(ask("under a limit", 0.01), 60))
            group.create_task(_awaits(nested))

    with pytest.raises(StandstillError):
        await until_standstill(work())
    assert asked == ["at once", "under a limit", "after a look-up"]


async def test_a_task_that_still_looks_something_up_beside_its_tasks_is_waited_for() -> None:
    asked: list[str] = []

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(answer_from_outside())
            await asyncio.to_thread(time.sleep, 0.05)
            asked.append("after its own look-up")
            await answer_from_outside()

    with pytest.raises(StandstillError):
        await until_standstill(work())
    assert asked == ["after its own look-up"]


async def _awaits(task: "asyncio.Task[None]") -> None:
    await task


async def test_an_error_beside_a_question_is_raised_as_it_is() -> None:
    async def fails() -> None:
        await asyncio.sleep(0.01)
        raise ValueError("a bug")

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(answer_from_outside())
            group.create_task(fails())

    with pytest.raises(ExceptionGroup) as caught:
        await until_standstill(work())
    assert isinstance(caught.value.exceptions[0], ValueError)


async def test_work_that_is_cancelled_ends_its_tasks_and_does_not_count_as_standing_still() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    outer = asyncio.create_task(until_standstill(work()))
    await asyncio.sleep(0.01)
    outer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await outer
    await asyncio.wait_for(ended.wait(), 1)


async def test_two_pieces_of_work_side_by_side_stand_still_each_for_itself() -> None:
    async def waits() -> None:
        await answer_from_outside()

    async def works() -> str:
        await asyncio.sleep(0.05)
        return "done"

    first, second = await asyncio.gather(
        until_standstill(waits()), until_standstill(works()), return_exceptions=True
    )
    assert isinstance(first, StandstillError)
    assert second == "done"
