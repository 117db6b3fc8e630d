"""Units in the bucket of a warehouse in object storage, where other machines find them by name.

A unit is one object, its receipt within, so that it is there whole or not at all. It is written on
the condition that nobody else has written it meanwhile. Nothing is looked for in a listing: what a
work consists of is an object too, and so is which runs landed an evaluation.

Every function raises UpstreamError where the storage cannot be reached, and ConfigurationError
where it refuses or what is there is not what is looked for. Of a warehouse in a folder there is
nothing to be done, and nothing to be found.
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
"""In the folder of a unit whose files were let go: its rows are in the lake alone."""
UNITS_FILE = "units"
_SUFFIXES = (".parquet", ".json")
_NAMES = (LET_GO, UNITS_FILE)


def offer(layout: Layout, building: Path, target: Path, replaced: str | None) -> bool:
    """Keep the unit in the folder `building`, which is to be `target`; False: somebody else has
    written it since. `replaced`: the tag of the one that it stands in for; None: there was none.
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
    """The files of the unit whose folder is `target`, and its tag; None: it is not there."""
    there = _get(layout, _name(layout, target))
    if there is None:
        return None
    files, tag = there
    if not any(name.endswith(".json") for name in files):
        raise _no_unit(layout, _name(layout, target), "it has no receipt")
    return files, tag


def keep_work(layout: Layout, folder: Path, files: Iterable[Path]) -> None:
    """Say of which units the work that landed in `folder` consists, and keep `files`, which lie
    beside them. The caller holds the publisher's lock.
    """
    place = layout.objects
    if place is None:
        return
    units = sorted(path.parent.name for path in folder.glob(f"*=*/{RECEIPT_FILE}"))
    listed = "".join(f"{name}\n" for name in units).encode()
    place.write(_work_name(layout, folder), _packed(sorted(files), {UNITS_FILE: listed}))


def found_work(layout: Layout, folder: Path) -> tuple[list[str], dict[str, bytes]] | None:
    """Names of the folders of the units of a work that was published, and the files beside them;
    None: of its publication nothing is known.
    """
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
    """Remove all that is kept of a work: of its units those that landed here, and those that its
    publication named.
    """
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
    """Let others know that `run_id` lands the evaluation whose index is `index`."""
    _change_runs(layout, index, lambda runs: runs | {run_id})


def forget_run(layout: Layout, index: Path, run_id: RunId) -> None:
    """Take back `note_run`."""
    _change_runs(layout, index, lambda runs: runs - {run_id})


def runs_of(layout: Layout, index: Path) -> frozenset[str]:
    """Runs that landed, or were about to land, the evaluation whose index is `index`."""
    there = None if layout.objects is None else layout.objects.get(_index_name(layout, index))
    return _run_ids(there)


def _run_ids(there: tuple[bytes, str] | None) -> frozenset[str]:
    """The runs that an index names."""
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
    """Without what differs between machines."""
    member.uid = member.gid = member.mtime = 0
    member.mode = 0o600
    member.uname = member.gname = ""
    return member


def _unpacked(content: bytes) -> dict[str, bytes]:
    """The files of a unit. Raises tarfile.TarError: it is none."""
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
