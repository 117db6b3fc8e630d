"""Operating-system lock of the publisher, released when its process dies."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from schemas.errors import TransientError

_POLL_SECONDS = 0.1


@contextmanager
def publisher_lock(path: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock while the block runs; the file names the holder.

    Raises:
        TransientError: another process held it for `wait_seconds`.
    """
    lock = FileLock(path, wait_seconds, poll_interval=_POLL_SECONDS, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        holder = path.read_text("utf-8") or "another process"
        raise TransientError(
            f"{holder} is publishing to {path.parent}: try again when it has finished"
        ) from None
    try:
        path.write_text(f"process {os.getpid()} on {socket.gethostname()}", "utf-8")
        yield
    finally:
        lock.release()
