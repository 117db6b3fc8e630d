"""Rate limits, turns and circuits that the processes of a machine share."""

import asyncio
import multiprocessing
import time
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from tasks.web.shared_limits import CircuitBreaker, SharedRateLimit, alone
from tests.support.clocks import SleepingClock

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SleepingClock:
    clock = SleepingClock()
    monkeypatch.setattr("tasks.web.shared_limits.time", clock)
    monkeypatch.setattr("tasks.web.shared_limits.asyncio", clock)
    return clock


def _take_many(
    folder: Path, count: int, times: "multiprocessing.Queue[tuple[float, list[float]]]"
) -> None:
    async def take() -> list[float]:
        limit = SharedRateLimit(folder, "model", 3000)
        taken = []
        for _ in range(count):
            await limit.take()
            taken.append(time.time())
        return taken

    times.put((time.time(), asyncio.run(take())))


def test_processes_share_one_rate_and_never_more(tmp_path: Path) -> None:
    """However late a process wakes, the n-th call of all of them together comes n intervals after
    the first was asked for.
    """
    times: multiprocessing.Queue[tuple[float, list[float]]] = SPAWN.Queue()
    workers = [SPAWN.Process(target=_take_many, args=(tmp_path, 20, times)) for _ in range(2)]
    for worker in workers:
        worker.start()
    told = [times.get(timeout=240) for _ in workers]
    for worker in workers:
        worker.join()
    first = min(begun for begun, _ in told)
    together = sorted(moment for _, taken in told for moment in taken)
    assert len(together) == 40
    assert all(moment >= first + 0.02 * number for number, moment in enumerate(together))


async def test_the_whole_rate_is_handed_out(tmp_path: Path, clock: SleepingClock) -> None:
    limits = [SharedRateLimit(tmp_path, "model", 3000) for _ in range(3)]
    moments = []
    for number in range(120):
        await limits[number % 3].take()
        moments.append(clock.now)
    assert moments == pytest.approx([1_000.0 + 0.02 * number for number in range(120)])


@pytest.mark.parametrize(
    ("taken", "settled", "seconds"), [(300, 0, 0.3), (10_000, 100 - 10_000, 0.1), (10, 300, 0.31)]
)
async def test_what_was_used_delays_what_follows_and_not_itself(
    tmp_path: Path, clock: SleepingClock, taken: float, settled: float, seconds: float
) -> None:
    limit = SharedRateLimit(tmp_path, "openai/model:tokens", 60_000)
    assert await limit.take(taken) == 0
    limit.settle(settled)
    assert await limit.take(100) == pytest.approx(seconds)


async def test_a_penalty_holds_back_slots_already_handed_out_and_overlapping_ones_count_once(
    tmp_path: Path, clock: SleepingClock
) -> None:
    limit = SharedRateLimit(tmp_path, "model", 600)
    await limit.take()
    waiting = [asyncio.create_task(limit.take()) for _ in range(3)]
    await asyncio.sleep(0)
    for _ in range(10):
        SharedRateLimit(tmp_path, "model", 600).penalise(0.5)
    await asyncio.gather(*waiting)
    assert clock.now == pytest.approx(1_000.8)


async def test_a_penalty_holds_when_nobody_waited(tmp_path: Path, clock: SleepingClock) -> None:
    limit = SharedRateLimit(tmp_path, "model", 60_000)
    limit.penalise(0.3)
    assert await limit.take() == pytest.approx(0.3)
    assert await limit.take() < 0.01


async def test_limits_with_other_names_are_apart(tmp_path: Path, clock: SleepingClock) -> None:
    await SharedRateLimit(tmp_path, "a/b", 1).take()
    assert await SharedRateLimit(tmp_path, "a:b", 1).take() == 0


def test_a_rate_of_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        SharedRateLimit(tmp_path, "model", 0)


async def test_a_clock_that_is_set_makes_nobody_wait_or_hurry(
    tmp_path: Path, clock: SleepingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slots go by the clock that nobody sets."""
    limit = SharedRateLimit(tmp_path, "model", 60)
    await limit.take()
    monkeypatch.setattr(clock, "time", lambda: -1_000_000.0, raising=False)
    assert await limit.take() == pytest.approx(1.0)
    monkeypatch.setattr(clock, "time", lambda: 1e10, raising=False)
    assert await limit.take() == pytest.approx(1.0)


async def test_a_machine_that_started_anew_keeps_nobody_waiting_for_its_old_clock(
    tmp_path: Path, clock: SleepingClock
) -> None:
    limit = SharedRateLimit(tmp_path, "model", 60)
    for _ in range(3):
        await limit.take()
    limit.penalise(5)
    clock.now = 2.0
    waited = await limit.take()
    assert 1.0 <= waited <= 6.0


async def test_a_limit_writes_nothing_behind_a_link(tmp_path: Path) -> None:
    await SharedRateLimit(tmp_path / "limits", "model", 3000).take()
    (path,) = (tmp_path / "limits").iterdir()
    path.unlink()
    theirs = tmp_path / "theirs"
    theirs.write_text("what is mine")
    path.symlink_to(theirs)
    with pytest.raises(OSError, match="symbolic links"):
        await SharedRateLimit(tmp_path / "limits", "model", 3000).take()
    assert theirs.read_text() == "what is mine"


async def test_a_circuit_opens_for_all_and_lets_one_try_now_and_then(tmp_path: Path) -> None:
    now = [1000.0]
    first, second = (
        CircuitBreaker(tmp_path / "arxiv.breaker", clock=lambda: now[0]) for _ in range(2)
    )
    for _ in range(10):
        first.failed()
    assert second.allows(), "ten failures in a moment are no long time"
    now[0] += 61
    second.failed()
    assert not first.allows()
    now[0] += 60
    assert [first.allows(), second.allows()] == [True, False]
    first.failed()
    now[0] += 60
    assert second.allows()
    second.answered()
    assert [first.allows(), second.allows()] == [True, True]


async def test_only_one_holds_the_turn(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    async def work(number: int) -> None:
        async with alone(tmp_path / "one.turn"):
            inside.append(number)
            most.append(len(inside))
            await asyncio.sleep(0.01)
            inside.remove(number)

    await asyncio.gather(*(work(number) for number in range(4)))
    assert most == [1, 1, 1, 1]


def test_a_clock_that_is_set_back_keeps_no_circuit_open_for_longer(tmp_path: Path) -> None:
    now = [1_000_000.0]
    circuit = CircuitBreaker(
        tmp_path / "source.breaker",
        minimum_failures=2,
        minimum_seconds=0.0,
        clock=lambda: now[0],
    )
    for _ in range(2):
        circuit.failed()
    assert not circuit.allows()
    now[0] -= 100_000.0
    assert circuit.allows()
    assert not circuit.allows()
