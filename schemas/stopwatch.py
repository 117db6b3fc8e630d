"""Time that work takes, whatever happens to the clock of the machine meanwhile."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


def _now() -> datetime:
    return datetime.now(UTC)


def _monotonic() -> float:
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """The start of a piece of work, and the time since by the monotonic clock."""

    started_at: datetime = field(default_factory=_now)
    _begun: float = field(default_factory=_monotonic)

    @property
    def seconds(self) -> float:
        return _monotonic() - self._begun

    @property
    def finished_at(self) -> datetime:
        """The present, as far from `started_at` as the work took."""
        return self.started_at + timedelta(seconds=self.seconds)
