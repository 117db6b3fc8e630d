"""What left for one upstream under one key, remembered for every gateway of the machine and over
restarts.
"""

import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

from filelock import lock_descriptor, unlock_descriptor

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash

_HEAD = struct.Struct("<dI")
_PAIR_BYTES = 16
_MOST_REMEMBERED = 2_000


@dataclass(slots=True)
class Departure:
    """When a request left, and when it had arrived at the latest, as far as is known."""

    left_at: float
    arrived_by: float


@dataclass(slots=True)
class Memory:
    """Moments of the system's monotonic clock.

    Attributes:
        slot: when the next departure is due.
        departures: the latest ones, oldest first.
    """

    slot: float = 0.0
    departures: list[Departure] = field(default_factory=list)

    def add(self, departure: Departure, most: int) -> None:
        """Another gateway may need more than `most`: no more are forgotten than are added."""
        kept = min(max(most, len(self.departures)), _MOST_REMEMBERED)
        self.departures = [*self.departures, departure][-kept:]


class Departures:
    """Where a limiter that is alone remembers.

    Reading needs no lock; deciding on a departure and writing it does.
    """

    def __init__(self) -> None:
        self._memory = Memory()

    def read(self, now: float) -> Memory:
        """The memory at `now`."""
        del now
        return self._memory

    def write(self, memory: Memory) -> None:
        self._memory = memory

    def try_lock(self) -> bool:
        """Whether a departure may be decided on; then nobody else may until `unlock`."""
        return True

    def unlock(self) -> None:
        """Let the others decide."""

    def close(self) -> None:
        """Let go of what is held."""


class SharedDepartures(Departures):
    """The same in a file: every process that names it takes turns.

    A process that dies lets go of it.

    Needs a local file system. Moments after `now` are of an earlier start of the machine.

    Raises:
        ConfigurationError: the file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
        except OSError as error:
            raise ConfigurationError(
                f"{path} cannot be written ({error.strerror}): set ASSAY_HOME to a writable folder"
            ) from error

    def read(self, now: float) -> Memory:
        stored = os.pread(self._descriptor, _HEAD.size + _PAIR_BYTES * _MOST_REMEMBERED, 0)
        if len(stored) < _HEAD.size:
            return Memory()
        slot, count = _HEAD.unpack_from(stored)
        if count > _MOST_REMEMBERED or len(stored) < _HEAD.size + _PAIR_BYTES * count:
            return Memory()
        moments = struct.unpack_from(f"<{2 * count}d", stored, _HEAD.size)
        if any(moment > now for moment in moments[::2]):
            return Memory()
        return Memory(
            slot,
            [
                Departure(left_at, arrived_by)
                for left_at, arrived_by in zip(moments[::2], moments[1::2], strict=True)
            ],
        )

    def write(self, memory: Memory) -> None:
        moments = [
            moment for each in memory.departures for moment in (each.left_at, each.arrived_by)
        ]
        os.pwrite(
            self._descriptor,
            _HEAD.pack(memory.slot, len(memory.departures))
            + struct.pack(f"<{len(moments)}d", *moments),
            0,
        )

    def try_lock(self) -> bool:
        return lock_descriptor(self._descriptor, blocking=False)

    def unlock(self) -> None:
        unlock_descriptor(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


def departures_file(folder: Path, host: str, key: str | None) -> Path:
    """One per upstream and key. The key enters only hashed, and the hash shortened."""
    readable = "".join(letter if letter.isalnum() else "-" for letter in host)[:60]
    return folder / f"{readable}-{content_hash('allowance', host, key or '', length=12)}.departures"
