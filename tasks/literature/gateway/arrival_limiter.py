"""An exact rate limit by arrival time, shared by all gateways with the same API key.

It is the generic cell rate algorithm over recorded departures and arrivals, and survives restarts.
Existing libraries count departures: because travel times vary, requests that depart in time can
arrive too close together. `tasks.web.shared_limits` suffices where a limit need not be used up
fully.
"""

import asyncio
import os
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from filelock import lock_descriptor, unlock_descriptor

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash

_PACE = 1.001
_MARGIN = 0.007
"""Usual variation of travel times, as a share of a window."""

_QUICK_ANSWER_SECONDS = 0.015
_STEADY_SPREAD_SECONDS = 0.025
_LONGEST_TRAVEL_SECONDS = 0.25
_LONGEST_TRAVEL_ALONE_SECONDS = 0.1
"""Limit for windows of one request, where lost time cannot be made up."""

_WAKE_EARLY_SECONDS = 0.002
_LOCK_EVERY_SECONDS = 0.001
# At this pace other users of the key get their turn, and work still proceeds.
_MOST_STRETCH = 16.0

_HEAD = struct.Struct("<dI")
_PAIR_BYTES = 16
_MOST_REMEMBERED = 2_000


@dataclass(slots=True)
class Departure:
    """The departure of a request, and the latest time of its arrival."""

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
        """Append a departure.

        Another gateway may need more than `most`, so the list never shrinks.
        """
        length = min(max(most, len(self.departures)), _MOST_REMEMBERED)
        self.departures = [*self.departures, departure][-length:]


