"""One exact rate limit for every request under one key, as the other side measures it: by arrival.

The generic cell rate algorithm, with what really left, and when it had arrived, as its memory. All
gateways of the machine may share it, and it outlives a restart. Kept by hand: libraries count
departures, but travel times vary, and an allowance that several gateways use up to its last request
is overrun where a request departs in time and arrives early. Where a limit leaves room,
`tasks.web.shared_limits` is enough.
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
"""Of a window: what travel times usually differ by."""

_QUICK_ANSWER_SECONDS = 0.015
_STEADY_SPREAD_SECONDS = 0.025
_LONGEST_TRAVEL_SECONDS = 0.25
_LONGEST_TRAVEL_ALONE_SECONDS = 0.1
"""Where a window holds one request, time lost cannot be made up for."""

_WAKE_EARLY_SECONDS = 0.002
_LOCK_EVERY_SECONDS = 0.001
# Others who share the key get their turn at this pace, and work still goes on.
_MOST_STRETCH = 16.0

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
        length = min(max(most, len(self.departures)), _MOST_REMEMBERED)
        self.departures = [*self.departures, departure][-length:]


class Departures:
    """Memory of a limiter that is alone.

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
        """Return whether a departure may be decided on; then nobody else may until `unlock`."""
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
        """The request is on the wire, or will never be. Only the first call counts."""
        if self._held:
            self._held = False
            self.departed_at = self._limiter.pass_on()

    def arrived(self) -> None:
        """Its answer begins to come, or never will: it had arrived. Only the first call counts."""
        self.departed()
        if not self._arrived:
            self._arrived = True
            self._limiter.arrived(self.departed_at)


class ArrivalLimiter:
    """Hands out turns in order of asking. A restarted process never sends at once.

    With N requests a second allowed, any N + 1 arrivals in a row take longer than a second, also
    those of other limiters with the same `memory`: a request leaves a second after the one N before
    it had arrived. A margin stands for the travel time, and where answers are usually quick, one
    that comes late says that its question may have arrived late. A turn that came late because the
    machine was busy is made up for by the next ones, within that bound; idle time is not.
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

        Whoever takes it must call `departed`: setting up a connection must not shorten the
        distance.
        """
        asked_at = self._clock()
        if self.waiting == 0 and not self._gate.locked():
            self._floor = max(self._floor, asked_at)
            self._working_since = asked_at
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
        self._note(self._memory.read(now), now)  # killed from here on, the request may have left
        return Turn(self, now - asked_at, now)

    async def _until_free(self) -> None:
        """Return at the earliest moment, with the memory locked."""
        while True:
            now = self._clock()
            if (
                rest := self._earliest(self._memory.read(now)) - now - self._travel_bound_seconds
            ) > 0:
                await asyncio.sleep(rest)  # an answer meanwhile may tell of an earlier arrival
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
            before = memory.departures[-self._allowed]
            bounds.append(
                self._arrivals.get(before.left_at, before.arrived_by) + self._window_seconds
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
        """Return whether the other side usually answers at once: then late answers tell of
        arrivals.
        """
        answer_seconds = sorted(self._answer_seconds)
        return (
            not answer_seconds or answer_seconds[len(answer_seconds) // 10] < _QUICK_ANSWER_SECONDS
        )

    @property
    def _steady(self) -> bool:
        """Return whether answers usually take equally long: then what is above tells of arrivals."""
        usual = median(self._answer_seconds)
        return (
            median(abs(seconds - usual) for seconds in self._answer_seconds)
            < _STEADY_SPREAD_SECONDS
        )

    @property
    def _longest_travel_seconds(self) -> float:
        """The time a request may need to arrive, as long as no answer tells."""
        return (
            self._travel_bound_seconds
            if self._quick or self._steady
            else _MARGIN * self._window_seconds
        )

    def arrived(self, departed_at: float) -> None:
        """Called by `Turn.arrived`."""
        seconds = self._clock() - departed_at
        self._answer_seconds.append(seconds)
        if not self._quick:
            late_seconds = max(seconds - median(self._answer_seconds), 0.0) if self._steady else 0.0
            seconds = min(seconds, _MARGIN * self._window_seconds + late_seconds)
        self._arrivals[departed_at] = departed_at + min(seconds, self._travel_bound_seconds)
        self._tell_others()

    def _tell_others(self) -> None:
        if not self._locked and not self._memory.try_lock():
            return  # with the next departure, then
        memory = self._memory.read(self._clock())
        for each in memory.departures:
            each.arrived_by = self._arrivals.get(each.left_at, each.arrived_by)
        self._memory.write(memory)
        if not self._locked:
            self._memory.unlock()

    def pass_on(self) -> float:
        """Called by `Turn.departed`; returns the moment."""
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
        early = min(_WAKE_EARLY_SECONDS, self.interval_seconds / 5)
        if (rest := moment - self._clock() - early) > 0:
            await asyncio.sleep(rest)
        while self._clock() < moment:  # noqa: ASYNC110 -- no event marks a moment
            await asyncio.sleep(0)

    def refused(self, turn: Turn) -> None:
        """The other side said 429.

        From the second in a row on departures slow down, twofold each time: others share the
        allowance.

        Refusals of what left before the latest slow-down say nothing about it.
        """
        if self._refused_before and turn.departed_at > self._stretched_at:
            self.stretch = min(self.stretch * 2.0, _MOST_STRETCH)
            self._stretched_at = self._clock()
        self._refused_before = True

    def accepted(self) -> None:
        """The other side answered: back towards full speed, twofold each time."""
        self._refused_before = False
        self.stretch = max(self.stretch / 2.0, 1.0)

    def hold_back(self, seconds: float) -> None:
        """Let nothing depart for so long, because the other side named a time."""
        self._floor = max(self._floor, self._clock() + seconds)

    @property
    def used_share(self) -> float | None:
        """Departures over those allowed while some request waited; None before there was any."""
        if self.working_seconds <= 0:
            return None
        return self.working_departures / self._rate / self.working_seconds

    def close(self) -> None:
        self._memory.close()
