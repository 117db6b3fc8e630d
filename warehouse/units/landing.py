"""Landing: one folder per unit, whole or absent. Workers need no database for it.

A folder is built under a temporary name, `receipt.json` last, and renamed. In a warehouse in object
storage (`warehouse/units/bucket.py`) the unit is uploaded before that.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import orjson
import pyarrow as pa
from pydantic import ValidationError

from schemas.base import Noun, replace
from schemas.calls import LlmCall
from schemas.columns import Table
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.run import Budget
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.objects.object_storage import AT_ONCE
from warehouse.parquet import (
    BUILDING,
    read_bytes,
    read_rows,
    replace_bytes,
    write_bytes,
    write_rows,
)
from warehouse.rows import Row, Rows, row_of
from warehouse.stores.budget_file import BudgetFile
from warehouse.units import bucket
from warehouse.units.bucket import RECEIPT_FILE
from warehouse.units.kind import HeadT, Kind, ReceiptT

NounT = TypeVar("NounT", bound=Noun)
CALL_TABLES = ("llm_calls", "api_calls")
_REPLACED_PREFIX = ".replaced-"
LEFTOVERS = (BUILDING, _REPLACED_PREFIX)
"""Prefixes of names that only killed processes leave behind."""


def land(layout: Layout, kind: Kind[Any, ReceiptT], rows: Rows, receipt: ReceiptT) -> ReceiptT:
    """Write a unit's tables and receipt atomically.

    Landing a unit again replaces it, but keeps its paid calls, including journalled calls of
    earlier starts.

    Args:
        receipt: names the unit and its outcome; numbers are filled in.

    Raises:
        PublicationError: a row does not fit its table.
        ConfigurationError: landed files cannot be read, or object storage refuses.
        UpstreamError: object storage cannot be reached.
    """
    target = kind.folder_of(layout, receipt)
    target.parent.mkdir(parents=True, exist_ok=True)
    unit = target.relative_to(layout.landing).as_posix()
    tag = fetch_unit(layout, target)
    journal_calls = journalled_calls(layout, unit)
    while True:
        all_rows = with_earlier_calls(layout, kind, receipt, rows, journal_calls)
        building = topmost(layout, target) / f"{BUILDING}{uuid4().hex}"
        building.mkdir()
        try:
            complete = write_unit(kind, receipt, all_rows, building)
            if bucket.upload_unit(layout, building, target, replaced=tag):
                move_into_place(building, target)
                empty_journal(layout, unit)
                return complete
        finally:
            shutil.rmtree(building, ignore_errors=True)
        tag = fetch_unit(layout, target)  # another worker landed it first


def journalled_calls(layout: Layout, unit: str) -> list[LlmCall]:
    """Return the calls of a unit that have not landed, also those without a reply."""
    with _journal(layout) as journal:
        return journal.journalled_calls(unit)


def empty_journal(layout: Layout, unit: str) -> None:
    with _journal(layout) as journal:
        journal.clear_journal(unit)


def _journal(layout: Layout) -> closing[BudgetFile]:
    return closing(BudgetFile(layout.budgets, RunId(""), Budget()))


def read_receipt(layout: Layout, kind: Kind[Any, ReceiptT], *names: str) -> ReceiptT | None:
    """Return the receipt of a unit; None if it has not landed.

    A missing or incomplete unit is fetched from object storage first.

    Raises:
        ConfigurationError: it is damaged, or another version wrote it; object storage refuses.
        UpstreamError: object storage cannot be reached.
    """
    folder = kind.unit_folder(layout, *names)
    receipt = receipt_of(layout, kind, folder)
    if (receipt is None or not receipt.complete) and fetch_unit(layout, folder) is not None:
        receipt = receipt_of(layout, kind, folder)
    return receipt


def fetch_work(layout: Layout, kind: Kind, *names: str) -> None:
    """Fetch all units and files of a published work from object storage.

    Raises:
        ConfigurationError: object storage refuses, or an object is damaged.
        UpstreamError: it cannot be reached.
    """
    folder = kind.folder(layout, *names)
    if layout.objects is None:
        return
    work_object = bucket.download_work(layout, folder)
    if work_object is None:
        return
    units, files = work_object

    def bring_unit(name: str) -> None:
        receipt = receipt_of(layout, kind, folder / name)
        if receipt is None or not receipt.complete:
            fetch_unit(layout, folder / name)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(bring_unit, units))
    for name, content in files.items():
        if not (folder / name).exists():
            replace_bytes(folder / name, pa.py_buffer(content))


def landed_rows(layout: Layout, kind: Kind[Any, ReceiptT], receipt: ReceiptT) -> Rows:
    """Return the rows of a receipt by table, without calls.

    Raises:
        PublicationError: a file is missing or unreadable.
    """
    folder = kind.folder_of(layout, receipt)
    return {
        name: read_rows(TABLE[name], folder / f"{name}.parquet")
        for name, count in receipt.rows.items()
        if count and name not in CALL_TABLES
    }


def complete_receipt(layout: Layout, kind: Kind[Any, ReceiptT], *names: str) -> ReceiptT | None:
    """Return the receipt of a complete unit; None if it has to be done.

    Raises:
        ConfigurationError: as `read_receipt`.
    """
    receipt = read_receipt(layout, kind, *names)
    return receipt if receipt is not None and receipt.complete else None


def iterate_receipts(layout: Layout, kind: Kind[Any, ReceiptT], *names: str) -> Iterator[ReceiptT]:
    """Yield the receipts of a work in the order of their folders.

    Raises:
        ConfigurationError: as `read_receipt`.
    """
    for folder in unit_folders(layout, kind, *names):
        receipt = receipt_of(layout, kind, folder)
        if receipt is not None:
            yield receipt


def unit_folders(layout: Layout, kind: Kind, *names: str) -> list[Path]:
    return _folders(kind.folder(layout, *names), kind.unit_noun)


def landed_names(layout: Layout, kind: Kind, *outer: str) -> list[tuple[str, ...]]:
    """Return the names of all works with a landing folder; `outer`: their first names."""
    works = [tuple(outer)]
    for word in list(kind.folders)[len(outer) :]:
        works = [
            (*names, folder.name.removeprefix(f"{word}="))
            for names in works
            for folder in _folders(kind.folder(layout, *names), word)
        ]
    return works


def read_head(layout: Layout, kind: Kind[Any, Any, HeadT], *names: str) -> HeadT | None:
    """Return the head, which is written when every unit has landed; None before.

    Raises:
        ConfigurationError: it is damaged, or another version wrote it.
    """
    return read_noun(kind.head_file(layout, *names), kind.head, kind.remedy)


def write_head(layout: Layout, kind: Kind[Any, Any, HeadT], head: HeadT) -> None:
    """Write the head of a work whose units have landed."""
    path = kind.head_file(layout, *kind.names(head))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_noun(path, head)


def resumed_head(layout: Layout, kind: Kind[Any, Any, HeadT], head: HeadT) -> HeadT:
    """Return `head` with the times of an existing head."""
    existing = read_head(layout, kind, *kind.names(head))
    if existing is None:
        return head
    return replace(head, started_at=existing.started_at, finished_at=existing.finished_at)


def landed_files(
    layout: Layout, kind: Kind[Any, ReceiptT], table: Table, receipts: Sequence[ReceiptT]
) -> list[Path]:
    """Return the files with rows of `table`, according to the receipts."""
    return [
        kind.folder_of(layout, receipt) / f"{table.name}.parquet"
        for receipt in receipts
        if receipt.rows.get(table.name)
    ]


def work_files(layout: Layout, kind: Kind, *names: str) -> Iterator[Path]:
    """Yield the existing files of a work outside its units: head and further rows."""
    head = kind.head_file(layout, *names)
    if head.exists():
        yield head
    yield from (path for _, path in extra_row_files(layout, kind, *names))


def extra_row_files(layout: Layout, kind: Kind, *names: str) -> Iterator[tuple[Table, Path]]:
    """Yield the existing files with rows outside units, each with its table."""
    for table in kind.extra_tables:
        path = kind.folder(layout, *names) / f"{table}.parquet"
        if path.exists():
            yield TABLE[table], path


def write_extra_rows(layout: Layout, kind: Kind, table: str, rows: Rows, *names: str) -> None:
    """Write the rows of `table` outside units, replacing those of an earlier attempt."""
    path = kind.folder(layout, *names) / f"{table}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f"{BUILDING}{uuid4().hex}.parquet")
    write_rows(TABLE[table], rows[table], building)
    building.replace(path)


def write_noun(path: Path, noun: Noun) -> None:
    """Write `noun` as JSON atomically; its folder must exist."""
    building = path.with_name(f"{BUILDING}{uuid4().hex}")
    write_bytes(building, as_json(noun))
    building.replace(path)


def read_noun(path: Path, kind: type[NounT], remedy: str) -> NounT | None:
    """Return the noun written as JSON at `path`; None if there is none.

    Raises:
        ConfigurationError: it cannot be read, is damaged or was written by another version; ends
            with `remedy`.
    """
    try:
        return kind.model_validate_json(read_bytes(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror}): {remedy}") from error
    except ValidationError as error:
        raise ConfigurationError(
            f"{path} is damaged or was written by another version of Assay: {remedy}"
        ) from error


def as_json(noun: Noun) -> bytes:
    return orjson.dumps(noun.model_dump(mode="json"), option=orjson.OPT_INDENT_2)


def move_into_place(building: Path, target: Path) -> None:
    """Rename a folder; an existing target is renamed first, since no rename replaces it."""
    while True:
        try:
            building.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        replaced_folder = building.parent / f"{_REPLACED_PREFIX}{uuid4().hex}"
        try:
            target.rename(replaced_folder)
        except FileNotFoundError:
            continue
        shutil.rmtree(replaced_folder, ignore_errors=True)


def receipt_of(layout: Layout, kind: Kind[Any, ReceiptT], folder: Path) -> ReceiptT | None:
    """Return the receipt in a unit's landing folder; None if there is none.

    Raises:
        ConfigurationError: it is damaged, of another unit or behind a link, or another version
            wrote it.
    """
    for part in (folder, *folder.parents):
        if part == layout.landing:
            break
        if part.is_symlink():
            raise ConfigurationError(f"{part} is a link: put a copy of its folder there")
    receipt = read_noun(folder / RECEIPT_FILE, kind.receipt, kind.remedy)
    if receipt is not None and kind.folder_of(layout, receipt) != folder:
        raise ConfigurationError(f"{folder / RECEIPT_FILE} is of another unit: {kind.remedy}")
    return receipt


def fetch_unit(layout: Layout, target: Path) -> str | None:
    """Fetch a unit from object storage if it differs, and return its tag.

    None if object storage does not have it.
    """
    receipt = target / RECEIPT_FILE
    unit_object = bucket.download_unit(layout, target)
    if unit_object is None:
        return None
    files, tag = unit_object
    with suppress(OSError):
        if read_bytes(receipt) == files.get(RECEIPT_FILE):
            return tag
    building = topmost(layout, target) / f"{BUILDING}{uuid4().hex}"
    building.mkdir(parents=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        for name, content in files.items():
            write_bytes(building / name, pa.py_buffer(content))
        move_into_place(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return tag


def with_earlier_calls(
    layout: Layout,
    kind: Kind[Any, ReceiptT],
    receipt: ReceiptT,
    rows: Rows,
    journal_calls: Sequence[LlmCall],
) -> Rows:
    """Return `rows` with the calls that landed earlier, and those of the journal.

    For a call in several of them `rows` take precedence, then landed rows: the journal may have it
    without its reply.
    """
    unit_folder = kind.folder_of(layout, receipt)
    ids = kind.parameters(*kind.names(receipt)) | {"position": 0}
    earlier_rows = {"llm_calls": [row_of(TABLE["llm_calls"], call, ids) for call in journal_calls]}
    for name in CALL_TABLES if receipt_of(layout, kind, unit_folder) is not None else ():
        path = unit_folder / f"{name}.parquet"
        if path.exists():
            earlier_rows[name] = _merge_calls(
                earlier_rows.get(name, []), read_rows(TABLE[name], path)
            )
    merged_calls = {
        name: _merge_calls(calls, rows.get(name, []))
        for name, calls in earlier_rows.items()
        if calls
    }
    return {**rows, **merged_calls}


def write_unit(
    kind: Kind[Any, ReceiptT], receipt: ReceiptT, rows: Rows, building: Path
) -> ReceiptT:
    """Write tables and receipt into `building`; return the receipt with its numbers."""
    totals = kind.totals(rows)
    if totals and (table := kind.unit_table) is not None:
        rows = rows | {
            table: [row | {n: totals[n] for n in row.keys() & totals} for row in rows[table]]
        }
    size = sum(
        write_rows(TABLE[name], table_rows, building / f"{name}.parquet")
        for name, table_rows in rows.items()
    )
    counts = {name: len(rows.get(name, ())) for name in kind.tables}
    complete = replace(receipt, rows=counts, bytes=size, **totals)
    write_bytes(building / RECEIPT_FILE, as_json(complete))
    return complete


def _merge_calls(earlier_calls: Sequence[Row], now: Sequence[Row]) -> list[Row]:
    """Merge rows of calls by id; `now` takes precedence."""
    current_ids = {row["call_id"] for row in now}
    calls = [*(row for row in earlier_calls if row["call_id"] not in current_ids), *now]
    return [row | {"position": position} for position, row in enumerate(calls)]


def topmost(layout: Layout, target: Path) -> Path:
    """Return the folder just below landing that contains `target`.

    `compact` looks for leftovers there.
    """
    folders = target.relative_to(layout.landing).parts[:-1]
    return layout.landing / folders[0] if folders else layout.landing


def _folders(place: Path, word: str) -> list[Path]:
    if not place.is_dir():
        return []
    names = sorted(entry.name for entry in os.scandir(place) if entry.name.startswith(f"{word}="))
    return [place / name for name in names]
