"""Verification of a lake. Reads everything, changes nothing."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError, PublicationError
from schemas.identifiers import RunId
from schemas.run import UnitReceipt
from schemas.tables import TABLE, TABLES
from warehouse.catalogue.connection import Connection
from warehouse.kinds.registry import KINDS
from warehouse.lake import (
    ask_in_turn,
    data_path,
    filled_tables,
    object_folder,
    one_line,
)
from warehouse.objects.object_storage import AT_ONCE, file_size
from warehouse.parquet import read_landed
from warehouse.progress import lock_held
from warehouse.statements import MARTS, statement, table_statement
from warehouse.units.kind import Kind, ReceiptT, published_names
from warehouse.units.landing import (
    LEFTOVERS,
    bring,
    landed_names,
    receipt_of,
    rows_beside,
    unit_folders,
)
from warehouse.units.shared import LET_GO, RECEIPT_FILE
from warehouse.verify.verify_content import LakeContent, LandedContent
from warehouse.verify.verify_records import recorded_problems
from warehouse.verify.verify_statistics import bad_values, false_statistics
from warehouse.warehouse import Warehouse


class VerifyReport(Noun):
    """Result of a verification. Sound: no problems."""

    runs: int = Field(ge=0, description="Published runs.")
    rows: dict[str, int] = Field(
        description="Rows by table; tables that could not be read are missing."
    )
    problems: tuple[str, ...] = Field(
        description="One line each: what is wrong and how to mend it."
    )
    notices: tuple[str, ...] = Field(description="What is not wrong but worth knowing.")

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(warehouse: Warehouse) -> VerifyReport:
    """Verify files, tables, marts, values, statistics, landed rows and records.

    Raises:
        ConfigurationError: there is no lake, or its catalogue cannot be opened or read.
    """
    problems: list[str] = []
    notices: list[str] = []
    with warehouse.reader() as connection:
        try:
            problems += _missing_files(connection, warehouse)
            rows, unreadable = _readable(connection)
            problems += unreadable
            problems += _too_few_counted(connection, rows)
            filled = {name for name, count in rows.items() if count}
            problems += bad_values(connection, filled)
            problems += false_statistics(connection, filled)
            comparison = _Comparison(warehouse, LakeContent(connection), rows.keys())
            for kind in KINDS:
                problems += comparison.problems(kind)
            records = recorded_problems(connection, warehouse, rows.keys())
            problems += records.problems
            notices += records.notices
        except duckdb.Error as error:
            raise ConfigurationError(
                f"the lake's catalogue cannot be read: {one_line(error)}"
            ) from error
    for folder in warehouse.building_places():
        left = [path for path in folder.iterdir() if path.name.startswith(LEFTOVERS)]
        if left:
            notices.append(
                f"{folder} holds {len(left)} unfinished folders of killed workers: `assay warehouse"
                " compact` removes them"
            )
    return VerifyReport(
        runs=rows.get("runs", 0), rows=rows, problems=tuple(problems), notices=tuple(notices)
    )


def _missing_files(connection: Connection, warehouse: Warehouse) -> list[str]:
    """Return a line for each missing or changed file.

    Files are looked up by name: a listing of object storage may be incomplete.
    """
    place = data_path(connection)
    folder = object_folder(connection)
    rows = connection.execute(statement("catalogue", "files")).fetchall()
    files = [(table, name, size) for table, name, size, is_read_now in rows if is_read_now]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sizes = list(
            pool.map(partial(file_size, warehouse.data, folder), [each[1] for each in files])
        )
    problems = []
    for (table_name, name, size), stored_size in zip(files, sizes, strict=True):
        if stored_size is None:
            problems.append(
                f"{table_name}: {place}{name} is missing; put it back or publish its run anew"
            )
        elif stored_size != size:
            problems.append(
                f"{table_name}: {place}{name} has not the {size} bytes it was written with;"
                " publish its run anew"
            )
    return problems


def _readable(connection: Connection) -> tuple[dict[str, int], list[str]]:
    rows, problems = {}, []
    filled = {*filled_tables(connection), *MARTS}
    names = (*(table.name for table in TABLES), *MARTS)

    def count(name: str) -> tuple[int, int]:
        """Return the number of rows read, and the number that the catalogue reports."""
        if name not in filled:  # to look for rows costs five times as much
            connection.execute(table_statement("read_no_row", table=name))
            return 0, 0
        sql = table_statement("read_every_row", table=name)
        ((read,),) = connection.execute(sql).fetchall()
        if name in MARTS:
            return read, read
        # DuckLake answers it from the catalogue, without a look into the files.
        sql = table_statement("count_rows", table=name, condition="true")
        ((_, counted),) = connection.execute(sql).fetchall()
        return read, counted

    for name, answer in ask_in_turn(connection, names, count):
        if isinstance(answer, duckdb.Error):
            problems.append(f"{name} cannot be read: {one_line(answer)}")
            continue
        read, counted = answer
        rows[name] = read
        if read != counted:
            problems.append(_miscounted(name, read, counted))
    return rows, problems


def _too_few_counted(connection: Connection, rows: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each table with more rows than the catalogue reports."""
    for name, count in connection.execute(statement("catalogue", "record_counts")).fetchall():
        if count < rows.get(name, 0):
            yield _miscounted(name, rows[name], count)


