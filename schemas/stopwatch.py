"""Stopwatch that is independent of changes of the system clock."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


def _now() -> datetime:
    return datetime.now(UTC)


def _monotonic() -> float:
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Start of work, and the elapsed time by the monotonic clock."""

    started_at: datetime = field(default_factory=_now)
    _start: float = field(default_factory=_monotonic)

    @property
    def seconds(self) -> float:
        return _monotonic() - self._start

    @property
    def finished_at(self) -> datetime:
        """Current time, as `started_at` plus the elapsed time."""
        return self.started_at + timedelta(seconds=self.seconds)
