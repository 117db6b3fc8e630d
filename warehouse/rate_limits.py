"""State of the rate limits that the processes of a machine share."""

import os
import struct
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.identifiers import content_hash
from schemas.text.patterns import bounded

_UNFIT_FOR_A_NAME = bounded(r"[^a-zA-Z0-9]+")
RATE_LAYOUT = struct.Struct("<ddddd")


@dataclass(slots=True)
class RateLimitState:
    """The state of a rate limit.

    It is a time line of slots, shifted as a whole by penalties.

    Attributes:
        next_slot: when the next slot starts, without the shift.
        shift: seconds added to every slot, handed out or not.
        blocked_until: end of the latest penalty.
        seen_at: when the state was last read.
        learnt_per_minute: the rate that the server stated; 0: none.

    Moments are those of the clock that counts from the machine's start, which all processes share
    and nobody sets; in a database, those of its server.
    """

    next_slot: float = 0.0
    shift: float = 0.0
    blocked_until: float = 0.0
    seen_at: float = 0.0
    learnt_per_minute: float = 0.0

    def look(self, now: float) -> None:
        """Update the state to `now`.

        A clock that went back was restarted with the machine.
        """
        clock_reset = max(self.seen_at - now, 0.0)
        self.shift -= clock_reset
        self.blocked_until -= clock_reset
        self.seen_at = now

    @property
    def earliest(self) -> float:
        """The earliest time of a new slot, on the time line of slots."""
        return max(self.seen_at, self.blocked_until) - self.shift


def limit_file(folder: Path, name: str) -> Path:
    """Return the file of a rate limit."""
    readable = _UNFIT_FOR_A_NAME.sub("-", name)[:60]
    return folder / f"{readable}-{content_hash(name, length=8)}.limit"


def limited_until(folder: Path, name: str) -> datetime | None:
    """Return the end of the pause that a server asked for; None if there is none.

    Unknown, and so None, where a database holds the limits.
    """
    try:
        descriptor = os.open(limit_file(folder, name), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        content = os.pread(descriptor, RATE_LAYOUT.size, 0)
    finally:
        os.close(descriptor)
    if len(content) != RATE_LAYOUT.size:
        return None
    state = RateLimitState(*RATE_LAYOUT.unpack(content))
    state.look(time.monotonic())
    seconds = state.blocked_until - state.seen_at
    # A damaged file may hold any number; no server's pause lasts a day.
    return datetime.now(UTC) + timedelta(seconds=seconds) if 0 < seconds < 86_400 else None
