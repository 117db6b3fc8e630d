"""The folder of a snapshot: what in it is the snapshot's own, and that only one process builds in
it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from schemas.errors import SnapshotError
from schemas.patterns import bounded
from tasks.literature.snapshot.manifest import FILE_NAME as MANIFEST_NAME

LOCK_NAME = "build.lock"
STAGING_NAME = "staging"
_NUMBER = bounded(r"-(\d{1,18})(?:\.|$)")
_GENERATION_FILES = bounded(
    r"(?:papers(-\d{1,18})?\.sqlite(?:-wal|-shm|-journal|\.copy)?|text(-\d{1,18})?|embeddings(-\d{1,18})?\.(?:f16|json))"
)


@contextmanager
def only_builder(target: Path) -> Iterator[None]:
    """Hold the folder for building; another process waits.

    Raises:
        SnapshotError: `target` is a file, or holds files of something else.
    """
    if target.exists() and not target.is_dir():
        raise SnapshotError(f"{target} is a file; name a folder for the snapshot")
    foreign = (
        [path.name for path in target.iterdir() if not _own(path.name)] if target.is_dir() else []
    )
    if foreign:
        raise SnapshotError(
            f"{target} holds other files ({sorted(foreign)[0]}); name an empty folder for the"
            " snapshot"
        )
    target.mkdir(parents=True, exist_ok=True)
    with FileLock(target / LOCK_NAME, fallback_to_soft=False):
        yield


def clear(target: Path) -> None:
    """Remove what a build wrote, the manifest first: a half-removed snapshot is never taken for a
    whole one.
    """
    (target / MANIFEST_NAME).unlink(missing_ok=True)
    shutil.rmtree(target / STAGING_NAME, ignore_errors=True)
    remove_generations(target, keep=None)


def remove_generations(target: Path, keep: int | None) -> None:
    """Remove the files of every generation but `keep`.

    Readers that have them open keep them until they close.
    """
    for path in target.iterdir():
        found = _GENERATION_FILES.fullmatch(path.name)
        if found is None or (keep is not None and generation_of(path.name) == keep):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def generation_of(name: str) -> int:
    """`papers-3.sqlite` → 3, `text` → 0."""
    found = _NUMBER.search(name)
    return int(found.group(1)) if found else 0


def _own(name: str) -> bool:
    return (
        name in (LOCK_NAME, STAGING_NAME)
        or name.startswith(MANIFEST_NAME)
        or _GENERATION_FILES.fullmatch(name) is not None
    )
