import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from schemas.choices import LIVE
from schemas.settings import Settings
from tasks.literature.gateway.arrival_limiter import (
    ArrivalLimiter,
    Departure,
    Departures,
    Memory,
    departures_file,
)
from tasks.literature.gateway.process import GatewayProcess
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus

RATE = 20


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("tasks.literature.gateway.arrival_limiter.asyncio.sleep", self.sleep)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.0001)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def departures(
    limiter: ArrivalLimiter, clock: Clock, count: int = 0, answer_seconds: Sequence[float] = ()
) -> list[float]:
    moments = []
    for seconds in answer_seconds or [0.0] * count:
        turn = await limiter.turn()
        turn.departed()
        moments.append(clock.now)
        clock.now += seconds
        turn.arrived()
    return moments


def gaps(moments: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(moments)]


def never_more_than(count: int, moments: list[float]) -> bool:
    """Whether no second holds more departures."""
    return all(
        later - earlier >= 1.0 for earlier, later in zip(moments, moments[count:], strict=False)
    )


async def test_departures_are_an_interval_apart_and_within_one_percent_of_the_allowance(
    clock: Clock,
) -> None:
    between = gaps(await departures(ArrivalLimiter(1.0, clock), clock, 200))
    assert 1.0 <= min(between) <= max(between) <= 1.01


async def test_a_restarted_limiter_has_no_allowance_at_first(clock: Clock) -> None:
    (moment,) = await departures(ArrivalLimiter(1.0, clock), clock, 1)
    assert moment >= 101.0


async def test_lost_time_is_made_up_for_and_no_window_holds_more_than_allowed(clock: Clock) -> None:
    limiter = ArrivalLimiter(10.0, clock)
    await departures(limiter, clock, 1)
    waiting = [asyncio.create_task(limiter.turn()) for _ in range(100)]
    moments = []
    for number, task in enumerate(waiting):
        turn = await task
        clock.now += 0.04 if number % 7 == 3 else 0.003  # the machine is busy
        moments.append(clock.now)
        turn.arrived()
    assert never_more_than(10, moments)
    assert 99 / (moments[-1] - moments[0]) >= 9.8


async def test_idle_time_gives_no_burst(clock: Clock) -> None:
    limiter = ArrivalLimiter(1.0, clock)
    clock.now += 1000
    assert min(gaps(await departures(limiter, clock, 3))) >= 1.0


async def test_the_distance_counts_from_the_wire_not_from_the_grant(clock: Clock) -> None:
    limiter = ArrivalLimiter(1.0, clock)
    turn = await limiter.turn()
    clock.now += 0.4  # a connection is being set up
    turn.departed()
    turn.departed()
    sent_at = clock.now
    await limiter.turn()
    assert clock.now - sent_at >= 1.0


async def refused(limiter: ArrivalLimiter, clock: Clock, times: int) -> None:
    for _ in range(times):
        turn = await limiter.turn()
        turn.arrived()
        clock.now += 0.2
        limiter.refused(turn)


async def accepted_gaps(limiter: ArrivalLimiter, clock: Clock, count: int) -> list[float]:
    moments = []
    for _ in range(count):
        moments.extend(await departures(limiter, clock, 1))
        limiter.accepted()
    return gaps(moments)


async def test_a_single_refusal_costs_no_allowance(clock: Clock) -> None:
    limiter = ArrivalLimiter(1.0, clock)
    await refused(limiter, clock, 1)
    assert max(await accepted_gaps(limiter, clock, 5)) < 1.02


async def test_refusals_in_a_row_slow_down_twofold_each_time_and_answers_bring_the_speed_back(
    clock: Clock,
) -> None:
    limiter = ArrivalLimiter(1.0, clock)
    await refused(limiter, clock, 4)
    assert limiter.stretch == 8
    assert [round(gap) for gap in await accepted_gaps(limiter, clock, 6)] == [8, 4, 2, 1, 1]
    await refused(limiter, clock, 40)
    assert limiter.stretch == 16


async def test_refusals_of_what_left_before_a_slow_down_count_once(clock: Clock) -> None:
    limiter = ArrivalLimiter(10.0, clock)
    turns = []
    for _ in range(10):
        turn = await limiter.turn()
        turn.arrived()
        turns.append(turn)
    clock.now += 0.5
    for turn in turns:
        limiter.refused(turn)
    assert limiter.stretch == 2


async def test_a_late_answer_of_a_quick_server_counts_as_a_late_arrival(clock: Clock) -> None:
    quick = [0.003] * 8 + [0.06, 0.003, 0.003]
    between = gaps(await departures(ArrivalLimiter(1.0, clock), clock, answer_seconds=quick))
    assert 1.05 < between[8] < 1.07
    assert max(*between[5:8], between[9]) < 1.01


