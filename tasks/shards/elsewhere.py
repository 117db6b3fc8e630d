"""A shard on a machine that does not see the command's warehouse folder: it is worked on in a
folder of the worker's own, and the files that it names are brought there first.

Caches stay in that folder; what lands goes to the command, and what is shared is asked of it
(`warehouse/owner.py`).
"""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from schemas.base import Noun
from schemas.identifiers import content_hash
from tasks.shards.work import Shard
from warehouse.layout import Layout

NounT = TypeVar("NounT", bound=Noun)
_FILES_AS_TEXT = frozenset({"personas_file", "prior", "exemplars", "calibrator"})
"""Fields of profiles that name files."""
_KEPT_DAYS = 7.0
"""How long what was brought for a shard lies here unused."""


class FileThere(NamedTuple):
    """A file at the command's side; `inside` its folder, or the name of the file itself."""

    inside: str
    size: int
    changed_ns: int


class FileSender(Protocol):
    """The command, as far as it hands out files that shards name."""

    def listing(self, path: str) -> list[FileThere]:
        """Every file at `path`, which is one or a folder."""
        ...

    def download(self, path: str, inside: str, target: Path) -> None:
        """Write one of them to `target`."""
        ...


def brought(shard: Shard, sender: FileSender, layout: Layout) -> Shard:
    """The same shard in the folder of `layout`, with the files that it names there.

    Raises:
        ConfigurationError: a file is not there any more.
        CommandGoneError: the command is gone.
    """
    forget_old(layout)
    moved = {shard.warehouse: layout.root}
    for path in shard.files:
        moved[path] = _brought_file(path, sender, layout)
    return _moved(shard, moved)


def forget_old(layout: Layout) -> None:
    """Remove what was brought for earlier shards, and copies of units that landed elsewhere."""
    before = time.time() - _KEPT_DAYS * 86_400
    for place in (_inputs(layout), layout.landing):
        for folder in place.iterdir() if place.is_dir() else ():
            if folder.stat().st_mtime < before:
                shutil.rmtree(folder, ignore_errors=True)


def _brought_file(path: Path, sender: FileSender, layout: Layout) -> Path:
    """Where the file or folder `path` of the command lies here, under its own name."""
    files = sender.listing(str(path))
    parts = [str(path), *(str(part) for file in files for part in file)]
    place = _inputs(layout) / content_hash(*parts, length=32)
    target = place / path.name
    alone = len(files) == 1 and files[0].inside == ""
    for file in files:
        held = target if alone else target / file.inside
        if held.is_file() and held.stat().st_size == file.size:
            continue
        held.parent.mkdir(parents=True, exist_ok=True)
        sender.download(str(path), file.inside, held)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not files:
        target.mkdir(exist_ok=True)
    place.touch()
    return target


def _inputs(layout: Layout) -> Path:
    return layout.cache / "inputs"


def _moved(noun: NounT, paths: Mapping[Path, Path]) -> NounT:
    """`noun` with the paths that are keys replaced, in every noun within; other texts are data."""
    changes = {
        name: _replaced(name, getattr(noun, name), paths) for name in type(noun).model_fields
    }
    return noun.model_copy(update=changes)


def _replaced(name: str, value: Any, paths: Mapping[Path, Path]) -> Any:
    if isinstance(value, Noun):
        return _moved(value, paths)
    if isinstance(value, tuple):
        return tuple(_replaced(name, each, paths) for each in value)
    if isinstance(value, Path):
        return paths.get(value, value)
    if name in _FILES_AS_TEXT and isinstance(value, str):
        return str(paths.get(Path(value), value))
    return value
