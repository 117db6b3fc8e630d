"""One exact rate limit for every request of the process.

The generic cell rate algorithm, with what really left as its memory.
"""

import asyncio
import time
from collections import deque
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
    """Hands out turns in order of asking. Starts with no allowance: a restarted process never sends at once.

    With N requests a second allowed, any N + 1 departures in a row take longer than a second. A turn that came late
    because the machine was busy is made up for by the next ones, within that bound; idle time is not.
    """

    def __init__(self, requests_per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        allowed = max(int(requests_per_second), 1)
        self.interval_seconds = _MARGIN / requests_per_second
        self._window_seconds = allowed * self.interval_seconds
        self._least_gap_seconds = self.interval_seconds if allowed == 1 else self.interval_seconds / 2
        self._departures: deque[float] = deque(maxlen=allowed)
        self._clock = clock
        self._gate = asyncio.Lock()
        self._waiting = 0
        self._slot = clock() + self.interval_seconds
        self._refusals = 0
        self.granted = 0

    async def turn(self) -> Turn:
        """Wait for a turn. Whoever takes it must call `departed`: setting up a connection must not shorten the distance."""
        asked_at = self._clock()
        if self._waiting == 0:
            self._slot = max(self._slot, asked_at)
        self._waiting += 1
        try:
            await self._gate.acquire()
            try:
                await self._until(self._earliest())
            except asyncio.CancelledError:
                self._gate.release()
                raise
        finally:
            self._waiting -= 1
        self.granted += 1
        return Turn(self, self._clock() - asked_at)

    def _earliest(self) -> float:
        bounds = [self._slot]
        if self._departures:
            bounds.append(self._departures[-1] + self._least_gap_seconds)
        if len(self._departures) == self._departures.maxlen:
            bounds.append(self._departures[0] + self._window_seconds)
        return max(bounds)

    def pass_on(self) -> None:
        """Called by `Turn.departed`."""
        now = self._clock()
        self._departures.append(now)
        self._slot = max(self._slot, now - self._window_seconds) + self.interval_seconds
        if self._refusals > 1:
            self._slot = now + self.interval_seconds * min(2.0 ** (self._refusals - 1), _MOST_PUSHBACK)
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
