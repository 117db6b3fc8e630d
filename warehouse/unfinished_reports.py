"""Folders of reports being built, and removal of those that killed commands left."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from warehouse.layout import Layout
from warehouse.parquet import BUILDING
from warehouse.units.landing import LEFTOVERS


@contextmanager
def building_folder(layout: Layout) -> Iterator[Path]:
    """Yield a path for building a report; it is removed unless moved into place.

    Folders of killed commands are removed first.
    """
    layout.reports.mkdir(parents=True, exist_ok=True)
    with _lock(layout) as lock:
        _remove(layout, lock)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_SH)
        building = layout.reports / f"{BUILDING}{uuid4().hex}"
        try:
            yield building
        finally:
            shutil.rmtree(building, ignore_errors=True)


def remove_unfinished(layout: Layout) -> int:
    """Remove unfinished reports unless one is being built; return their number."""
    if not layout.reports.is_dir():
        return 0
    with _lock(layout) as lock:
        return _remove(layout, lock)


@contextmanager
def _lock(layout: Layout) -> Iterator[int]:
    """Yield a handle of the reports folder, on which builders hold a shared lock."""
    lock = os.open(layout.reports, os.O_RDONLY)
    try:
        yield lock
    finally:
        os.close(lock)


def _remove(layout: Layout, lock: int) -> int:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # a running command holds the lock
        return 0
    leftovers = [path for path in layout.reports.iterdir() if path.name.startswith(LEFTOVERS)]
    for path in leftovers:
        shutil.rmtree(path, ignore_errors=True)
    return len(leftovers)
