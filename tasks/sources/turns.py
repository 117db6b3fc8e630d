"""One request at a time over all processes of a machine, where an API's terms ask for it."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_POLL_SECONDS = 0.05


@asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """Hold the lock at `path` for the length of the block; a process that dies lets go of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _locked(descriptor):  # noqa: ASYNC110 -- what is waited for may happen in another process
            await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
