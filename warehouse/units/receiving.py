"""Units that workers on other machines have made, landed here as if they had been made here."""

import shutil
import tarfile
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from schemas.errors import ConfigurationError
from schemas.run import UnitReceipt
from schemas.tables import TABLE
from schemas.text.patterns import bounded
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.parquet import write_bytes
from warehouse.scrubbing import one_line
from warehouse.units import landing, shared
from warehouse.units.kind import Kind

_UNIT = bounded(r"landing(?:/[a-z]{1,40}=[A-Za-z0-9][A-Za-z0-9._-]{0,199}){1,4}\.tar")


class ReceivedUnits:
    """The units of one piece of work, as workers ask for them and bring them.

    Args:
        folder: that of the work in landing; of other work nothing is told or taken.
    """

    def __init__(self, layout: Layout, kind: Kind[Any, Any], folder: Path) -> None:
        self._layout, self._kind = layout, kind
        self._below = f"{folder.relative_to(layout.root).as_posix()}/"
        self._alone = f"{folder.relative_to(layout.root).as_posix()}.tar"
        self._lock = threading.Lock()

    def tag(self, name: str) -> str | None:
        """That of the receipt that is here, or where landing is shared; None: there is none."""
        target = self._target(name)
        with self._lock:
            if self._layout.objects is not None:
                landing.take(self._layout, target)
            return _tag_of(target)

    def get(self, name: str) -> tuple[bytes, str] | None:
        """The unit and its tag."""
        tag = self.tag(name)
        return None if tag is None else (shared.packed(self._target(name)), tag)

    def put(self, name: str, content: bytes, *, replaced: str | None) -> bool:
        """Land a unit in place of the one with this tag; False: another is here by now.

        Calls that are here and that the worker did not know land with it.

        Raises:
            ConfigurationError: it is no unit.
            PublicationError: its rows, or those that landed before, cannot be read.
        """
        target = self._target(name)
        try:
            files = shared.unpacked(content)
            receipt = self._kind.receipt.model_validate_json(files[shared.RECEIPT_FILE])
        except (tarfile.TarError, ValueError, KeyError) as error:
            raise ConfigurationError(f"{name} is no landed unit ({one_line(error)})") from error
        if self._kind.folder_of(self._layout, receipt) != target:
            raise ConfigurationError(f"{name} holds another unit")
        unit = target.relative_to(self._layout.landing).as_posix()
        with self._lock:
            there = None
            if self._layout.objects is not None:
                there = landing.take(self._layout, target)
            if _tag_of(target) != replaced:
                return False
            self._kind.announce(self._layout, receipt)
            target.parent.mkdir(parents=True, exist_ok=True)
            building = landing.topmost(self._layout, target) / f"{landing.BUILDING}{uuid4().hex}"
            building.mkdir()
            try:
                for file, held in files.items():
                    write_bytes(building / file, pa.py_buffer(held))
                self._add_earlier_calls(unit, receipt, building)
                if not shared.offer(self._layout, building, target, replaced=there):
                    return False
                landing.move_into_place(building, target)
                landing.empty_journal(self._layout, unit)
            finally:
                shutil.rmtree(building, ignore_errors=True)
            return True

    def _add_earlier_calls(self, unit: str, receipt: UnitReceipt, building: Path) -> None:
        """Add to the unit in `building` what landed before, or was journalled, of its calls."""
        journalled = landing.journalled_calls(self._layout, unit)
        files = {name: building / f"{name}.parquet" for name in self._kind.tables}
        rows = {name: read_rows(TABLE[name], file) for name, file in files.items() if file.exists()}
        whole = landing.with_earlier_calls(self._layout, self._kind, receipt, rows, journalled)
        if whole != rows:
            landing.write_unit(self._kind, receipt, whole, building)

    def _target(self, name: str) -> Path:
        """Raises ConfigurationError: the name is not that of a unit of this work."""
        known = name == self._alone or name.startswith(self._below)
        if not known or not _UNIT.fullmatch(name):
            raise ConfigurationError(f"{name[:200]!r} is no unit of this work")
        return self._layout.root / name.removesuffix(".tar")


def _tag_of(target: Path) -> str | None:
    try:
        return shared.receipt_tag((target / shared.RECEIPT_FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
