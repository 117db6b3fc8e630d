"""One exact rate limit for every request of the process.

The generic cell rate algorithm with a burst of one: consecutive requests leave at least one interval apart.
"""

import asyncio
import time
from collections.abc import Callable

_MARGIN = 1.005
"""Half a percent slower than allowed: arrival times jitter on the way, and the other side measures arrivals."""

_WAKE_EARLY_SECONDS = 0.002
_MOST_PUSHBACK = 16.0


class RateLimiter:
    """Hands out departure times in order of asking. Starts with no allowance: a restarted process never sends at once."""

    def __init__(self, requests_per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.interval_seconds = _MARGIN / requests_per_second
        self._clock = clock
        self._gate = asyncio.Lock()
        self._next = clock() + self.interval_seconds
        self._refusals = 0
        self.granted = 0

    async def acquire(self) -> float:
        """Wait for the turn. Returns the seconds waited."""
        asked_at = self._clock()
        async with self._gate:
            await self._until(self._next)
            now = self._clock()
            pushback = min(2.0 ** max(self._refusals - 1, 0), _MOST_PUSHBACK)
            self._next = now + self.interval_seconds * pushback
            self.granted += 1
            return now - asked_at

    async def _until(self, moment: float) -> None:
        """Sleep, then yield until the moment: timers alone wake up to a millisecond late, which adds up."""
        early = min(_WAKE_EARLY_SECONDS, self.interval_seconds / 5)
        if (rest := moment - self._clock() - early) > 0:
            await asyncio.sleep(rest)
        while self._clock() < moment:  # noqa: ASYNC110 -- no event marks a moment
            await asyncio.sleep(0)

    def refused(self) -> None:
        """The other side said 429. From the second in a row on, departures slow down: others share the allowance."""
        self._refusals += 1

    def accepted(self) -> None:
        """The other side answered; full speed again."""
        self._refusals = 0
