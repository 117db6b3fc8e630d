import asyncio
from collections.abc import Iterator

import pytest

from schemas.errors import ConfigurationError, RateLimitedError, SharedStateError
from schemas.reasons import Reason
from tasks.web.exchange import reason_of_status
from tasks.web.retrying import RetryPolicy, Tried
from tests.support.clocks import SleepingClock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[SleepingClock]:
    clock = SleepingClock()
    monkeypatch.setattr("tasks.web.retrying.time", clock)
    monkeypatch.setattr("tasks.web.retrying.asyncio", clock)
    yield clock


class Attempts:
    """Gives one prepared outcome after another, the last one for ever; errors are raised."""

    def __init__(self, *outcomes: Tried[str] | Exception) -> None:
        self.outcomes = outcomes
        self.numbers: list[int] = []

    async def __call__(self, number: int) -> Tried[str]:
        self.numbers.append(number)
        outcome = self.outcomes[min(number, len(self.outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


AGAIN = Tried("failed", again=True)


async def test_what_may_pass_is_tried_until_it_does_or_as_often_as_allowed(
    clock: SleepingClock,
) -> None:
    attempts, never = Attempts(AGAIN, AGAIN, Tried("good")), Attempts(AGAIN)
    assert await RetryPolicy(5).run(attempts) == "good"
    assert await RetryPolicy(3).run(never) == "failed"
    assert attempts.numbers == never.numbers == [1, 2, 3]


async def test_what_will_not_pass_is_tried_once(clock: SleepingClock) -> None:
    attempts = Attempts(Tried("refused"))
    assert await RetryPolicy(5).run(attempts) == "refused"
    assert (attempts.numbers, clock.now) == ([1], 1_000.0)


async def test_no_pause_leads_beyond_the_seconds_allowed(clock: SleepingClock) -> None:
    attempts = Attempts(Tried("failed", again=True, busy_seconds=4.0))
    await RetryPolicy(maximum_total_seconds=10.0, first_pause_seconds=2.0).run(attempts)
    assert attempts.numbers == [1, 2]
    assert 1.0 <= clock.now - 1_000.0 <= 2.0


async def test_pauses_double_to_a_bound_with_jitter_below_it(clock: SleepingClock) -> None:
    pauses: list[float] = []
    before = [clock.now]

    async def attempt(_: int) -> Tried[str]:
        pauses.append(clock.now - before[0])
        before[0] = clock.now
        return AGAIN

    await RetryPolicy(6, first_pause_seconds=1.0, longest_pause_seconds=5.0).run(attempt)
    bounds = [1.0, 2.0, 4.0, 5.0, 5.0]
    pairs = list(zip(pauses[1:], bounds, strict=True))
    assert all(bound / 2 <= pause <= bound for pause, bound in pairs), pauses


async def test_what_the_other_side_asks_to_wait_is_waited(clock: SleepingClock) -> None:
    await RetryPolicy(2).run(Attempts(Tried("failed", again=True, wait_seconds=30.0)))
    assert clock.now == 1_030.0


async def test_a_transient_error_is_tried_again_and_then_raised(clock: SleepingClock) -> None:
    error = RateLimitedError("slow down")
    error.wait_seconds = 20.0
    attempts = Attempts(error, Tried("good"))
    assert await RetryPolicy(2).run(attempts) == "good"
    assert clock.now == 1_020.0
    with pytest.raises(RateLimitedError, match="slow down"):
        await RetryPolicy(2).run(Attempts(error))


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError("wrong key"),
        KeyError("bug"),
        SharedStateError("an answer that cannot be booked is not paid again"),
    ],
)
async def test_any_other_error_is_raised_at_once(clock: SleepingClock, error: Exception) -> None:
    attempts = Attempts(error)
    with pytest.raises(type(error)):
        await RetryPolicy(5).run(attempts)
    assert (attempts.numbers, clock.now) == ([1], 1_000.0)


async def test_a_cancelled_attempt_is_not_repeated() -> None:
    numbers: list[int] = []

    async def attempt(number: int) -> Tried[str]:
        numbers.append(number)
        await asyncio.sleep(3600)
        return AGAIN

    task = asyncio.create_task(RetryPolicy(5).run(attempt))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert numbers == [1]


def test_refusals_for_load_and_failures_of_the_server_are_sent_again() -> None:
    statuses = (400, 401, 404, 408, 422, 429, 500, 503)
    again = [status for status in statuses if reason_of_status(status).again_at_once]
    assert again == [408, 429, 500, 503]
    assert not Reason.TOO_LARGE.again_at_once
