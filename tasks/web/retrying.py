"""The one policy of trying again: how often, for how long, and after what pause."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, retry_if_result

from schemas.boundary import concerns_one_unit
from schemas.errors import TransientError
from schemas.settings import LiteratureSettings, SourceSettings

ResultT = TypeVar("ResultT")
_MOST_DOUBLINGS = 30
"""Any pause has reached its bound by then; further doublings would leave the range of a float."""


@dataclass(frozen=True, slots=True)
class Tried(Generic[ResultT]):
    """What one attempt gave.

    Attributes:
        again: whether another attempt may give more.
        wait_seconds: what the other side asks to wait before it.
        busy_seconds: what it took of the seconds allowed; waiting for a turn is no part of it.
    """

    result: ResultT
    again: bool = False
    wait_seconds: float = 0.0
    busy_seconds: float = 0.0


@dataclass(slots=True)
class Spent:
    """What attempts and pauses took of the seconds allowed, where several questions share those."""

    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds of one question with all its attempts.

    The pause doubles from `first_pause_seconds` to `longest_pause_seconds`, with jitter, so that
    those who failed together do not come back together; what the other side asks for is waited.

    Attributes:
        maximum_total_seconds: attempts and pauses; no pause is begun that would lead beyond it.
    """

    maximum_attempts: int | None = None
    maximum_total_seconds: float = math.inf
    first_pause_seconds: float = 1.0
    longest_pause_seconds: float = 60.0

    @classmethod
    def of(cls, settings: LiteratureSettings | SourceSettings) -> Self:
        """As a section of the settings says."""
        return cls(
            settings.maximum_attempts,
            settings.maximum_total_seconds,
            first_pause_seconds=settings.retry_base_seconds,
        )

    async def run(
        self,
        attempt: Callable[[int], Awaitable[Tried[ResultT]]],
        spent: Spent | None = None,
    ) -> ResultT:
        """The result of the first attempt that is not to be repeated, or of the last one allowed.

        `attempt` gets its number, from 1. A `TransientError` it raises is tried again as well, and
        raised when no attempt is left, unless it concerns every unit; every other error is raised
        at once.
        """
        number, spent = 0, spent or Spent()

        async def once() -> Tried[ResultT]:
            nonlocal number
            number += 1
            started = time.monotonic()
            try:
                tried = await attempt(number)
            except TransientError:
                spent.seconds += time.monotonic() - started
                raise
            spent.seconds += tried.busy_seconds
            return tried

        async def sleep(seconds: float) -> None:
            spent.seconds += seconds
            await asyncio.sleep(seconds)

        def is_last(state: RetryCallState) -> bool:
            late = spent.seconds + state.upcoming_sleep > self.maximum_total_seconds
            return late or number == self.maximum_attempts

        retrying = AsyncRetrying(
            sleep=sleep,
            stop=is_last,
            wait=self._pause_seconds,
            retry=retry_if_exception(_may_pass) | retry_if_result(_again),
            retry_error_callback=_last,
        )
        tried: Tried[ResultT] = await retrying(once)
        return tried.result

    def _pause_seconds(self, state: RetryCallState) -> float:
        doublings = min(state.attempt_number - 1, _MOST_DOUBLINGS)
        longest = min(self.first_pause_seconds * 2.0**doublings, self.longest_pause_seconds)
        pause_seconds = longest * random.uniform(0.5, 1.0)  # noqa: S311 -- jitter, not a secret
        assert state.outcome is not None
        error = state.outcome.exception()
        if isinstance(error, TransientError):
            return max(pause_seconds, error.wait_seconds)
        tried: Tried[Any] = state.outcome.result()
        return max(pause_seconds, tried.wait_seconds)


def _again(tried: Tried[Any]) -> bool:
    return tried.again


def _may_pass(error: BaseException) -> bool:
    # Without budgets a repeated attempt would pay again for an answer that could not be booked.
    return isinstance(error, TransientError) and concerns_one_unit(error)


def _last(state: RetryCallState) -> Any:
    """The last attempt's result, or its error raised as it is."""
    assert state.outcome is not None
    return state.outcome.result()
