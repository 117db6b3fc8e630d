"""Landing: one folder per unit, whole or absent. Needs pyarrow only, so workers carry no database.

A folder is built under a temporary name, `receipt.json` last, and renamed into place in one step.
Where landing is shared (`warehouse/units/shared.py`) the unit is kept there before that.
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
from warehouse.units import shared
from warehouse.units.kind import HeadT, Kind, ReceiptT
from warehouse.units.shared import RECEIPT_FILE

NounT = TypeVar("NounT", bound=Noun)
CALL_TABLES = ("llm_calls", "api_calls")
_REPLACED = ".replaced-"
LEFTOVERS = (BUILDING, _REPLACED)
"""How names begin that only a killed process leaves behind."""


def land(layout: Layout, kind: Kind[Any, ReceiptT], rows: Rows, receipt: ReceiptT) -> ReceiptT:
    """Write a unit's tables and its receipt; afterwards it exists, or nothing has changed.

    Landing a unit again replaces it, but keeps the calls already paid for: money spent is never
    forgotten. The same holds for journalled calls of earlier starts.

    Args:
        receipt: names the unit and says how its work ended; the numbers are filled in.

    Raises:
        PublicationError: a row does not fit its table.
        ConfigurationError: what landed before cannot be read, or object storage refuses.
        UpstreamError: landing is shared, and object storage cannot be reached.
    """
    target = kind.folder_of(layout, receipt)
    target.parent.mkdir(parents=True, exist_ok=True)
    unit = target.relative_to(layout.landing).as_posix()
    tag = take(layout, target)
    journalled = journalled_calls(layout, unit)
    while True:
        whole = with_earlier_calls(layout, kind, receipt, rows, journalled)
        building = topmost(layout, target) / f"{BUILDING}{uuid4().hex}"
        building.mkdir()
        try:
            complete = write_unit(kind, receipt, whole, building)
            if shared.offer(layout, building, target, replaced=tag):
                move_into_place(building, target)
                empty_journal(layout, unit)
                return complete
        finally:
            shutil.rmtree(building, ignore_errors=True)
        tag = take(layout, target)  # of another worker, who was first


def journalled_calls(layout: Layout, unit: str) -> list[LlmCall]:
    """Return the calls made for a unit that have not landed, those without an answer included."""
    with _journal(layout) as journal:
        return journal.journalled(unit)


def empty_journal(layout: Layout, unit: str) -> None:
    """Empty the journal of a unit that has landed."""
    with _journal(layout) as journal:
        journal.landed(unit)


def _journal(layout: Layout) -> closing[BudgetFile]:
    return closing(BudgetFile(layout.budgets, RunId(""), Budget()))


def read_receipt(layout: Layout, kind: Kind[Any, ReceiptT], *names: str) -> ReceiptT | None:
    """The receipt of a unit; None when it has not landed. One that is not complete here may be so
    where landing is shared, and is brought from there.

    Raises:
        ConfigurationError: it is damaged, or another version wrote it; object storage refuses.
        UpstreamError: object storage cannot be reached.
    """
    folder = kind.unit_folder(layout, *names)
    receipt = receipt_of(layout, kind, folder)
    if (receipt is None or not receipt.complete) and take(layout, folder) is not None:
        receipt = receipt_of(layout, kind, folder)
    return receipt


def bring(layout: Layout, kind: Kind, *names: str) -> None:
    """Have here whatever of a work that was published lands where machines meet.

    Raises:
        ConfigurationError: object storage refuses, or what is there is damaged.
        UpstreamError: it cannot be reached.
    """
    folder = kind.folder(layout, *names)
    if layout.objects is None:
        return
    publication = shared.found_work(layout, folder)
    if publication is None:
        return
    units, files = publication

    def bring_unit(name: str) -> None:
        receipt = receipt_of(layout, kind, folder / name)
        if receipt is None or not receipt.complete:
            take(layout, folder / name)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(bring_unit, units))
    for name, content in files.items():
        if not (folder / name).exists():
            replace_bytes(folder / name, pa.py_buffer(content))


def landed_rows(layout: Layout, kind: Kind[Any, ReceiptT], receipt: ReceiptT) -> Rows:
    """The rows that landed with `receipt`, calls apart, by table name.

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
    """The receipt of a unit whose work ran to its end; None when it is still to be done.

    Raises:
        ConfigurationError: as `read_receipt`.
    """
    receipt = read_receipt(layout, kind, *names)
    return receipt if receipt is not None and receipt.complete else None


