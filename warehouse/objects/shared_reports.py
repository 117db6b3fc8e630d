"""Reports of a warehouse in object storage, uploaded from the working folder.

Every function raises UpstreamError if the storage cannot be reached, and ConfigurationError if it
refuses. For a warehouse in a folder they do nothing.
"""

import mimetypes
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from warehouse.layout import Layout
from warehouse.objects.object_storage import AT_ONCE, ObjectFolder
from warehouse.parquet import read_bytes, replace_bytes

_NAMES_FILE = "files"


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
