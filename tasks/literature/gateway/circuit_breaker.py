"""Stops asking an upstream that has been down for a while; lets one request through now and then to see."""

import time
from collections.abc import Callable
from enum import StrEnum


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Opens when `minimum_failures` in a row came over at least `minimum_seconds` without any answer between them."""

    def __init__(
        self,
        minimum_failures: int = 8,
        minimum_seconds: float = 60.0,
        open_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._minimum_failures = minimum_failures
        self._minimum_seconds = minimum_seconds
        self._open_seconds = open_seconds
        self._clock = clock
        self._failures = 0
        self._failing_since = 0.0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> CircuitState:
        if self._opened_at is None:
            return CircuitState.CLOSED
        waited = self._clock() - self._opened_at >= self._open_seconds
        return CircuitState.HALF_OPEN if waited else CircuitState.OPEN

    def allows(self) -> bool:
        """Whether a request may be sent now. In the half-open state only one may, until its outcome is known."""
        if self.state is CircuitState.CLOSED:
            return True
        if self.state is CircuitState.OPEN or self._probing:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        self._failures = 0
        self._opened_at = None
        self._probing = False

    def failed(self) -> None:
        now = self._clock()
        self._failing_since = self._failing_since if self._failures else now
        self._failures += 1
        lasting = now - self._failing_since >= self._minimum_seconds
        if self._probing or (self._failures >= self._minimum_failures and lasting):
            self._opened_at = now
        self._probing = False
