"""Turns, rate limits and circuit breakers shared by the processes of a machine.

They are small locked files on a local file system. With a catalogue in PostgreSQL, its database
holds the rate limits of all machines.
"""

import asyncio
import math
import os
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, TypeVar

from filelock import AsyncFileLock, lock_descriptor

from schemas.errors import ConfigurationError
from warehouse.rate_limits import RATE_LAYOUT, RateLimitState, limit_file
from warehouse.shared_database import shared_database

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordT = TypeVar("RecordT", bound="DataclassInstance")
_POLL_SECONDS = 0.001
"""Pause between attempts; a record is locked for microseconds."""


@contextmanager
def shared_record(path: Path, layout: Struct, kind: type[RecordT]) -> Iterator[RecordT]:
    """Yield the dataclass stored in the file at `path`, and write it back.

    The file is locked meanwhile, so the block must be short. A missing or unreadable file starts
    with `kind()`.
    """
    descriptor = _open_file(path)
    try:
        lock_descriptor(descriptor, poll_interval=_POLL_SECONDS)
        record = _read(os.pread(descriptor, layout.size, 0), layout, kind)
        yield record
        values = [getattr(record, each.name) for each in fields(record)]
        os.pwrite(descriptor, layout.pack(*values), 0)
    finally:
        os.close(descriptor)


def _read(record_bytes: bytes, layout: Struct, kind: type[RecordT]) -> RecordT:
    if len(record_bytes) != layout.size:
        return kind()
    values = layout.unpack(record_bytes)
    # Comparisons with NaN are always false.
    return kind(*values) if all(map(math.isfinite, values)) else kind()


@asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """Hold the lock at `path` during the block.

    The lock of a dead process is released.
    """
    async with AsyncFileLock(path, mode=0o600, run_in_executor=False, fallback_to_soft=False):
        yield


def _open_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


class SharedRateLimit:
    """`per_minute` units a minute over all processes that name the same `folder` and `name`.

    Slots are evenly spaced and given in order of request, so no window exceeds its share by more
    than one. With None, only a rate stated by the server applies.

    In a file it needs a local file system and a POSIX system (`flock`). Where the catalogue is in
    PostgreSQL, its database keeps the limit for all machines.

    Existing libraries need a server to share a limit, and cannot delay slots already given when the
    server asks for a pause.

    Source: the generic cell rate algorithm, ITU-T I.371.
    """

    def __init__(self, folder: Path, name: str, per_minute: float | None) -> None:
        if per_minute is not None and per_minute <= 0:
            raise ConfigurationError(
                f"rate limit {name}: {per_minute} per minute is not above zero"
            )
        self._per_minute = per_minute
        self._path = limit_file(folder, name)
        self._database = shared_database()

    async def take(self, amount: float = 1.0) -> float:
        """Wait for a slot of `amount` units; return the seconds waited.

        An amount above a minute's worth is let through and delays what follows accordingly.
        """
        start_time = time.monotonic()
        # Taken before the wait, so that later callers get later slots.
        slot, wait = self.slot(amount)
        # Another process's penalty may shift the slot during the wait, so it is read again.
        while wait > 0:
            await asyncio.sleep(wait)
            with self._shared() as state:
                wait = max(slot + state.shift - state.seen_at, 0.0)
        return max(time.monotonic() - start_time, 0.0)

    def slot(self, amount: float) -> tuple[float, float]:
        """Take a slot.

        Returns its place on the time line, and the seconds until then.
        """
        with self._shared() as state:
            slot = max(state.next_slot, state.earliest)
            state.next_slot = slot + amount * self._seconds_per_unit(state)
            return slot, max(slot + state.shift - state.seen_at, 0.0)

    def settle(self, difference: float) -> None:
        """Correct an estimate: `difference` units more than taken were used; negative: fewer."""
        if difference:
            with self._shared() as state:
                first = max(state.next_slot, state.earliest)
                state.next_slot = first + difference * self._seconds_per_unit(state)

    def space(self) -> None:
        """Count the interval to the next slot from now, for limits on the end of requests."""
        with self._shared() as state:
            next_slot = state.earliest + self._seconds_per_unit(state)
            state.next_slot = max(state.next_slot, next_slot)

    def penalise(self, seconds: float) -> None:
        """Delay all slots, including given ones, by `seconds`; overlapping penalties count once."""
        with self._shared() as state:
            penalty_end = state.seen_at + seconds
            if penalty_end > state.blocked_until:
                state.shift += penalty_end - max(state.blocked_until, state.seen_at)
                state.blocked_until = penalty_end

    def learn(self, per_minute: float) -> None:
        """Apply a rate that the server stated, in every process."""
        if per_minute > 0:
            with self._shared() as state:
                state.learnt_per_minute = per_minute

    def _seconds_per_unit(self, state: RateLimitState) -> float:
        """Return the seconds per unit by the slower of set and learnt rate; 0 without a limit."""
        limits = [limit for limit in (self._per_minute, state.learnt_per_minute) if limit]
        return 60.0 / min(limits) if limits else 0.0

    @contextmanager
    def _shared(self) -> Iterator[RateLimitState]:
        if self._database is None:
            with shared_record(self._path, RATE_LAYOUT, RateLimitState) as state:
                state.look(time.monotonic())
                yield state
            return
        with self._database.record(self._path.name) as record:
            state = _read(record.content or b"", RATE_LAYOUT, RateLimitState)
            state.look(record.clock)
            yield state
            record.replace(RATE_LAYOUT.pack(*astuple(state)))


