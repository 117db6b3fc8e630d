"""Stops asking another side that has been down for a while; lets one request through now and then to see."""

import os
import struct
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from tasks.web.locks import locked

ResultT = TypeVar("ResultT")
_NEVER = -1.0
_LAYOUT = struct.Struct("<Qdd")


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
    """Opens when `minimum_failures` in a row came over at least `minimum_seconds` without any answer between them.

    With a `path`, the failures and answers of every process that names it count; without, those of this object alone.
    The clock is the wall's, which processes share; one that is set back keeps no circuit open for longer. While open,
    one request in `open_seconds` may be sent: longer than a request may take, so that it has ended before the next.
    """

    def __init__(
        self,
        path: Path | None = None,
        minimum_failures: int = 8,
        minimum_seconds: float = 60.0,
        open_seconds: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._minimum_failures = minimum_failures
        self._minimum_seconds = minimum_seconds
        self._open_seconds = open_seconds
        self._clock = clock
        self._own = _Memory()

    @property
    def state(self) -> CircuitState:
        return self._update(self._state_of)

    def allows(self) -> bool:
        """Whether a request may be sent now; where one is let through to see, the next has to wait again."""

        def try_one(memory: _Memory, now: float) -> bool:
            state = self._state_of(memory, now)
            if state is CircuitState.HALF_OPEN:
                memory.opened_at = now
            return state is not CircuitState.OPEN

        return self._update(try_one)

    def answered(self) -> None:
        """The other side answered, be it with a refusal."""

        def close(memory: _Memory, _: float) -> None:
            memory.failures, memory.failing_since, memory.opened_at = 0, 0.0, _NEVER

        self._update(close)

    def failed(self) -> None:
        """It did not: no answer, an error, or a refusal for load."""

        def count(memory: _Memory, now: float) -> None:
            memory.failing_since = memory.failing_since if memory.failures else now
            memory.failures += 1
            lasting = now - memory.failing_since >= self._minimum_seconds
            if memory.failures >= self._minimum_failures and lasting:
                memory.opened_at = now

        self._update(count)

    def _state_of(self, memory: _Memory, now: float) -> CircuitState:
        if memory.opened_at == _NEVER:
            return CircuitState.CLOSED
        waiting = 0 <= now - memory.opened_at < self._open_seconds
        return CircuitState.OPEN if waiting else CircuitState.HALF_OPEN

    def _update(self, change: Callable[[_Memory, float], ResultT]) -> ResultT:
        if self._path is None:
            return change(self._own, self._clock())
        with locked(self._path) as descriptor:
            stored = os.pread(descriptor, _LAYOUT.size, 0)
            memory = _Memory(*_LAYOUT.unpack(stored)) if len(stored) == _LAYOUT.size else _Memory()
            result = change(memory, self._clock())
            os.pwrite(descriptor, _LAYOUT.pack(*astuple(memory)), 0)
        return result
