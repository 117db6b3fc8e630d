import asyncio
import multiprocessing
import time
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from tasks.accounting.limits import SharedRateLimit

SPAWN = multiprocessing.get_context("spawn")


def _take_many(folder: Path, count: int, times: "multiprocessing.Queue[list[float]]") -> None:
    async def take() -> list[float]:
        limit = SharedRateLimit(folder, "model", 3000)
        taken = []
        for _ in range(count):
            await limit.take()
            taken.append(time.time())
        return taken

    times.put(asyncio.run(take()))


def test_processes_share_one_exact_rate(tmp_path: Path) -> None:
    times: multiprocessing.Queue[list[float]] = SPAWN.Queue()
    workers = [SPAWN.Process(target=_take_many, args=(tmp_path, 40, times)) for _ in range(3)]
    for worker in workers:
        worker.start()
    taken = [times.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    together = sorted(moment for part in taken for moment in part)
    busy = [moment for moment in together if max(part[0] for part in taken) <= moment <= min(part[-1] for part in taken)]
    assert len(together) == 120
    assert all(later - earlier >= 0.02 * 50 - 0.03 for earlier, later in zip(together, together[50:], strict=False))
    if len(busy) > 30:
        assert len(busy) / (busy[-1] - busy[0]) > 0.8 * 50


async def test_the_first_call_does_not_wait(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path, "openai/model:requests", 6)
    assert await limit.take() < 0.05


async def test_large_amounts_delay_what_follows(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path, "tokens", 60_000)
    await limit.take(300)
    waited = await limit.take(100)
    assert 0.25 < waited < 0.6


async def test_settling_gives_back_what_was_not_used(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path, "tokens", 60_000)
    await limit.take(10_000)
    limit.settle(100 - 10_000)
    assert await limit.take() < 0.3


async def test_settling_charges_what_was_used_beyond_the_estimate(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path, "tokens", 60_000)
    await limit.take(10)
    limit.settle(300)
    assert await limit.take() > 0.2


async def test_a_penalty_holds_back_slots_already_handed_out_and_overlapping_ones_count_once(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path, "model", 600)
    started = time.time()
    await limit.take()
    waiting = [asyncio.create_task(limit.take()) for _ in range(3)]
    await asyncio.sleep(0)
    for _ in range(10):
        SharedRateLimit(tmp_path, "model", 600).penalise(0.5)
    await asyncio.gather(*waiting)
    assert 0.75 < time.time() - started < 1.2


async def test_a_penalty_holds_when_nobody_waited(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path, "model", 60_000)
    limit.penalise(0.3)
    assert 0.25 < await limit.take() < 0.5
    assert await limit.take() < 0.1


async def test_limits_with_other_names_are_apart(tmp_path: Path) -> None:
    await SharedRateLimit(tmp_path, "a/b", 1).take()
    assert await SharedRateLimit(tmp_path, "a:b", 1).take() < 0.05


def test_a_rate_of_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        SharedRateLimit(tmp_path, "model", 0)
