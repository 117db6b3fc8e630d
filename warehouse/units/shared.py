"""What lands is kept in object storage too, where a place there is named: machines without a folder
in common find each other's units by their names.

A unit is one object, its receipt within, so that it is there whole or not at all. It is written on
the condition that nobody else has written it meanwhile.
"""

import functools
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.settings import Settings
from warehouse.layout import Layout
from warehouse.object_storage import ObjectFolder

_SUFFIXES = (".parquet", ".json")


@functools.cache
def shared_landing() -> ObjectFolder | None:
    """The place that the settings of this process name.

    Raises:
        ConfigurationError: it is no place in object storage.
    """
    address = Settings().shared_landing
    return None if address is None else ObjectFolder.of(address)


def offer(layout: Layout, building: Path, target: Path, replaced: str | None) -> bool:
    """Keep the unit in the folder `building`, which is to be `target`; False: somebody else has
    written it since.

    Args:
        replaced: the tag of the one that it stands in for; None: there was none.

    Raises:
        UpstreamError: the storage cannot be reached.
        ConfigurationError: it refuses.
    """
    place = shared_landing()
    if place is None:
        return True
    content = _packed(building)
    name = _name(layout, target)
    if place.put(name, content, replaced=replaced):
        return True
    there = place.get(name)
    return there is not None and there[0] == content  # the answer to an attempt before was lost


def found(layout: Layout, target: Path) -> tuple[dict[str, bytes], str] | None:
    """The files of the unit whose folder is `target`, and its tag; None: it is not there.

    Raises:
        UpstreamError: the storage cannot be reached.
        ConfigurationError: it refuses, or what is there is no unit.
    """
    place = shared_landing()
    there = None if place is None else place.get(_name(layout, target))
    if place is None or there is None:
        return None
    content, tag = there
    try:
        return _unpacked(content), tag
    except tarfile.TarError as error:
        name = f"{place.address}{_name(layout, target)}"
        raise ConfigurationError(f"{name} is no landed unit ({error}): remove it") from error


def forget(layout: Layout, targets: Iterable[Path]) -> None:
    """Remove the units with these folders from object storage. Raises as `found`."""
    place = shared_landing()
    if place is not None:
        for target in targets:
            place.remove(_name(layout, target))


def _name(layout: Layout, target: Path) -> str:
    return f"landing/{target.relative_to(layout.landing).as_posix()}.tar"


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, file.name, filter=_plain)
    return packed.getvalue()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what differs between machines."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def _unpacked(content: bytes) -> dict[str, bytes]:
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:  # nothing to inflate
        for member in archive:
            file = archive.extractfile(member)
            if file is None or Path(member.name).suffix not in _SUFFIXES or "/" in member.name:
                raise tarfile.ReadError(f"it holds {member.name[:100]!r}")
            files[member.name] = file.read()
    if not any(name.endswith(".json") for name in files):
        raise tarfile.ReadError("it has no receipt")
    return files