async def test_a_slow_server_costs_no_allowance(clock: Clock) -> None:
    slow = [0.3, 0.5, 0.7, 0.4, 0.9] * 6
    moments = await departures(ArrivalLimiter(1.0, clock), clock, answer_seconds=slow)
    assert 1.0 < min(gaps(moments[6:])) <= max(gaps(moments[6:])) <= 1.01


async def test_a_time_the_other_side_names_holds_everything_back(clock: Clock) -> None:
    limiter = ArrivalLimiter(10.0, clock)
    await departures(limiter, clock, 3)
    named_at = clock.now
    limiter.hold_back(5.0)
    (moment,) = await departures(limiter, clock, 1)
    assert 5.0 <= moment - named_at < 5.2


async def test_idle_time_does_not_count_as_unused_allowance(clock: Clock) -> None:
    limiter = ArrivalLimiter(1.0, clock)
    for _ in range(3):
        clock.now += 100
        waiting = [asyncio.create_task(limiter.turn()) for _ in range(20)]
        for task in waiting:
            (await task).arrived()
    assert limiter.used_share is not None
    assert 0.99 <= limiter.used_share <= 1.0


async def test_limiters_with_one_memory_share_one_allowance(clock: Clock, tmp_path: Path) -> None:
    limiters = [
        ArrivalLimiter(5.0, clock, Departures(tmp_path / "one.departures")) for _ in range(3)
    ]
    moments = []

    async def take(limiter: ArrivalLimiter) -> None:
        for _ in range(20):
            turn = await limiter.turn()
            moments.append(clock.now)
            turn.arrived()

    await asyncio.gather(*(take(limiter) for limiter in limiters))
    assert never_more_than(5, moments)
    assert 59 / (moments[-1] - moments[0]) >= 4.9


async def test_a_new_limiter_goes_on_where_a_killed_one_was(clock: Clock, tmp_path: Path) -> None:
    first = ArrivalLimiter(5.0, clock, Departures(tmp_path / "one.departures"))
    before = await departures(first, clock, 10)
    await first.turn()  # killed here: the request may have left
    killed_at = clock.now
    first.close()
    second = ArrivalLimiter(5.0, clock, Departures(tmp_path / "one.departures"))
    after = await departures(second, clock, 10)
    moments = [*before, killed_at, *after]
    assert never_more_than(5, moments)


async def test_a_memory_from_before_the_machine_started_is_forgotten(
    clock: Clock, tmp_path: Path
) -> None:
    memory = Departures(tmp_path / "one.departures")
    memory.write(Memory(9e9, [Departure(8e9, 8e9), Departure(9e9, 9e9)]))
    (moment,) = await departures(ArrivalLimiter(1.0, clock, memory), clock, 1)
    assert moment < 102


def test_a_key_never_stands_in_the_name_of_a_file() -> None:
    path = departures_file(Path("limits"), "api.semanticscholar.org:443", "a-secret-key")
    assert "secret" not in str(path)
    assert path != departures_file(Path("limits"), "api.semanticscholar.org:443", None)


async def test_a_cancelled_wait_passes_the_turn_on() -> None:
    limiter = ArrivalLimiter(20.0)
    waiting = asyncio.create_task(limiter.turn())
    await asyncio.sleep(0.001)
    waiting.cancel()
    turn = await asyncio.wait_for(limiter.turn(), 60)
    turn.arrived()


async def test_two_gateways_with_one_key_never_send_more_than_its_allowance(
    tmp_path: Path, settings_for: Callable[..., Settings]
) -> None:
    """Many clients, refusals and errors: counted where they arrive."""
    faults = [("429", "500")[number % 2] if number % 12 == 5 else None for number in range(1_000)]
    with SemanticScholarServer(
        corpus(20), requests_per_second=RATE, fault=lambda number, path: faults[number]
    ) as server:
        settings = settings_for(server.url, requests_per_second=RATE, maximum_attempts=10)
        with (
            GatewayProcess(settings, LIVE, tmp_path / "one") as one,
            GatewayProcess(settings, LIVE, tmp_path / "two") as two,
        ):
            began_at = time.monotonic()
            async with httpx.AsyncClient(timeout=600) as client, asyncio.TaskGroup() as group:
                asked = [
                    group.create_task(
                        client.get(
                            f"{gateway.url}/graph/v1/paper/search",
                            params={"query": f"topic {number}"},
                        )
                    )
                    for gateway in (one, two)
                    for number in range(20)
                ]
            async with httpx.AsyncClient(timeout=60) as client:
                used = [
                    (await client.get(f"{each.url}/stats")).json()["upstream"][
                        "allowance_used_share"
                    ]
                    for each in (one, two)
                ]
    assert {task.result().status_code for task in asked} == {200}
    assert (server.too_early(RATE, began_at), server.violations(RATE)) == (0, 0)
    assert all(0 < share < 1.1 for share in used)
