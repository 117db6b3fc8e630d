"""A rate limit shared by every process of a machine: GCRA on a locked file, exact and safe against kills."""

import asyncio
import fcntl
import os
import re
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash

_LAYOUT = struct.Struct("<ddd")


@dataclass(slots=True)
class _State:
    """Slots are handed out on a time line of their own; a penalty shifts that line as a whole.

    Attributes:
        next_slot: when the next slot starts, without the shift (Unix seconds).
        shift: seconds added to every slot, handed out or not.
        blocked_until: end of the latest penalty (Unix seconds).
    """

    next_slot: float
    shift: float
    blocked_until: float

    def earliest(self, now: float) -> float:
        """The first moment on the time line of slots that lies neither in the past nor inside a penalty."""
        return max(now, self.blocked_until) - self.shift


class SharedRateLimit:
    """`per_minute` units a minute over all processes that name the same `folder` and `name`.

    Slots are evenly spaced and handed out in order of asking, so no window of any length sees more than its
    share plus one. A process that dies loses only the slots it had taken. Needs a local file system and a
    POSIX system (`flock`).

    Source: the generic cell rate algorithm, ITU-T I.371.
    """

    def __init__(self, folder: Path, name: str, per_minute: float) -> None:
        if per_minute <= 0:
            raise ConfigurationError(f"rate limit {name}: {per_minute} per minute is not above zero")
        self._seconds_per_unit = 60.0 / per_minute
        readable = re.sub(r"[^a-zA-Z0-9]+", "-", name)[:60]
        self._path = folder / f"{readable}-{content_hash(name, length=8)}.limit"

    async def take(self, amount: float = 1.0) -> float:
        """Wait for a slot of `amount` units; return the seconds waited.

        An amount above a minute's worth is let through and delays what follows accordingly.
        """
        asked_at = time.time()
        slot, start = self._update(lambda state, now: self._hand_out(state, now, amount))
        while (wait := start - time.time()) > 0:
            await asyncio.sleep(wait)
            start = slot + self._update(lambda state, _: (0.0, state.shift))[1]
        return max(time.time() - asked_at, 0.0)

    def settle(self, difference: float) -> None:
        """Correct an estimate: `difference` units more (or, negative, fewer) than taken were used."""

        def correct(state: _State, now: float) -> tuple[float, float]:
            state.next_slot = max(state.next_slot, state.earliest(now)) + difference * self._seconds_per_unit
            return 0.0, 0.0

        if difference:
            self._update(correct)

    def space(self) -> None:
        """Count the distance to the next slot from now: for terms that mean the moment a request arrives, not when it may leave."""

        def move(state: _State, now: float) -> tuple[float, float]:
            state.next_slot = max(state.next_slot, state.earliest(now) + self._seconds_per_unit)
            return 0.0, 0.0

        self._update(move)

    def penalise(self, seconds: float) -> None:
        """Start nothing before `seconds` from now, waiting slots included (the other side said "slow down").

        Penalties that overlap count once.
        """

        def block(state: _State, now: float) -> tuple[float, float]:
            until = now + seconds
            if until > state.blocked_until:
                state.shift += until - max(state.blocked_until, now)
                state.blocked_until = until
            return 0.0, 0.0

        self._update(block)

    def _hand_out(self, state: _State, now: float, amount: float) -> tuple[float, float]:
        slot = max(state.next_slot, state.earliest(now))
        state.next_slot = slot + amount * self._seconds_per_unit
        return slot, slot + state.shift

    def _update(self, change: Callable[[_State, float], tuple[float, float]]) -> tuple[float, float]:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            stored = os.pread(descriptor, _LAYOUT.size, 0)
            state = _State(*_LAYOUT.unpack(stored)) if len(stored) == _LAYOUT.size else _State(0.0, 0.0, 0.0)
            answer = change(state, time.time())
            os.pwrite(descriptor, _LAYOUT.pack(state.next_slot, state.shift, state.blocked_until), 0)
        finally:
            os.close(descriptor)
        return answer