def iterate_receipts(layout: Layout, kind: Kind[Any, ReceiptT], *names: str) -> Iterator[ReceiptT]:
    """Receipts of one piece of work in the order of their folders, one at a time.

    Raises:
        ConfigurationError: as `read_receipt`.
    """
    for folder in unit_folders(layout, kind, *names):
        receipt = receipt_of(layout, kind, folder)
        if receipt is not None:
            yield receipt


def unit_folders(layout: Layout, kind: Kind, *names: str) -> list[Path]:
    """Folders of units that have landed, in order."""
    return _folders(kind.folder(layout, *names), kind.unit_noun)


def landed_names(layout: Layout, kind: Kind, *outer: str) -> list[tuple[str, ...]]:
    """The names of everything of this kind that has a landing folder; `outer`: its first names."""
    works = [tuple(outer)]
    for word in list(kind.folders)[len(outer) :]:
        works = [
            (*names, folder.name.removeprefix(f"{word}="))
            for names in works
            for folder in _folders(kind.folder(layout, *names), word)
        ]
    return works


def read_head(layout: Layout, kind: Kind[Any, Any, HeadT], *names: str) -> HeadT | None:
    """Return what was written when every unit had landed; None before.

    Raises:
        ConfigurationError: it is damaged, or another version wrote it.
    """
    return read_noun(kind.head_file(layout, *names), kind.head, kind.remedy)


def write_head(layout: Layout, kind: Kind[Any, Any, HeadT], head: HeadT) -> None:
    """Say that the work is whole. Its units have landed before."""
    path = kind.head_file(layout, *kind.names(head))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_noun(path, head)


def begun_head(layout: Layout, kind: Kind[Any, Any, HeadT], head: HeadT) -> HeadT:
    """`head` with the times of the one that is there, when the work had ended before."""
    begun = read_head(layout, kind, *kind.names(head))
    if begun is None:
        return head
    return replace(head, started_at=begun.started_at, finished_at=begun.finished_at)


def landed_files(
    layout: Layout, kind: Kind[Any, ReceiptT], table: Table, receipts: Sequence[ReceiptT]
) -> list[Path]:
    """The files that hold rows of `table`, as the receipts say."""
    return [
        kind.folder_of(layout, receipt) / f"{table.name}.parquet"
        for receipt in receipts
        if receipt.rows.get(table.name)
    ]


def files_beside(layout: Layout, kind: Kind, *names: str) -> Iterator[Path]:
    """The files beside the units that are there: the head, and those of rows of no unit."""
    head = kind.head_file(layout, *names)
    if head.exists():
        yield head
    yield from (path for _, path in rows_beside(layout, kind, *names))


def rows_beside(layout: Layout, kind: Kind, *names: str) -> Iterator[tuple[Table, Path]]:
    """The files of rows that belong to no unit, as far as they are there, each with its table."""
    for table in kind.beside:
        path = kind.folder(layout, *names) / f"{table}.parquet"
        if path.exists():
            yield TABLE[table], path


def write_beside(layout: Layout, kind: Kind, table: str, rows: Rows, *names: str) -> None:
    """Write the rows of `table` that belong to no unit, in place of those of an earlier attempt."""
    path = kind.folder(layout, *names) / f"{table}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f"{BUILDING}{uuid4().hex}.parquet")
    write_rows(TABLE[table], rows[table], building)
    building.replace(path)


