"""Clocks that no busy machine can disturb."""

import asyncio


class SleepingClock:
    """Time that passes only when somebody sleeps: stands in for a module's `time` and `asyncio` at
    once.
    """

    def __init__(self) -> None:
        self.now = 1_000.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)