def _miscounted(name: str, read: int, counted: int) -> str:
    return (
        f"{name}: it has {read:,} rows, and the catalogue counts {counted:,}; bring the catalogue"
        " back from a copy"
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares the lake's rows with landed rows.

    Attributes:
        readable: tables and marts of the lake that can be read.
    """

    warehouse: Warehouse
    lake: LakeContent
    readable: Collection[str]

    def problems(self, kind: Kind) -> list[str]:
        """Return a line for each landed work that is unpublished or published with other rows."""
        is_readable = kind.head_table in self.readable
        published = set(published_names(self.lake.connection, kind)) if is_readable else set()
        problems = []
        for names in published:
            unfit = self._unfit(kind, names)
            if unfit is None:
                bring(self.warehouse, kind, *names)
            else:
                problems.append(unfit)
        for names in landed_names(self.warehouse, kind):
            problems += self._of(kind, names, names in published if is_readable else None)
        return problems

    def _unfit(self, kind: Kind, names: tuple[str | None, ...]) -> str | None:
        """Return a line about a published row with invalid names; None if they are valid."""
        present_names = [name for name in names if name is not None]
        try:
            kind.folder(self.warehouse, *present_names)
        except ConfigurationError as error:
            fault = str(error)
        else:
            fault = "a row has lost its name" if len(present_names) < len(names) else ""
        return f"{kind.head_table}: {fault}; bring the lake back from a copy" if fault else None

    def _of(self, kind: Kind, names: tuple[str, ...], published: bool | None) -> list[str]:
        """Return the problems of a work; `published`: None if the lake cannot be read."""
        if not published and kind.is_within_another:
            return []
        landed = LandedContent(self.lake)
        problems: list[str] = []
        receipts = read_units(self.warehouse, kind, names, landed, problems)
        if published is None:
            return problems
        if not published:
            return [*problems, *self._unpublished(kind, names, receipts)]
        if problems and not receipts:
            return problems
        expected = {
            name: sum(receipt.rows.get(name, 0) for receipt in receipts) for name in kind.tables
        }
        for table, path in rows_beside(self.warehouse, kind, *names):
            count = read_file(path, table.name, landed, problems)
            if count is None:
                del expected[table.name]
            else:
                expected[table.name] += count
        return [*problems, *self._differences(kind, names, landed, expected)]

    def _differences(
        self, kind: Kind, names: tuple[str, ...], landed: LandedContent, expected: Mapping[str, int]
    ) -> Iterator[str]:
        """Yield a line for each table whose rows differ in number or content."""
        about = kind.titled(*names)
        for name, count in expected.items():
            if name not in self.readable:
                continue
            condition = kind.condition(TABLE[name])
            published = self.lake.of(name, condition, kind.parameters(*names))
            landed_content = landed.of(name)
            if published.rows != count:
                yield (
                    f"{about}: {published.rows} rows of {name} are published, its receipts say {count};"
                    f" the command of the {kind.word} publishes it anew"
                )
            elif landed_content is not None and landed_content != published:
                yield (
                    f"{about}: the rows of {name} that are published are not those that landed; "
                    f"bring {self.warehouse.lake} back from a copy, or remove it and run its commands "
                    "again: they publish what has landed and pay for nothing twice"
                )

    def _unpublished(
        self, kind: Kind, names: tuple[str, ...], receipts: Sequence[UnitReceipt]
    ) -> Iterator[str]:
        lock = self.warehouse.work(RunId(names[0])) / "lock"
        if not receipts or lock_held(lock) is not False:
            return  # nothing was paid for yet, or it is, or may be, still under way
        result = kind.validation_file(self.warehouse, *names)
        yield f"{kind.titled(*names)} has landed but is not published: " + (
            f"see {result}"
            if result.exists()
            else f"run it again to finish it, or remove {kind.folder(self.warehouse, *names)}"
        )


def read_units(
    warehouse: Warehouse,
    kind: Kind[Any, ReceiptT],
    names: tuple[str, ...],
    landed: LandedContent,
    problems: list[str],
) -> tuple[ReceiptT, ...]:
    """Return the receipts of a work, and add the rows of its files to `landed`.

    Adds a line to `problems` for each faulty receipt and landed file.
    """
    receipts: list[ReceiptT] = []
    for folder in unit_folders(warehouse, kind, *names):
        path = folder / RECEIPT_FILE
        try:
            receipt = receipt_of(warehouse, kind, folder)
        except ConfigurationError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror}): check its permissions")
        else:
            if receipt is not None:
                receipts.append(receipt)
                if (folder / LET_GO).exists():  # counted, and not held against what landed
                    for name in receipt.rows:
                        landed.add_unknown(name)
                    continue
                _read_files(folder, receipt.rows, landed, problems)
    return tuple(receipts)


def read_file(file: Path, table: str, landed: LandedContent, problems: list[str]) -> int | None:
    """Return the number of rows of a file, and add them to `landed`.

    None, with a line in `problems`, if it cannot be read.
    """
    try:
        rows: pa.Table = read_landed(TABLE[table], [file])
    except PublicationError as error:
        problems.append(str(error))
        landed.add_unknown(table)
        return None
    landed.add(table, rows)
    return len(rows)


def _read_files(
    folder: Path, promised: Mapping[str, int], landed: LandedContent, problems: list[str]
) -> None:
    for name, expected in promised.items():
        if not expected or name not in TABLE:
            continue
        place = folder / f"{name}.parquet"
        count = read_file(place, name, landed, problems)
        if count is not None and count != expected:
            problems.append(
                f"{place} holds {count} rows, its receipt says {expected}: remove its folder and"
                " run again"
            )
            landed.add_unknown(name)
