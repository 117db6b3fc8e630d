"""Paths of a warehouse."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import EvaluationKey, RunId, content_hash
from schemas.place import address_of, warehouse_folder
from schemas.text.patterns import bounded
from warehouse.objects.object_storage import ObjectFolder

_NAME = bounded(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_PLAIN_NAME = bounded(r"[a-z0-9][a-z0-9_-]{0,79}")
_HASHED_NAME = bounded(r"-[0-9a-f]{16}\Z")
_UNFIT_FOR_A_NAME = bounded(r"[^a-z0-9]+")
_DEVICE_NAME = bounded(r"con|prn|aux|nul|com\d|lpt\d")


def safe_name(kind: str, name: str) -> str:
    """Return `name` if it can name a folder, else raise ConfigurationError."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{kind} {name!r} cannot name a folder: use letters, digits, dot, dash and underscore"
        )
    return name


def file_name(name: str, word: str = "idea") -> str:
    """Return a file name for any name: unique, and safe on every file system.

    Short lower-case names stay; others become their readable part with a hash. No suffix.

    Args:
        word: replaces a name without readable characters.
    """
    if (
        _PLAIN_NAME.fullmatch(name)
        and not _HASHED_NAME.search(name)
        and not _DEVICE_NAME.fullmatch(name)
    ):
        return name
    readable_part = _UNFIT_FOR_A_NAME.sub("-", name.lower()).strip("-")[:60].rstrip("-") or word
    return f"{readable_part}-{content_hash(name, length=16)}"


class _Place:
    """A path below the root of a layout."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, layout: "Layout", _: type) -> Path:
        return layout.root.joinpath(*self._parts)


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one warehouse; creates nothing.

        landing/<work>/<unit>/<table>.parquet     written by workers; see `warehouse/kinds/registry.py`
        landing/receipts/<kk>/<key>/<run>         runs that landed an evaluation
        lake/catalog.sqlite, lake/data/           published data
        state/, cache/, reports/, logs/           state of runs, replies, reports, run logs

    For a warehouse in object storage this is the working folder of one machine, and `objects` is
    the shared bucket:

        landing/<work>/<unit>.tar                 a unit, whole or absent
        landing/receipts/<kk>/<key>               runs that landed an evaluation, one per line
        lake/                                     data files; the catalogue is in PostgreSQL
        reports/                                  as in the folder
    """

    root: Path
    landing = _Place("landing")
    # Index of the runs that landed each evaluation.
    receipts = _Place("landing", "receipts")
    state = _Place("state")
    budgets = _Place("state", "budgets.sqlite")
    cache = _Place("cache")
    reports = _Place("reports")
    lake = _Place("lake")
    data = _Place("lake", "data")
    publisher_lock = _Place("lake", "publisher.lock")
    catalogue = _Place("lake", "catalog.sqlite")
    # The former catalogue after a move to PostgreSQL.
    moved_catalogue = _Place("lake", "catalog.moved.sqlite")

    @classmethod
    def of(cls, address: str) -> Self:
        """Return the layout of `s3://bucket/prefix` or of a folder.

        Raises:
            ConfigurationError: the address is invalid.
        """
        return cls(warehouse_folder(address))

    @property
    def objects(self) -> ObjectFolder | None:
        """Object folder of the warehouse; None if it is in a folder.

        Raises:
            ConfigurationError: the folder's name is no address.
        """
        address = address_of(self.root)
        return None if address is None else ObjectFolder.of(address)

    @property
    def address(self) -> str:
        """Value of `--warehouse`."""
        return address_of(self.root) or str(self.root)

    def existing(self) -> Self:
        """Return this layout if its folder exists: a mistyped folder would seem empty.

        Raises:
            UnknownNameError: there is no such folder.
        """
        if self.objects is None and not self.root.is_dir():
            raise UnknownNameError(
                f"there is no folder {self.root}: name that of the warehouse with --warehouse"
            )
        return self

    def log(self, run_id: RunId) -> Path:
        return self.root / "logs" / f"{safe_name('run', run_id)}.jsonl"

    def building_places(self) -> tuple[Path, ...]:
        """Return the folders in which units are built before they are renamed.

        Killed processes leave unfinished folders there.
        """
        if not self.landing.is_dir():
            return ()
        return (self.landing, *sorted(self.landing.glob("*=*")))

    def planned_run(self, run_id: RunId) -> Path:
        return self.work(run_id) / "planned.json"

    def batches(self, run_id: RunId, ranking_id: str | None = None) -> Path:
        """Return the database of the batches of a run or ranking."""
        return self.work(run_id, ranking_id) / "batches.sqlite"

    def waiting(self, run_id: RunId, ranking_id: str | None = None) -> Path:
        """Return the folder of units of a run or ranking that wait for batches."""
        return self.work(run_id, ranking_id) / "waiting"

    def work(self, run_id: RunId, ranking_id: str | None = None) -> Path:
        if ranking_id is None:
            return self.state / "runs" / safe_name("run", run_id)
        names = safe_name("run", run_id), safe_name("ranking", ranking_id)
        return self.state.joinpath("rankings", *names)

    def receipt_index(self, key: EvaluationKey) -> Path:
        """Return the folder with one empty file per run that landed `key`."""
        return self.receipts / key[:2] / safe_name("evaluation key", key)
