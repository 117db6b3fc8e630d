"""Public data sets fetched from their own homes, at a pinned commit, and held by their digests."""

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
    """A set whose files are used as they are; `files`: path in a data folder → path at home."""

    name: str
    home: str = Field(description="Address below which the files lie; it names the commit.")
    licence: str
    suites: str
    files: dict[str, str]


class ElsewhereSet(Noun):
    """A set that its home holds in another form than the suites read."""

    name: str
    home: str
    files: str


class LockedFile(Noun):
    """State of a file when it was first fetched."""

    sha256: str
    byte_count: int = Field(ge=0)
    address: str


class DataLock(Noun):
    """By path in the data folder."""

    version: int = 1
    files: dict[str, LockedFile] = Field(default_factory=dict)


class Fetched(Noun):
    """Result of a fetch: paths in the data folder, by what happened."""

    locked: tuple[str, ...] = Field(description="Fetched for the first time, now in the lock.")
    held: tuple[str, ...] = Field(description="As the lock says, fetched now or before.")
    own: tuple[str, ...] = Field(description="There already without a lock: left as they are.")
    missing: tuple[str, ...] = Field(description="Could not be had, with the reason.")


def public_sets() -> tuple[PublicSet, ...]:
    return tuple(PublicSet.model_validate(entry, strict=False) for entry in _homes()["set"])


def sets_elsewhere() -> tuple[ElsewhereSet, ...]:
    return tuple(ElsewhereSet.model_validate(entry) for entry in _homes()["elsewhere"])


def _homes() -> dict[str, list[dict[str, object]]]:
    file = resources.files("tasks.benchmarks").joinpath("homes.toml")
    return tomllib.loads(file.read_text("utf-8"))


async def fetch_sets(
    sets: Sequence[PublicSet],
    folder: Path,
    settings: DocumentSettings,
    say: Callable[[str], None],
    *,
    allow_private_addresses: bool = False,
) -> Fetched:
    """Fetch every file that `folder` lacks, and hold all of them against the lock.

    The first fetch of a file writes its digest into the lock; a later one must bring the same. What
    could not be had is in `missing` and keeps nothing else back.

    Args:
        say: takes one line as each file is dealt with.
        allow_private_addresses: exists for tests.

    Raises:
        ConfigurationError: a file there is not what the lock says, or its home has changed.
    """
    lock = read_lock(folder)
    downloader = Downloader(
        settings.model_copy(update={"download_timeout_seconds": TIMEOUT_SECONDS}),
        Ledger(IdeaId("benchmark-data")),
        allow_private_addresses=allow_private_addresses,
        file_kind=DATA_FILE,
    )
    found: dict[str, list[str]] = {name: [] for name in Fetched.model_fields}
    for one in sets:
        for name, path in one.files.items():
            kind, lock, told = await _fetch(f"{one.home}/{path}", folder, name, lock, downloader)
            found[kind].append(told)
            say(f"{one.name}: {told}: {_WORDS[kind]}")
    return Fetched(**{kind: tuple(names) for kind, names in found.items()})


_WORDS = {
    "locked": "fetched, digest written to the lock",
    "held": "as the lock says",
    "own": "there already and in no lock, left as it is",
    "missing": "could not be had",
}


async def _fetch(
    address: str, folder: Path, name: str, lock: DataLock, downloader: Downloader
) -> tuple[str, DataLock, str]:
    path, known = folder / name, lock.files.get(name)
    if path.is_file():
        if known is None:
            return "own", lock, name
        if _sha256(path.read_bytes()) != known.sha256:
            raise ConfigurationError(
                f"{path} is not what {LOCK_FILE} says: remove it to fetch it anew, or take it out"
                " of the lock to use it as it is"
            )
        return "held", lock, name
    content = await downloader.fetch(address)
    if isinstance(content, SourceFailure):
        return "missing", lock, f"{name} ({content.reason}: {content.detail})"
    fetched = LockedFile(sha256=_sha256(content), byte_count=len(content), address=address)
    if known is not None and known.sha256 != fetched.sha256:
        raise ConfigurationError(
            f"{address} now holds something else than {LOCK_FILE} says of {name}: nothing written"
        )
    _write(path, content)
    if known is not None:
        return "held", lock, name
    lock = replace(lock, files={**lock.files, name: fetched})
    _write(folder / LOCK_FILE, lock.model_dump_json(indent=2).encode() + b"\n")
    return "locked", lock, name


def read_lock(folder: Path) -> DataLock:
    """The lock of a data folder; an empty one where there is none.

    Raises:
        ConfigurationError: the file is no lock.
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
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)
