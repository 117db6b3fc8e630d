"""Downloads of public data sets, verified by a lock file.

Commits are pinned, and the lock file holds digests.
"""

import hashlib
import tomllib
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from schemas.base import Noun, replace
from schemas.errors import ConfigurationError
from schemas.failure import SourceFailure
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.download import MEDIA, Downloader, FileKind

LOCK_FILE = "assay-data.lock.json"
TIMEOUT_SECONDS = 600.0
DATA_FILE = FileKind(
    name="data file",
    accept="*/*",
    refused_types=("text/html", *MEDIA),
    wrong=Reason.MALFORMED_ANSWER,
    maximum_bytes=500_000_000,
)


class PublicSet(Noun):
    """Downloadable data set.

    `files` maps paths in the data folder to remote paths.
    """

    name: str
    home: str = Field(description="Base address of the files, at a pinned commit.")
    licence: str
    suites: str
    files: dict[str, str]


class ManualSet(Noun):
    """Data set that must be converted by hand before use."""

    name: str
    home: str
    files: str


class LockedFile(Noun):
    """Digest and origin of a file at its first download."""

    sha256: str
    byte_count: int = Field(ge=0)
    address: str


class DataLock(Noun):
    """Lock of a data folder: locked files by path."""

    version: int = 1
    files: dict[str, LockedFile] = Field(default_factory=dict)


class FetchResult(Noun):
    """Paths in the data folder, by the result of the download."""

    locked: tuple[str, ...] = Field(description="Fetched for the first time, now in the lock.")
    held: tuple[str, ...] = Field(description="Identical to the lock, fetched now or before.")
    unlocked: tuple[str, ...] = Field(description="Existing files without a lock, left as is.")
    missing: tuple[str, ...] = Field(description="Download failed, with the reason.")


def public_sets() -> tuple[PublicSet, ...]:
    return tuple(PublicSet.model_validate(entry, strict=False) for entry in _listed_sets()["set"])


def manual_sets() -> tuple[ManualSet, ...]:
    return tuple(ManualSet.model_validate(entry) for entry in _listed_sets()["elsewhere"])


def _listed_sets() -> dict[str, list[dict[str, object]]]:
    file = resources.files("tasks.benchmarks").joinpath("public_data.toml")
    return tomllib.loads(file.read_text("utf-8"))


async def fetch_sets(
    sets: Sequence[PublicSet],
    folder: Path,
    settings: DocumentSettings,
    report: Callable[[str], None],
    *,
    allow_private_addresses: bool = False,
) -> FetchResult:
    """Download the missing files, and verify all files against the lock.

    The first download of a file adds its digest to the lock; later downloads must match it. A
    failed download does not stop the others.

    Args:
        report: receives one line per file.
        allow_private_addresses: for tests.

    Raises:
        ConfigurationError: a local or remote file differs from the lock.
    """
    lock = read_lock(folder)
    downloader = Downloader(
        settings.model_copy(update={"timeout_seconds": TIMEOUT_SECONDS}),
        Ledger(IdeaId("benchmark-data")),
        allow_private_addresses=allow_private_addresses,
        file_kind=DATA_FILE,
    )
    results: dict[str, list[str]] = {name: [] for name in FetchResult.model_fields}
    for one in sets:
        for name, path in one.files.items():
            kind, lock, line = await _fetch(f"{one.home}/{path}", folder, name, lock, downloader)
            results[kind].append(line)
            report(f"{one.name}: {line}: {_WORDS[kind]}")
    return FetchResult(**{kind: tuple(names) for kind, names in results.items()})


_WORDS = {
    "locked": "fetched, digest written to the lock",
    "held": "matches the lock",
    "unlocked": "exists without a lock, left as is",
    "missing": "download failed",
}


async def _fetch(
    address: str, folder: Path, name: str, lock: DataLock, downloader: Downloader
) -> tuple[str, DataLock, str]:
    path, entry = folder / name, lock.files.get(name)
    if path.is_file():
        if entry is None:
            return "unlocked", lock, name
        if _sha256(path.read_bytes()) != entry.sha256:
            raise ConfigurationError(
                f"{path} differs from its digest in {LOCK_FILE}: remove it to fetch it again, or"
                " remove its entry from the lock to use it as it is"
            )
        return "held", lock, name
    content = await downloader.fetch(address)
    if isinstance(content, SourceFailure):
        return "missing", lock, f"{name} ({content.reason}: {content.detail})"
    fetched_file = LockedFile(sha256=_sha256(content), byte_count=len(content), address=address)
    if entry is not None and entry.sha256 != fetched_file.sha256:
        raise ConfigurationError(
            f"{address} differs from the digest of {name} in {LOCK_FILE}: nothing was written"
        )
    _write(path, content)
    if entry is not None:
        return "held", lock, name
    lock = replace(lock, files={**lock.files, name: fetched_file})
    _write(folder / LOCK_FILE, lock.model_dump_json(indent=2).encode() + b"\n")
    return "locked", lock, name


def read_lock(folder: Path) -> DataLock:
    """Return the lock of a data folder; empty if there is none.

    Raises:
        ConfigurationError: the lock file is invalid.
    """
    path = folder / LOCK_FILE
    if not path.is_file():
        return DataLock()
    try:
        return DataLock.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ConfigurationError(f"{path} is no lock of data files: remove it") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished_path = path.with_name(f".{path.name}.unfinished")
    unfinished_path.write_bytes(content)
    unfinished_path.replace(path)