def write_noun(path: Path, noun: Noun) -> None:
    """Write `noun` as JSON, whole or not at all; the folder is there."""
    building = path.with_name(f"{BUILDING}{uuid4().hex}")
    write_bytes(building, as_json(noun))
    building.replace(path)


def read_noun(path: Path, kind: type[NounT], remedy: str) -> NounT | None:
    """The noun written as JSON at `path`; None when there is none.

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
    """Rename; a folder that is there already is moved aside first, as no rename replaces a full
    one.
    """
    while True:
        try:
            building.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        aside = building.parent / f"{_REPLACED}{uuid4().hex}"
        try:
            target.rename(aside)
        except FileNotFoundError:
            continue
        shutil.rmtree(aside, ignore_errors=True)


def receipt_of(layout: Layout, kind: Kind[Any, ReceiptT], folder: Path) -> ReceiptT | None:
    """The receipt in the landing folder of a unit; None where there is none.

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


def take(layout: Layout, target: Path) -> str | None:
    """Bring the unit whose folder is `target` here from where landing is shared, if it is there and
    another than the one here; its tag.
    """
    receipt = target / RECEIPT_FILE
    there = shared.found(layout, target)
    if there is None:
        return None
    files, tag = there
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
    journalled: Sequence[LlmCall],
) -> Rows:
    """Return `rows` with the calls that landed before with the unit, and those of its journal.

    Of a call in several of them `rows` are right, then what landed: the journal may have it from
    before the answer came.
    """
    landed = kind.folder_of(layout, receipt)
    ids = kind.parameters(*kind.names(receipt)) | {"position": 0}
    earlier = {"llm_calls": [row_of(TABLE["llm_calls"], call, ids) for call in journalled]}
    for name in CALL_TABLES if receipt_of(layout, kind, landed) is not None else ():
        path = landed / f"{name}.parquet"
        if path.exists():
            earlier[name] = _each_once(earlier.get(name, []), read_rows(TABLE[name], path))
    merged = {
        name: _each_once(calls, rows.get(name, [])) for name, calls in earlier.items() if calls
    }
    return {**rows, **merged}


def write_unit(
    kind: Kind[Any, ReceiptT], receipt: ReceiptT, rows: Rows, building: Path
) -> ReceiptT:
    """Write tables and receipt into the folder `building`; the receipt with its numbers."""
    totals = kind.totals(rows)
    if totals and (unit_table := kind.own_table) is not None:
        rows = rows | {
            unit_table: [
                row | {n: totals[n] for n in row.keys() & totals} for row in rows[unit_table]
            ]
        }
    size = sum(
        write_rows(TABLE[name], table_rows, building / f"{name}.parquet")
        for name, table_rows in rows.items()
    )
    counts = {name: len(rows.get(name, ())) for name in kind.tables}
    complete = replace(receipt, rows=counts, bytes=size, **totals)
    write_bytes(building / RECEIPT_FILE, as_json(complete))
    return complete


def _each_once(earlier: Sequence[Row], now: Sequence[Row]) -> list[Row]:
    """The rows of earlier calls, then those of now; a call in both as it is now."""
    current_ids = {row["call_id"] for row in now}
    calls = [*(row for row in earlier if row["call_id"] not in current_ids), *now]
    return [row | {"position": position} for position, row in enumerate(calls)]


def topmost(layout: Layout, target: Path) -> Path:
    """The folder just below landing that `target` lies in: where `compact` looks for leftovers."""
    inside = target.relative_to(layout.landing).parts[:-1]
    return layout.landing / inside[0] if inside else layout.landing


def _folders(place: Path, word: str) -> list[Path]:
    if not place.is_dir():
        return []
    names = sorted(entry.name for entry in os.scandir(place) if entry.name.startswith(f"{word}="))
    return [place / name for name in names]