class Departures:
    """Memory of a limiter; with a `path`, in a locked file that several processes share.

    Reading needs no lock; granting and writing a departure does. The lock of a dead process is
    released. A file needs a local file system. Times after `now` are from before a restart of the
    machine and are dropped.

    Raises:
        ConfigurationError: the file cannot be made.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._memory = Memory()
        self._descriptor: int | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"{path} cannot be written ({error.strerror}): set ASSAY_HOME to a writable folder"
            ) from error

    def read(self, now: float) -> Memory:
        """Return the memory at `now`."""
        if self._descriptor is None:
            return self._memory
        stored_bytes = os.pread(self._descriptor, _HEAD.size + _PAIR_BYTES * _MOST_REMEMBERED, 0)
        if len(stored_bytes) < _HEAD.size:
            return Memory()
        slot, count = _HEAD.unpack_from(stored_bytes)
        if count > _MOST_REMEMBERED or len(stored_bytes) < _HEAD.size + _PAIR_BYTES * count:
            return Memory()
        moments = struct.unpack_from(f"<{2 * count}d", stored_bytes, _HEAD.size)
        if any(moment > now for moment in moments[::2]):
            return Memory()
        pairs = zip(moments[::2], moments[1::2], strict=True)
        return Memory(slot, [Departure(*pair) for pair in pairs])

    def write(self, memory: Memory) -> None:
        self._memory = memory
        if self._descriptor is None:
            return
        moments = [
            moment for each in memory.departures for moment in (each.left_at, each.arrived_by)
        ]
        head = _HEAD.pack(memory.slot, len(memory.departures))
        os.pwrite(self._descriptor, head + struct.pack(f"<{len(moments)}d", *moments), 0)

    def try_lock(self) -> bool:
        """Lock the memory for a departure if it is free.

        Returns whether it was.
        """
        return self._descriptor is None or lock_descriptor(self._descriptor, blocking=False)

    def unlock(self) -> None:
        if self._descriptor is not None:
            unlock_descriptor(self._descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def departures_file(folder: Path, host: str, key: str | None) -> Path:
    """Return the file for an upstream and key.

    Its name has a shortened hash of the key.
    """
    readable = "".join(letter if letter.isalnum() else "-" for letter in host)[:60]
    return folder / f"{readable}-{content_hash('allowance', host, key or '', length=12)}.departures"


class Turn:
    """The right to send one request.

    The next turn begins an interval after `departed`, not after it was granted.
    """

    def __init__(self, limiter: "ArrivalLimiter", waited_seconds: float, granted_at: float) -> None:
        self._limiter = limiter
        self._held = True
        self._arrived = False
        self.waited_seconds = waited_seconds
        self.departed_at = granted_at

    def departed(self) -> None:
        """Record that the request was sent, or will not be.

        Only the first call counts.
        """
        if self._held:
            self._held = False
            self.departed_at = self._limiter.pass_on()

    def arrived(self) -> None:
        """Record that the request has arrived: its answer begins.

        Only the first call counts.
        """
        self.departed()
        if not self._arrived:
            self._arrived = True
            self._limiter.arrived(self.departed_at)


class ArrivalLimiter:
    """Grants turns in order of request.

    A restarted process never sends at once.

    With N requests a second allowed, any N + 1 consecutive arrivals take longer than a second,
    including those of other limiters with the same `memory`: a request leaves a second after the
    arrival of the one N before it. A margin covers the travel time; if answers are usually quick, a
    late answer means a possibly late arrival. Turns delayed by a busy machine are made up within
    that limit; idle time is not.
    """

    def __init__(
        self,
        requests_per_second: float,
        clock: Callable[[], float] = time.monotonic,
        memory: Departures | None = None,
    ) -> None:
        self._allowed = max(int(requests_per_second), 1)
        self._rate = requests_per_second
        self.interval_seconds = _PACE / requests_per_second
        self._window_seconds = self._allowed / requests_per_second
        self._least_gap_seconds = self.interval_seconds / 2
        self._travel_bound_seconds = (
            _LONGEST_TRAVEL_ALONE_SECONDS if self._allowed == 1 else _LONGEST_TRAVEL_SECONDS
        )
        self._memory = memory or Departures()
        self._clock = clock
        self._gate = asyncio.Lock()
        self.waiting = 0
        self._floor = clock() + self.interval_seconds
        self._answer_seconds: deque[float] = deque(maxlen=20)
        self._arrivals: dict[float, float] = {}
        self._locked = False
        self._working_since = 0.0
        self._last_departure = 0.0
        self._stretched_at = 0.0
        self._refused_before = False
        self.stretch = 1.0
        self.granted = 0
        self.working_departures = 0
        self.working_seconds = 0.0

    async def turn(self) -> Turn:
        """Wait for a turn.

        The caller must call `departed` when the request is sent.
        """
        request_time = self._clock()
        if self.waiting == 0 and not self._gate.locked():
            self._floor = max(self._floor, request_time)
            self._working_since = request_time
        self.waiting += 1
        try:
            await self._gate.acquire()
            try:
                await self._until_free()
            except asyncio.CancelledError:
                self._gate.release()
                raise
        finally:
            self.waiting -= 1
        now = self._clock()
        self.granted += 1
        self._note(self._memory.read(now), now)  # if killed from here on, the request may have left
        return Turn(self, now - request_time, now)

    async def _until_free(self) -> None:
        """Wait for the earliest allowed moment; the memory is locked on return."""
        while True:
            now = self._clock()
            if (
                wait_seconds := self._earliest(self._memory.read(now))
                - now
                - self._travel_bound_seconds
            ) > 0:
                await asyncio.sleep(wait_seconds)  # an answer meanwhile may show an earlier arrival
            await self._until(self._earliest(self._memory.read(self._clock())))
            if not self._memory.try_lock():
                await asyncio.sleep(_LOCK_EVERY_SECONDS)
                continue
            now = self._clock()
            if self._earliest(self._memory.read(now)) <= now:
                self._locked = True
                return
            self._memory.unlock()

    def _earliest(self, memory: Memory) -> float:
        bounds = [memory.slot, self._floor]
        if memory.departures:
            bounds.append(memory.departures[-1].left_at + self._least_gap_seconds)
        if len(memory.departures) >= self._allowed:
            departure = memory.departures[-self._allowed]
            bounds.append(
                self._arrivals.get(departure.left_at, departure.arrived_by) + self._window_seconds
            )
        return max(bounds)

    def _note(self, memory: Memory, moment: float) -> None:
        for each in memory.departures:
            each.arrived_by = self._arrivals.get(each.left_at, each.arrived_by)
        memory.add(Departure(moment, moment + self._longest_travel_seconds), self._allowed)
        self._memory.write(memory)
        departure_times = {each.left_at for each in memory.departures}
        self._arrivals = {
            left_at: by for left_at, by in self._arrivals.items() if left_at in departure_times
        }

    @property
    def _quick(self) -> bool:
        """Whether the upstream usually answers at once, so that late answers show late arrivals."""
        seconds = sorted(self._answer_seconds)
        return not seconds or seconds[len(seconds) // 10] < _QUICK_ANSWER_SECONDS

    @property
    def _steady(self) -> bool:
        """Whether answers usually take equally long, so that longer ones show late arrivals."""
        median_seconds = median(self._answer_seconds)
        spread = median(abs(seconds - median_seconds) for seconds in self._answer_seconds)
        return spread < _STEADY_SPREAD_SECONDS

    @property
    def _longest_travel_seconds(self) -> float:
        """Assumed travel time of a request that has no answer yet."""
        predictable = self._quick or self._steady
        return self._travel_bound_seconds if predictable else _MARGIN * self._window_seconds

    def arrived(self, departed_at: float) -> None:
        """Record an arrival for `Turn.arrived`."""
        seconds = self._clock() - departed_at
        self._answer_seconds.append(seconds)
        if not self._quick:
            late_seconds = max(seconds - median(self._answer_seconds), 0.0) if self._steady else 0.0
            seconds = min(seconds, _MARGIN * self._window_seconds + late_seconds)
        self._arrivals[departed_at] = departed_at + min(seconds, self._travel_bound_seconds)
        if not self._locked and not self._memory.try_lock():
            return  # the next departure writes it
        memory = self._memory.read(self._clock())
        for each in memory.departures:
            each.arrived_by = self._arrivals.get(each.left_at, each.arrived_by)
        self._memory.write(memory)
        if not self._locked:
            self._memory.unlock()

    def pass_on(self) -> float:
        """Record a departure for `Turn.departed`; return its time."""
        now = self._clock()
        memory = self._memory.read(now)
        memory.departures = memory.departures[:-1]
        memory.slot = (
            max(memory.slot, self._floor, now - self._window_seconds) + self.interval_seconds
        )
        if self.stretch > 1.0:
            memory.slot = now + self.interval_seconds * self.stretch
        self._note(memory, now)
        self._locked = False
        self._memory.unlock()
        if self._last_departure >= self._working_since:
            self.working_departures += 1
            self.working_seconds += now - self._last_departure
        self._last_departure = now
        self._gate.release()
        return now

    async def _until(self, moment: float) -> None:
        """Sleep, then yield until the moment: timers alone wake up to a millisecond late."""
        lead_seconds = min(_WAKE_EARLY_SECONDS, self.interval_seconds / 5)
        if (sleep_seconds := moment - self._clock() - lead_seconds) > 0:
            await asyncio.sleep(sleep_seconds)
        while self._clock() < moment:  # noqa: ASYNC110 -- no event marks a moment
            await asyncio.sleep(0)

    def refused(self, turn: Turn) -> None:
        """Record an answer with status 429.

        From the second in a row on, the rate is halved each time, because others share the key.
        Refusals of requests sent before the latest slowdown do not count.
        """
        if self._refused_before and turn.departed_at > self._stretched_at:
            self.stretch = min(self.stretch * 2.0, _MOST_STRETCH)
            self._stretched_at = self._clock()
        self._refused_before = True

    def accepted(self) -> None:
        """Record an answer; the rate is doubled up to full speed."""
        self._refused_before = False
        self.stretch = max(self.stretch / 2.0, 1.0)

    def hold_back(self, seconds: float) -> None:
        """Delay all departures by `seconds`, as the upstream asked."""
        self._floor = max(self._floor, self._clock() + seconds)

    @property
    def used_share(self) -> float | None:
        """Share of the allowed departures used while requests waited.

        It is None before any request waited.
        """
        if self.working_seconds <= 0:
            return None
        return self.working_departures / self._rate / self.working_seconds

    def close(self) -> None:
        self._memory.close()
