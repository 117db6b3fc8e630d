"""The folder of a snapshot: its manifest, its files and its build lock.

The manifest marks a snapshot as finished; it is written last and atomically.
"""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import SnapshotError
from schemas.text.patterns import bounded
from schemas.text.plain_files import PlainFileError, check_kind, read_file

MANIFEST_NAME = "manifest.json"
FORMAT_VERSION = 5
STORE_NAME = "papers.sqlite"
TEXT_NAME = "text"
VECTORS_NAME = "embeddings.f16"
AUDIT_NAME = "audit.jsonl"
STAGING_NAME = "staging"
_LOCK_NAME = "build.lock"
_MOST_MANIFEST_BYTES = 100_000_000
_MOST_DIMENSIONS = 16_384
"""Limit of the dimensions of a vector, many times the usual number.

Without it, a row could be larger than the memory.

Without a limit, a row could be larger than the memory.
"""
_NUMBER = bounded(r"-(\d{1,18})(?:\.|$)")
_GENERATION_FILES = bounded(
    r"(?:papers(-\d{1,18})?\.sqlite(?:-wal|-shm|-journal|\.copy)?|text(-\d{1,18})?"
    r"|embeddings(-\d{1,18})?\.(?:f16|json))"
)


class Manifest(BaseModel):
    """Description of a finished snapshot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int
    fingerprint: str = Field(
        min_length=12,
        description="SHA-256 over the papers by identifier, the same on every machine.",
    )
    source: str = Field(description="Name of the file the snapshot was built from.")
    source_identity: str = Field(description="Changes when that file does.")
    paper_count: int = Field(ge=1)
    duplicate_count: int = Field(
        ge=0, description="Rows left out because their paper was there already."
    )
    untitled_count: int = Field(ge=0, description="Rows left out because they have no title.")
    unreadable: dict[str, int] = Field(
        default_factory=dict,
        description="How many rows hold a field, by name, that could not be read.",
    )
    citation_count: int = Field(ge=0, description="References between papers of the snapshot.")
    has_references: bool
    has_contexts: bool = Field(
        description="Whether it knows how papers cite each other; else contexts are unknown."
    )
    embedding_dimensions: int | None = Field(
        default=None, ge=1, le=_MOST_DIMENSIONS, description="None: without embeddings."
    )
    identified: bool = Field(
        default=False,
        description="The source's own identifiers alone say which papers are the same.",
    )
    through: str | None = Field(
        default=None, description="Last release or day of the source that is in it."
    )
    updates: tuple[str, ...] = Field(
        default=(), description="Identities of the changes applied since it was built."
    )
    rules: str = Field(description="`LITERATURE_RULES` of its build.")
    generation: int = Field(
        default=0,
        ge=0,
        description="Names the files below; an update writes new ones beside the old.",
    )

    @property
    def store_name(self) -> str:
        return self._file_name(STORE_NAME)

    @property
    def text_name(self) -> str:
        return self._file_name(TEXT_NAME)

    @property
    def vectors_name(self) -> str:
        return self._file_name(VECTORS_NAME)

    def _file_name(self, name: str) -> str:
        """Return `papers.sqlite` as `papers-3.sqlite`.

        The files of the first build have no number.
        """
        stem, dot, suffix = name.partition(".")
        return f"{stem}-{self.generation}{dot}{suffix}" if self.generation else name


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest.

    Raises SnapshotError if `folder` has no snapshot of this version.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        problem = f"{folder} is an empty folder, not a snapshot"
        problem = problem if folder.is_dir() else f"no snapshot at {folder}"
        raise SnapshotError(f"{problem}; build one with: assay literature build PAPERS {folder}")
    _refuse_links(folder)
    try:
        content = read_file(folder.resolve() / MANIFEST_NAME, _MOST_MANIFEST_BYTES)
        manifest = Manifest.model_validate_json(content)
    except PlainFileError as error:
        raise SnapshotError(str(error)) from error
    except FileNotFoundError as error:
        raise SnapshotError(
            f"{folder} holds no finished snapshot; run its build again, it resumes where it stopped"
        ) from error
    except (OSError, ValidationError) as error:
        raise SnapshotError(
            f"{folder / MANIFEST_NAME} cannot be read; build the snapshot again"
        ) from error
    if manifest.format_version != FORMAT_VERSION:
        raise SnapshotError(
            f"{folder} has format {manifest.format_version}, this version reads {FORMAT_VERSION};"
            " build it again"
        )
    return manifest


def snapshot_identity(fingerprint: str) -> str:
    """Return the name of a snapshot in evaluation keys."""
    return f"snapshot:{fingerprint[:12]}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write under a temporary name, flush to disk, rename."""
    temporary = folder / f"{MANIFEST_NAME}.new"
    with temporary.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(manifest.model_dump(), indent=1))
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(folder / MANIFEST_NAME)


@contextmanager
def only_builder(target: Path) -> Iterator[None]:
    """Lock the folder for building; another process waits.

    Raises:
        SnapshotError: `target` is a file, or holds a link or files of something else.
    """
    if target.exists() and not target.is_dir():
        raise SnapshotError(f"{target} is a file; name a folder for the snapshot")
    paths = target.iterdir() if target.is_dir() else ()
    if foreign := sorted(path.name for path in paths if not _is_own(path)):
        raise SnapshotError(
            f"{target} holds other files ({foreign[0]}); name an empty folder for the snapshot"
        )
    target.mkdir(parents=True, exist_ok=True)
    _refuse_links(target)  # before the lock is created, which could follow a link
    with FileLock(target / _LOCK_NAME, fallback_to_soft=False):
        yield


def _refuse_links(folder: Path) -> None:
    """Raise SnapshotError for links, pipes and files of other users, at any depth."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            try:
                status = path.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    check_kind(path, status, Path(place).stat().st_uid)
            except FileNotFoundError:  # another process builds here
                continue
            except PlainFileError as error:
                raise SnapshotError(str(error)) from error


def clear(target: Path) -> None:
    """Remove the files of a build."""
    # The manifest goes first, so that a partly removed snapshot never counts as finished.
    (target / MANIFEST_NAME).unlink(missing_ok=True)
    shutil.rmtree(target / STAGING_NAME, ignore_errors=True)
    remove_generations(target, keep=None)


def remove_generations(target: Path, keep: int | None) -> None:
    """Remove the files of every generation but `keep`.

    Open readers keep their files until they close them.
    """
    for path in target.iterdir():
        if _GENERATION_FILES.fullmatch(path.name) is None:
            continue
        number = _NUMBER.search(path.name)  # `papers-3.sqlite` is of the third, `text` of the first
        if keep is not None and (int(number.group(1)) if number else 0) == keep:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_own(path: Path) -> bool:
    name = path.name
    generation = _GENERATION_FILES.fullmatch(name)
    if name == STAGING_NAME or (generation is not None and name.startswith(TEXT_NAME)):
        return not path.is_file()  # it may be gone by now: another process builds here
    is_build_file = name == _LOCK_NAME or name.startswith((MANIFEST_NAME, AUDIT_NAME))
    return (is_build_file or generation is not None) and not path.is_dir()
