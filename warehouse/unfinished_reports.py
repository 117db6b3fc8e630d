"""Folders in which reports are built, and those that killed commands left behind."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from warehouse.layout import Layout

_BUILDING, _REPLACED = ".building-", ".replaced-"


@contextmanager
def building_folder(layout: Layout) -> Iterator[Path]:
    """Yield the path of a folder for a report, which is removed unless it was moved into place.

    Removes those that killed commands left behind.
    """
    layout.reports.mkdir(parents=True, exist_ok=True)
    # Every command that builds a report shares the lock; a killed one lets go of it.
    with (layout.reports / ".building.lock").open("w") as lock:
        _remove(layout, lock.fileno())
        fcntl.flock(lock, fcntl.LOCK_SH)
        building = layout.reports / f"{_BUILDING}{uuid4().hex}"
        try:
            yield building
        finally:
            shutil.rmtree(building, ignore_errors=True)


def move_into_place(building: Path, target: Path) -> None:
    """Give a folder built by `building_folder` its name.

    A rename does not replace a folder with content, so an earlier report is moved aside first.
    """
    aside = building.with_name(f"{_REPLACED}{uuid4().hex}")
    if target.exists():
        target.rename(aside)
    building.rename(target)
    shutil.rmtree(aside, ignore_errors=True)


def remove_unfinished(layout: Layout) -> int:
    """Remove what killed commands left of reports, unless one is being built; how many folders."""
    if not layout.reports.is_dir():
        return 0
    with (layout.reports / ".building.lock").open("w") as lock:
        return _remove(layout, lock.fileno())


def _remove(layout: Layout, lock: int) -> int:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # a live command builds one of them
        return 0
    left = [
        path for path in layout.reports.iterdir() if path.name.startswith((_BUILDING, _REPLACED))
    ]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)
