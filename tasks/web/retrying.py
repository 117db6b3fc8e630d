"""The one policy of trying again: how often, for how long, and after what pause."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from schemas.boundary import concerns_one_unit
from schemas.errors import TransientError
from schemas.settings import LiteratureSettings, SourceSettings

ResultT = TypeVar("ResultT")
_MOST_DOUBLINGS = 30
"""Any pause has reached its bound by then; further doublings would leave the range of a float."""


@dataclass(frozen=True, slots=True)
class Tried(Generic[ResultT]):
    """The outcome of one attempt.

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
    """Seconds of attempts and pauses, where several questions share those allowed."""

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
        while True:
            number += 1
            started = time.monotonic()
            last_error: TransientError | None = None
            try:
                tried = await attempt(number)
                spent.seconds += tried.busy_seconds
                if not tried.again:
                    return tried.result
                wait_seconds = tried.wait_seconds
            except TransientError as error:
                # Without budgets a repeated attempt would pay again for an answer that could not be
                # booked.
                if not concerns_one_unit(error):
                    raise
                spent.seconds += time.monotonic() - started
                last_error, wait_seconds = error, error.wait_seconds
            doublings = min(number - 1, _MOST_DOUBLINGS)
            longest = min(self.first_pause_seconds * 2.0**doublings, self.longest_pause_seconds)
            jitter = random.uniform(0.5, 1.0)  # noqa: S311 -- not a secret
            pause_seconds = max(longest * jitter, wait_seconds)
            late = spent.seconds + pause_seconds > self.maximum_total_seconds
            if late or number == self.maximum_attempts:
                if last_error is not None:
                    raise last_error
                return tried.result
            spent.seconds += pause_seconds
            await asyncio.sleep(pause_seconds)
