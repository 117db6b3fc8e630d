"""Files by which the processes of a machine take turns.

Needs a local file system.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import fields
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, TypeVar

from filelock import AsyncFileLock, lock_descriptor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordT = TypeVar("RecordT", bound="DataclassInstance")
_POLL_SECONDS = 0.001
"""A record is held for some microseconds."""


@contextmanager
def shared_record(path: Path, layout: Struct, kind: type[RecordT]) -> Iterator[RecordT]:
    """The dataclass of numbers kept in the file at `path`, written back as the block leaves it.

    No other process reads or writes it meanwhile: the block must be short, since the others wait.
    A file that is missing or of another layout begins anew with `kind()`.
    """
    descriptor = _opened(path)
    try:
        lock_descriptor(descriptor, poll_interval=_POLL_SECONDS)
        stored = os.pread(descriptor, layout.size, 0)
        record = kind(*layout.unpack(stored)) if len(stored) == layout.size else kind()
        yield record
        values = [getattr(record, each.name) for each in fields(record)]
        os.pwrite(descriptor, layout.pack(*values), 0)
    finally:
        os.close(descriptor)


@asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """Hold the lock at `path` for the length of the block; a process that dies lets go of it."""
    async with AsyncFileLock(path, mode=0o600, run_in_executor=False, fallback_to_soft=False):
        yield


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
