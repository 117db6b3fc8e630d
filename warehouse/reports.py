"""Folders of reports: built under another name, and shared if the warehouse is a bucket.

Functions on uploaded reports raise UpstreamError if the storage cannot be reached, and
ConfigurationError if it refuses. For a warehouse in a folder they do nothing.
"""

import fcntl
import mimetypes
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from warehouse.layout import Layout
from warehouse.objects.object_storage import AT_ONCE, ObjectFolder
from warehouse.parquet import BUILDING, read_bytes, replace_bytes
from warehouse.units.landing import LEFTOVERS

_NAMES_FILE = "files"


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


def share_reports(layout: Layout, paths: Iterable[Path], *, new: bool = True) -> None:
    """Upload report files in this order.

    Args:
        new: False: skip if the last file was uploaded already.
    """
    files = tuple(dict.fromkeys(paths))
    place = layout.objects
    if place is None or not files:
        return
    if not new and place.size(_name(layout, files[-1])) == files[-1].stat().st_size:
        return
    # Before the upload, so that all can be deleted.
    for folder in {layout.reports / path.relative_to(layout.reports).parts[0] for path in files}:
        here = {path.relative_to(folder).as_posix() for path in files if folder in path.parents}
        names = sorted(here | _names(place, layout, folder))
        lines = "".join(f"{name}\n" for name in names)
        place.write(f"{_name(layout, folder)}/{_NAMES_FILE}", lines.encode(), "text/plain")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda path: _send(place, layout, path), files[:-1]))
    _send(place, layout, files[-1])


def with_pages(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the other files in the folders of `paths`, then `paths`, which link to them."""
    paths = tuple(paths)
    for folder in dict.fromkeys(path.parent for path in paths):
        yield from sorted(
            each
            for each in folder.rglob("*")
            if each.is_file() and not each.is_symlink() and each not in paths
        )
    yield from paths


def bring_report(layout: Layout, path: Path) -> bool:
    """Return whether the report file exists here, after downloading it if necessary."""
    if path.exists():
        return True
    report_object = None if layout.objects is None else layout.objects.get(_name(layout, path))
    if report_object is None:
        return False
    replace_bytes(path, report_object[0])
    return True


def forget_reports(layout: Layout, folder: Path) -> None:
    """Delete the uploaded report files of `folder`, by their recorded names."""
    place = layout.objects
    if place is None:
        return
    for name in sorted(_names(place, layout, folder)):
        place.remove(f"{_name(layout, folder)}/{name}")
    place.remove(f"{_name(layout, folder)}/{_NAMES_FILE}")


def _names(place: ObjectFolder, layout: Layout, folder: Path) -> set[str]:
    names_object = place.get(f"{_name(layout, folder)}/{_NAMES_FILE}")
    return set() if names_object is None else set(names_object[0].decode().splitlines())


def _send(place: ObjectFolder, layout: Layout, path: Path) -> None:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    place.write(_name(layout, path), read_bytes(path), kind)


def _name(layout: Layout, path: Path) -> str:
    return path.relative_to(layout.root).as_posix()
