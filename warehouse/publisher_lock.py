"""One publisher at a time, held by an operating-system lock: a killed publisher lets go of it."""

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import TransientError

_POLL_SECONDS = 0.1


@contextmanager
def publisher_lock(path: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock while the block runs.

    Raises:
        TransientError: another process held it for `wait_seconds`.
    """
    with path.open("a+") as file:
        _acquire(file.fileno(), path, time.monotonic() + wait_seconds)
        try:
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            yield
        finally:
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def _acquire(descriptor: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = path.read_text("utf-8") or "another process"
                raise TransientError(
                    f"{holder} is publishing to {path.parent}: try again when it has finished"
                ) from None
            time.sleep(_POLL_SECONDS)
        else:
            return
