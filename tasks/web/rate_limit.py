"""A rate limit shared by every process of a machine: on a locked file, exact, safe against kills.

Kept by hand: libraries that share a limit between processes want a server, and none shifts what is
handed out already when the other side asks for a pause.
"""

import asyncio
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.patterns import bounded
from tasks.web.locks import shared_record

_UNFIT_FOR_A_NAME = bounded(r"[^a-zA-Z0-9]+")
_LAYOUT = struct.Struct("<ddddd")


@dataclass(slots=True)
class _State:
    """Slots are handed out on a time line of their own; a penalty shifts that line as a whole.

    Attributes:
        next_slot: when the next slot starts, without the shift.
        shift: seconds added to every slot, handed out or not.
        blocked_until: end of the latest penalty.
        seen_at: when the state was last looked at.
        learnt_per_minute: what the other side said it allows; 0: nothing.

    Moments are those of the clock that counts from the machine's start, which all processes share
    and nobody sets.
    """

    next_slot: float = 0.0
    shift: float = 0.0
    blocked_until: float = 0.0
    seen_at: float = 0.0
    learnt_per_minute: float = 0.0

    def look(self, now: float) -> None:
        """A clock that stands before the last look began anew with the machine; the time line moves
        with it.
        """
        behind = max(self.seen_at - now, 0.0)
        self.shift -= behind
        self.blocked_until -= behind
        self.seen_at = now

    @property
    def earliest(self) -> float:
        """The first moment on the time line of slots that lies neither in the past nor inside a
        penalty.
        """
        return max(self.seen_at, self.blocked_until) - self.shift


class SharedRateLimit:
    """`per_minute` units a minute over all processes that name the same `folder` and `name`.

    Slots are evenly spaced and handed out in order of asking, so no window of any length sees more
    than its share plus one. A process that dies loses only the slots it had taken. Needs a local
    file system and a POSIX system (`flock`). With None, only what is learnt holds anything back.

    Source: the generic cell rate algorithm, ITU-T I.371.
    """

    def __init__(self, folder: Path, name: str, per_minute: float | None) -> None:
        if per_minute is not None and per_minute <= 0:
            raise ConfigurationError(
                f"rate limit {name}: {per_minute} per minute is not above zero"
            )
        self._per_minute = per_minute
        readable = _UNFIT_FOR_A_NAME.sub("-", name)[:60]
        self._path = folder / f"{readable}-{content_hash(name, length=8)}.limit"

    async def take(self, amount: float = 1.0) -> float:
        """Wait for a slot of `amount` units; return the seconds waited.

        An amount above a minute's worth is let through and delays what follows accordingly.
        """
        asked_at = time.monotonic()
        with self._shared() as state:
            slot = max(state.next_slot, state.earliest)
            state.next_slot = slot + amount * self._seconds_per_unit(state)
            start = slot + state.shift
        while (wait := start - time.monotonic()) > 0:
            await asyncio.sleep(wait)
            with self._shared() as state:
                start = slot + state.shift
        return max(time.monotonic() - asked_at, 0.0)

    def settle(self, difference: float) -> None:
        """Correct an estimate: `difference` units more (or, negative, fewer) than taken were used."""
        if difference:
            with self._shared() as state:
                first = max(state.next_slot, state.earliest)
                state.next_slot = first + difference * self._seconds_per_unit(state)

    def space(self) -> None:
        """Count the distance to the next slot from now: for terms that mean a request's arrival."""
        with self._shared() as state:
            following = state.earliest + self._seconds_per_unit(state)
            state.next_slot = max(state.next_slot, following)

    def penalise(self, seconds: float) -> None:
        """Start nothing before `seconds` from now, waiting slots included (the other side said
        "slow down").

        Penalties that overlap count once.
        """
        with self._shared() as state:
            until = state.seen_at + seconds
            if until > state.blocked_until:
                state.shift += until - max(state.blocked_until, state.seen_at)
                state.blocked_until = until

    def learn(self, per_minute: float) -> None:
        """Keep to `per_minute` from now on, in every process: the other side said that it allows no
        more.
        """
        if per_minute > 0:
            with self._shared() as state:
                state.learnt_per_minute = per_minute

    def _seconds_per_unit(self, state: _State) -> float:
        """Seconds between slots: by what was set or learnt, whichever is slower; 0 without a limit."""
        known = [limit for limit in (self._per_minute, state.learnt_per_minute) if limit]
        return 60.0 / min(known) if known else 0.0

    @contextmanager
    def _shared(self) -> Iterator[_State]:
        with shared_record(self._path, _LAYOUT, _State) as state:
            state.look(time.monotonic())
            yield state
