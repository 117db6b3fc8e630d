"""Units in the bucket of a warehouse in object storage.

A unit is one object with its receipt, so it is whole or absent. It is written on the condition that
nobody else has written it. Nothing depends on listings: the units of a work, and the runs that
landed an evaluation, are objects too.

Every function raises UpstreamError if the storage cannot be reached, and ConfigurationError if it
refuses or an object is invalid. For a warehouse in a folder they do nothing and find nothing.
"""

import io
import tarfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.layout import Layout

RECEIPT_FILE = "receipt.json"
LET_GO = "rows-in-lake-only"
"""Mark in the folder of an evicted unit: its rows are only in the lake."""
UNITS_FILE = "units"
_SUFFIXES = (".parquet", ".json")
_NAMES = (LET_GO, UNITS_FILE)


def offer(layout: Layout, building: Path, target: Path, replaced: str | None) -> bool:
    """Upload the unit in the folder `building` as `target`; False if it was replaced since.

    Args:
        replaced: tag of the unit that it replaces; None: there is none.
    """
    place = layout.objects
    if place is None:
        return True
    content = _packed(sorted(building.iterdir()))
    name = _name(layout, target)
    if place.put(name, content, replaced=replaced):
        return True
    there = place.get(name)
    return there is not None and there[0] == content  # the answer to an attempt before was lost


def found(layout: Layout, target: Path) -> tuple[dict[str, bytes], str] | None:
    """Return the files and the tag of the unit with folder `target`; None: it is absent."""
    there = _get(layout, _name(layout, target))
    if there is None:
        return None
    files, tag = there
    if not any(name.endswith(".json") for name in files):
        raise _no_unit(layout, _name(layout, target), "it has no receipt")
    return files, tag


def keep_work(layout: Layout, folder: Path, files: Iterable[Path]) -> None:
    """Upload the list of a work's landed units, and `files`.

    The caller holds the publisher's lock.
    """
    place = layout.objects
    if place is None:
        return
    units = sorted(path.parent.name for path in folder.glob(f"*=*/{RECEIPT_FILE}"))
    listed = "".join(f"{name}\n" for name in units).encode()
    place.write(_work_name(layout, folder), _packed(sorted(files), {UNITS_FILE: listed}))


def found_work(layout: Layout, folder: Path) -> tuple[list[str], dict[str, bytes]] | None:
    """Return the unit folders and files of a published work; None if not uploaded."""
    there = _get(layout, _work_name(layout, folder))
    if there is None:
        return None
    files, _ = there
    units = files.pop(UNITS_FILE, b"").decode("utf-8", "replace").splitlines()
    for name in units:
        if "=" not in name or "/" in name:
            raise _no_unit(layout, _work_name(layout, folder), f"it names {name[:100]!r}")
    return units, files


def forget_work(layout: Layout, folder: Path) -> None:
    """Delete all objects of a work: units that landed here, and published ones."""
    place = layout.objects
    if place is None:
        return
    publication = found_work(layout, folder)
    here = (path.parent.name for path in folder.glob(f"*=*/{RECEIPT_FILE}"))
    for name in sorted({*here, *(publication[0] if publication is not None else ())}):
        place.remove(_name(layout, folder / name))
    for name in (_work_name(layout, folder), _name(layout, folder)):  # the work may be one unit
        place.remove(name)


def note_run(layout: Layout, index: Path, run_id: RunId) -> None:
    """Add `run_id` to the runs that land an evaluation."""
    _change_runs(layout, index, lambda runs: runs | {run_id})


def forget_run(layout: Layout, index: Path, run_id: RunId) -> None:
    """Remove `run_id` from the runs of an evaluation."""
    _change_runs(layout, index, lambda runs: runs - {run_id})


def runs_of(layout: Layout, index: Path) -> frozenset[str]:
    """Return the runs that landed, or started to land, an evaluation."""
    there = None if layout.objects is None else layout.objects.get(_index_name(layout, index))
    return _run_ids(there)


def _run_ids(there: tuple[bytes, str] | None) -> frozenset[str]:
    """Return the runs in an index."""
    return frozenset(there[0].decode("utf-8", "replace").splitlines() if there is not None else ())


def _change_runs(
    layout: Layout, index: Path, changed: Callable[[frozenset[str]], frozenset[str]]
) -> None:
    place = layout.objects
    if place is None:
        return
    name = _index_name(layout, index)
    while True:
        there = place.get(name)
        before = _run_ids(there)
        after = changed(before)
        content = "".join(f"{run_id}\n" for run_id in sorted(after)).encode()
        if after == before or place.put(name, content, replaced=there and there[1]):
            return


def _name(layout: Layout, target: Path) -> str:
    return f"landing/{target.relative_to(layout.landing).as_posix()}.tar"


def _work_name(layout: Layout, folder: Path) -> str:
    return _name(layout, folder / "work")


def _index_name(layout: Layout, index: Path) -> str:
    return index.relative_to(layout.root).as_posix()


def _get(layout: Layout, name: str) -> tuple[dict[str, bytes], str] | None:
    there = None if layout.objects is None else layout.objects.get(name)
    if there is None:
        return None
    content, tag = there
    try:
        return _unpacked(content), tag
    except tarfile.TarError as error:
        raise _no_unit(layout, name, str(error)) from error


def _no_unit(layout: Layout, name: str, why: str) -> ConfigurationError:
    return ConfigurationError(f"{layout.address}/{name} is not what lands there ({why}): remove it")


def _packed(files: Iterable[Path], more: Mapping[str, bytes] | None = None) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in files:
            archive.add(file, file.name, filter=_plain)
        for name, content in (more or {}).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove metadata that differs between machines."""
    member.uid = member.gid = member.mtime = 0
    member.mode = 0o600
    member.uname = member.gname = ""
    return member


def _unpacked(content: bytes) -> dict[str, bytes]:
    """Return the files of a unit. Raises tarfile.TarError if invalid."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:  # nothing to inflate
        for member in archive:
            fit = Path(member.name).suffix in _SUFFIXES or member.name in _NAMES
            # A link to another member and a file with holes unpack to more than there is.
            plain = member.isreg() and not member.issparse()
            file = archive.extractfile(member) if plain else None
            if file is None or not fit or "/" in member.name:
                raise tarfile.ReadError(f"it holds {member.name[:100]!r}")
            files[member.name] = file.read()
    return files
