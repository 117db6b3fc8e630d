"""Files by which the processes of a machine take turns. Needs a local file system and a POSIX system (`flock`)."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

_POLL_SECONDS = 0.05


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """A descriptor of the file at `path`, which no other process holds meanwhile: for a moment, since it blocks."""
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


@asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """Hold the lock at `path` for the length of the block; a process that dies lets go of it."""
    descriptor = _opened(path)
    try:
        while not try_lock(descriptor):  # noqa: ASYNC110 -- what is waited for may happen in another process
            await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file against every other process, unless one has."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Let go of it."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
