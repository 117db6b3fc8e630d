"""Stops asking another side that has been down for a while; now and then one request may try."""

import struct
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tasks.web.locks import shared_record

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
    """Opens when `minimum_failures` in a row came over at least `minimum_seconds`.

    With a `path`, the failures and answers of every process that names it count; without, those of
    this object alone. The clock is the wall's, which processes share; one that is set back keeps no
    circuit open for longer. While open, one request in `open_seconds` may be sent: longer than a
    request may take, so that it has ended before the next.
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
        with self._shared() as memory:
            return self._state_of(memory)

    def allows(self) -> bool:
        """Whether a request may be sent now; after one that may try, the next has to wait again."""
        with self._shared() as memory:
            state = self._state_of(memory)
            if state is CircuitState.HALF_OPEN:
                memory.opened_at = self._clock()
            return state is not CircuitState.OPEN

    def answered(self) -> None:
        """The other side answered, be it with a refusal."""
        with self._shared() as memory:
            memory.failures, memory.failing_since, memory.opened_at = 0, 0.0, _NEVER

    def failed(self) -> None:
        """It did not: no answer, an error, or a refusal for load."""
        with self._shared() as memory:
            now = self._clock()
            memory.failing_since = memory.failing_since if memory.failures else now
            memory.failures += 1
            lasting = now - memory.failing_since >= self._minimum_seconds
            if memory.failures >= self._minimum_failures and lasting:
                memory.opened_at = now

    def _state_of(self, memory: _Memory) -> CircuitState:
        if memory.opened_at == _NEVER:
            return CircuitState.CLOSED
        waiting = 0 <= self._clock() - memory.opened_at < self._open_seconds
        return CircuitState.OPEN if waiting else CircuitState.HALF_OPEN

    def _shared(self) -> AbstractContextManager[_Memory]:
        if self._path is None:
            return nullcontext(self._own)
        return shared_record(self._path, _LAYOUT, _Memory)
