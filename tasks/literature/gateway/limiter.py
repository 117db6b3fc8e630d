"""One exact rate limit for every request of the process.

The generic cell rate algorithm with a burst of one: consecutive requests leave at least one interval apart.
"""

import asyncio
import time
from collections.abc import Callable

_MARGIN = 1.008
"""A little slower than allowed: travel times vary, and the other side measures arrivals."""

_WAKE_EARLY_SECONDS = 0.002
_MOST_PUSHBACK = 16.0


class Turn:
    """The right to send one request. The next turn begins an interval after `departed`, not after it was granted."""

    def __init__(self, limiter: "RateLimiter", waited_seconds: float) -> None:
        self._limiter = limiter
        self._held = True
        self.waited_seconds = waited_seconds

    def departed(self) -> None:
        """The request is on the wire, or will never be. Only the first call counts."""
        if self._held:
            self._held = False
            self._limiter.pass_on()


class RateLimiter:
    """Hands out turns in order of asking. Starts with no allowance: a restarted process never sends at once."""

    def __init__(self, requests_per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.interval_seconds = _MARGIN / requests_per_second
        self._clock = clock
        self._gate = asyncio.Lock()
        self._next = clock() + self.interval_seconds
        self._refusals = 0
        self.granted = 0

    async def turn(self) -> Turn:
        """Wait for a turn. Whoever takes it must call `departed`: setting up a connection must not shorten the distance."""
        asked_at = self._clock()
        await self._gate.acquire()
        try:
            await self._until(self._next)
        except asyncio.CancelledError:
            self._gate.release()
            raise
        self.granted += 1
        return Turn(self, self._clock() - asked_at)

    def pass_on(self) -> None:
        pushback = min(2.0 ** max(self._refusals - 1, 0), _MOST_PUSHBACK)
        self._next = self._clock() + self.interval_seconds * pushback
        self._gate.release()

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
