"""The retry policy: attempts, total time and pauses."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from schemas.boundary import concerns_one_unit
from schemas.errors import TransientError

ResultT = TypeVar("ResultT")
_MOST_DOUBLINGS = 30
"""Limit of doublings.

Every pause has reached its limit by then; more doublings could overflow a float.
"""


@dataclass(frozen=True, slots=True)
class Tried(Generic[ResultT]):
    """The outcome of one attempt.

    Attributes:
        again: whether to retry.
        wait_seconds: the wait that the server asks for.
        busy_seconds: its share of the total time, without the wait for a turn.
        is_counted: whether it counts as an attempt; if not, only the total time limits it.
    """

    result: ResultT
    again: bool = False
    wait_seconds: float = 0.0
    busy_seconds: float = 0.0
    is_counted: bool = True


@dataclass(slots=True)
class Spent:
    """Seconds of attempts and pauses, shared by several calls under one limit."""

    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of one call with all its attempts.

    The pause doubles from `first_pause_seconds` to `longest_pause_seconds`, with jitter, so that
    clients that failed together do not retry together. A longer wait that the server asks for is
    respected.

    Attributes:
        maximum_total_seconds: of attempts and pauses; no pause may exceed it.
    """

    maximum_attempts: int | None = None
    maximum_total_seconds: float = math.inf
    first_pause_seconds: float = 1.0
    longest_pause_seconds: float = 60.0

    async def run(
        self,
        attempt: Callable[[int], Awaitable[Tried[ResultT]]],
        spent: Spent | None = None,
    ) -> ResultT:
        """Return the result of the first final attempt, or of the last one allowed.

        `attempt` gets its number, from 1. A `TransientError` is retried, and raised after the last
        attempt; one that concerns every unit, and any other error, is raised at once.
        """
        number, counted_attempts, spent = 0, 0, spent or Spent()
        while True:
            number += 1
            counted_attempts += 1
            start_time = time.monotonic()
            last_error: TransientError | None = None
            try:
                outcome = await attempt(number)
                spent.seconds += outcome.busy_seconds
                if not outcome.again:
                    return outcome.result
                counted_attempts -= not outcome.is_counted
                wait_seconds = outcome.wait_seconds
            except TransientError as error:
                # When budgets cannot be recorded, a retry would pay again for a lost answer.
                if not concerns_one_unit(error):
                    raise
                spent.seconds += time.monotonic() - start_time
                last_error, wait_seconds = error, error.wait_seconds
            doublings = min(number - 1, _MOST_DOUBLINGS)
            longest = min(self.first_pause_seconds * 2.0**doublings, self.longest_pause_seconds)
            jitter = random.uniform(0.5, 1.0)  # noqa: S311 -- not a secret
            pause_seconds = max(longest * jitter, wait_seconds)
            is_too_late = spent.seconds + pause_seconds > self.maximum_total_seconds
            if is_too_late or counted_attempts == self.maximum_attempts:
                if last_error is not None:
                    raise last_error
                return outcome.result
            spent.seconds += pause_seconds
            await asyncio.sleep(pause_seconds)