# Longer than a request may take, so that one trial ends before the next is allowed.
_OPEN_SECONDS = 60.0
_NEVER = -1.0
_CIRCUIT_LAYOUT = struct.Struct("<Qdd")


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(slots=True)
class _Memory:
    failures: int = 0
    failing_since: float = 0.0
    opened_at: float = _NEVER


class CircuitBreaker:
    """A circuit breaker: opens after `minimum_failures` in a row over `minimum_seconds`.

    With a `path`, it is shared by the processes that use it. It uses the wall clock, which
    processes share; setting it back closes no circuit later. While open, one request a minute is
    allowed.
    """

    def __init__(
        self,
        path: Path | None = None,
        minimum_failures: int = 8,
        minimum_seconds: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._minimum_failures = minimum_failures
        self._minimum_seconds = minimum_seconds
        self._clock = clock
        self._own = _Memory()

    @property
    def state(self) -> CircuitState:
        with self._shared() as memory:
            return self._state_of(memory)

    def allows(self) -> bool:
        """Return whether a request may be sent now.

        A half-open circuit allows one trial.
        """
        with self._shared() as memory:
            state = self._state_of(memory)
            if state is CircuitState.HALF_OPEN:
                memory.opened_at = self._clock()
            return state is not CircuitState.OPEN

    def answered(self) -> None:
        """Record an answer, including a refusal."""
        with self._shared() as memory:
            memory.failures, memory.failing_since, memory.opened_at = 0, 0.0, _NEVER

    def failed(self) -> None:
        """Record a failure: no answer, an error, or a refusal for load."""
        with self._shared() as memory:
            now = self._clock()
            memory.failing_since = memory.failing_since if memory.failures else now
            memory.failures += 1
            long_enough = now - memory.failing_since >= self._minimum_seconds
            if memory.failures >= self._minimum_failures and long_enough:
                memory.opened_at = now

    def _state_of(self, memory: _Memory) -> CircuitState:
        if memory.opened_at == _NEVER:
            return CircuitState.CLOSED
        is_open = 0 <= self._clock() - memory.opened_at < _OPEN_SECONDS
        return CircuitState.OPEN if is_open else CircuitState.HALF_OPEN

    def _shared(self) -> AbstractContextManager[_Memory]:
        if self._path is None:
            return nullcontext(self._own)
        return shared_record(self._path, _CIRCUIT_LAYOUT, _Memory)
