"""Stops asking a source that has been down for a while, for every process of the machine; lets one request through now and then."""

import fcntl
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schemas.identifiers import content_hash

_LAYOUT = struct.Struct("<Qdd")


@dataclass(slots=True)
class _State:
    failures: int = 0
    failing_since: float = 0.0
    opened_at: float = 0.0


class SharedCircuit:
    """Opens when `minimum_failures` in a row came over at least `minimum_seconds`, of whichever process.

    Needs a local file system and a POSIX system (`flock`). The clock is the wall's: processes share it.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        minimum_failures: int = 8,
        minimum_seconds: float = 60.0,
        open_seconds: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = folder / f"{content_hash('circuit', name, length=16)}.circuit"
        self._minimum_failures = minimum_failures
        self._minimum_seconds = minimum_seconds
        self._open_seconds = open_seconds
        self._clock = clock

    def allows(self) -> bool:
        """Whether a request may be sent now. While open, one in `open_seconds` may, to see."""

        def try_one(state: _State, now: float) -> bool:
            if not state.opened_at:
                return True
            if 0 <= now - state.opened_at < self._open_seconds:
                return False
            state.opened_at = now
            return True

        return self._update(try_one)

    def answered(self) -> None:
        """The other side answered, be it with a refusal."""

        def close(state: _State, _: float) -> bool:
            state.failures, state.failing_since, state.opened_at = 0, 0.0, 0.0
            return True

        self._update(close)

    def failed(self) -> None:
        """It did not: no answer, an error, or a refusal for load."""

        def count(state: _State, now: float) -> bool:
            state.failing_since = state.failing_since if state.failures else now
            state.failures += 1
            if state.failures >= self._minimum_failures and now - state.failing_since >= self._minimum_seconds:
                state.opened_at = now
            return True

        self._update(count)

    def _update(self, change: Callable[[_State, float], bool]) -> bool:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            stored = os.pread(descriptor, _LAYOUT.size, 0)
            state = _State(*_LAYOUT.unpack(stored)) if len(stored) == _LAYOUT.size else _State()
            allowed = change(state, self._clock())
            os.pwrite(descriptor, _LAYOUT.pack(state.failures, state.failing_since, state.opened_at), 0)
        finally:
            os.close(descriptor)
        return allowed
