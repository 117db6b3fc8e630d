"""Delays after wrong passwords."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

FREE_GUESSES = 3
LONGEST_WAIT_SECONDS = 60.0
FORGOTTEN_AFTER_SECONDS = 900.0
MOST_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class _Guesses:
    count: int
    last: float

    def wait_seconds(self, free: int) -> float:
        """Return the delay after the last guess: 1, 2, 4 … seconds, up to a limit."""
        over = self.count - free
        return min(2.0 ** min(over, 30), LONGEST_WAIT_SECONDS) if over >= 0 else 0.0


class Attempts:
    """Wrong passwords by client, with a delay that grows for that client only.

    A client is an address or the account being guessed.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, free: int = FREE_GUESSES
    ) -> None:
        self._clock, self._free = clock, free
        self._wrong: OrderedDict[str, _Guesses] = OrderedDict()
        self._lock = threading.Lock()

    def wait_seconds(self, client: str) -> float:
        """Return the seconds until a guess of `client` counts; 0 or less: now."""
        with self._lock:
            return self._wait_seconds(client)

    def record(self, client: str, *, right: bool) -> float:
        """Record a guess; return 0, or the seconds to wait if it came too early.

        A guess that comes too early does not count, right or wrong.
        """
        with self._lock:
            wait_seconds = self._wait_seconds(client)
            if wait_seconds > 0:
                return wait_seconds
            guesses = self._guesses_of(client)
            self._wrong.pop(client, None)
            if not right:
                self._wrong[client] = _Guesses(guesses.count + 1, self._clock())
                if len(self._wrong) > MOST_CLIENTS:
                    self._wrong.popitem(last=False)
            return 0.0

    def _wait_seconds(self, client: str) -> float:
        guesses = self._guesses_of(client)
        return guesses.last + guesses.wait_seconds(self._free) - self._clock()

    def _guesses_of(self, client: str) -> _Guesses:
        guesses = self._wrong.get(client)
        old = guesses is None or guesses.last + FORGOTTEN_AFTER_SECONDS < self._clock()
        return _Guesses(0, -math.inf) if guesses is None or old else guesses
