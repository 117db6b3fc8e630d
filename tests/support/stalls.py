"""How a loop was held up: what a busy machine did to it, so that nobody else is blamed."""

import asyncio
import time
from dataclasses import dataclass, field

_EVERY_SECONDS = 0.002
_NOTED_SECONDS = 0.004


@dataclass(frozen=True)
class Stall:
    """The loop should have gone on at `due` and did so at `woke`, on the monotonic clock."""

    due: float
    woke: float


@dataclass
class Stalls:
    """Every time the running loop came late by more than a few milliseconds, while `watch` runs in
    it.
    """

    seen: list[Stall] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            due = time.monotonic() + _EVERY_SECONDS
            await asyncio.sleep(_EVERY_SECONDS)
            if (woke := time.monotonic()) - due > _NOTED_SECONDS:
                self.seen.append(Stall(due, woke))

    def touched(self, first: float, last: float) -> bool:
        """Whether the loop was held up at some time between the two moments."""
        return any(stall.due <= last and stall.woke >= first for stall in self.seen)

    def undisturbed(
        self, first: float, last: float, *, longer_than_seconds: float, recovery_seconds: float
    ) -> list[tuple[float, float]]:
        """What is left between the two moments without the long stalls and the time it takes to
        recover from one.
        """
        spans, begun = [], first
        for stall in sorted(self.seen, key=lambda each: each.due):
            if (
                stall.woke - stall.due <= longer_than_seconds
                or stall.woke < first
                or stall.due > last
            ):
                continue
            if stall.due > begun:
                spans.append((begun, stall.due))
            begun = max(begun, stall.woke + recovery_seconds)
        return [*spans, (begun, last)] if begun < last else spans
