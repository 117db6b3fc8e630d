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
EVICTION_MARK = "rows-in-lake-only"
"""Mark in the folder of an evicted unit: its rows are only in the lake."""
UNITS_FILE = "units"
_SUFFIXES = (".parquet", ".json")
_NAMES = (EVICTION_MARK, UNITS_FILE)


def upload_unit(layout: Layout, building: Path, target: Path, replaced: str | None) -> bool:
    """Upload the unit in the folder `building` as `target`; False if it was replaced since.

    Args:
        replaced: tag of the unit that it replaces; None: there is none.
    """
    place = layout.objects
    if place is None:
        return True
    content = _pack_files(sorted(building.iterdir()))
    name = _name(layout, target)
    if place.put(name, content, replaced=replaced):
        return True
    # The reply to an earlier attempt may be lost.
    unit_object = place.get(name)
    return unit_object is not None and unit_object[0] == content


def download_unit(layout: Layout, target: Path) -> tuple[dict[str, bytes], str] | None:
    """Return the files and the tag of the unit with folder `target`; None: it is absent."""
    unit_object = _get(layout, _name(layout, target))
    if unit_object is None:
        return None
    files, tag = unit_object
    if not any(name.endswith(".json") for name in files):
        raise _invalid_object(layout, _name(layout, target), "it has no receipt")
    return files, tag


def upload_work(layout: Layout, folder: Path, files: Iterable[Path]) -> None:
    """Upload the list of a work's landed units, and `files`.

    The caller holds the publisher's lock.
    """
    place = layout.objects
    if place is None:
        return
    units = sorted(path.parent.name for path in folder.glob(f"*=*/{RECEIPT_FILE}"))
    names = "".join(f"{name}\n" for name in units).encode()
    place.write(_work_name(layout, folder), _pack_files(sorted(files), {UNITS_FILE: names}))


def download_work(layout: Layout, folder: Path) -> tuple[list[str], dict[str, bytes]] | None:
    """Return the unit folders and files of a published work; None if not uploaded."""
    work_object = _get(layout, _work_name(layout, folder))
    if work_object is None:
        return None
    files, _ = work_object
    units = files.pop(UNITS_FILE, b"").decode("utf-8", "replace").splitlines()
    for name in units:
        if "=" not in name or "/" in name:
            raise _invalid_object(layout, _work_name(layout, folder), f"it names {name[:100]!r}")
    return units, files


def remove_work(layout: Layout, folder: Path) -> None:
    """Delete all objects of a work: units that landed here, and published ones."""
    place = layout.objects
    if place is None:
        return
    work_object = download_work(layout, folder)
    local_units = (path.parent.name for path in folder.glob(f"*=*/{RECEIPT_FILE}"))
    for name in sorted({*local_units, *(work_object[0] if work_object is not None else ())}):
        place.remove(_name(layout, folder / name))
    for name in (_work_name(layout, folder), _name(layout, folder)):  # a work may be a single unit
        place.remove(name)


def add_run(layout: Layout, index: Path, run_id: RunId) -> None:
    _change_runs(layout, index, lambda runs: runs | {run_id})


def remove_run(layout: Layout, index: Path, run_id: RunId) -> None:
    _change_runs(layout, index, lambda runs: runs - {run_id})


def runs_of(layout: Layout, index: Path) -> frozenset[str]:
    """Return the runs that landed, or started to land, an evaluation."""
    index_file = None if layout.objects is None else layout.objects.get(_index_name(layout, index))
    return _run_ids(index_file)


def _run_ids(index_object: tuple[bytes, str] | None) -> frozenset[str]:
    return frozenset(
        index_object[0].decode("utf-8", "replace").splitlines() if index_object is not None else ()
    )


def _change_runs(
    layout: Layout, index: Path, change: Callable[[frozenset[str]], frozenset[str]]
) -> None:
    place = layout.objects
    if place is None:
        return
    name = _index_name(layout, index)
    while True:
        index_object = place.get(name)
        old_runs = _run_ids(index_object)
        new_runs = change(old_runs)
        content = "".join(f"{run_id}\n" for run_id in sorted(new_runs)).encode()
        if new_runs == old_runs or place.put(
            name, content, replaced=index_object and index_object[1]
        ):
            return


def _name(layout: Layout, target: Path) -> str:
    return f"landing/{target.relative_to(layout.landing).as_posix()}.tar"


def _work_name(layout: Layout, folder: Path) -> str:
    return _name(layout, folder / "work")


def _index_name(layout: Layout, index: Path) -> str:
    return index.relative_to(layout.root).as_posix()


def _get(layout: Layout, name: str) -> tuple[dict[str, bytes], str] | None:
    stored_object = None if layout.objects is None else layout.objects.get(name)
    if stored_object is None:
        return None
    content, tag = stored_object
    try:
        return _unpack_files(content), tag
    except tarfile.TarError as error:
        raise _invalid_object(layout, name, str(error)) from error


def _invalid_object(layout: Layout, name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"{layout.address}/{name} is not what lands there ({reason}): remove it"
    )


def _pack_files(files: Iterable[Path], contents: Mapping[str, bytes] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for file in files:
            archive.add(file, file.name, filter=_without_metadata)
        for name, content in (contents or {}).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _without_metadata(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove metadata that differs between machines."""
    member.uid = member.gid = member.mtime = 0
    member.mode = 0o600
    member.uname = member.gname = ""
    return member


def _unpack_files(content: bytes) -> dict[str, bytes]:
    """Return the files of a unit. Raises tarfile.TarError if invalid."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:  # no compression, no bomb
        for member in archive:
            is_expected = Path(member.name).suffix in _SUFFIXES or member.name in _NAMES
            # Links to members and sparse files unpack to more than their size.
            is_regular = member.isreg() and not member.issparse()
            file = archive.extractfile(member) if is_regular else None
            if file is None or not is_expected or "/" in member.name:
                raise tarfile.ReadError(f"it holds {member.name[:100]!r}")
            files[member.name] = file.read()
    return files
