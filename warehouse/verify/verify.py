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
    data_path,
    filled_tables,
    object_folder,
    one_line,
    query_each,
)
from warehouse.objects.object_storage import AT_ONCE, file_size
from warehouse.parquet import read_landed
from warehouse.progress import lock_held
from warehouse.statements import MARTS, statement, table_statement
from warehouse.units.bucket import EVICTION_MARK, RECEIPT_FILE
from warehouse.units.kind import Kind, ReceiptT, published_names
from warehouse.units.landing import (
    LEFTOVERS,
    extra_row_files,
    fetch_work,
    landed_names,
    receipt_of,
    unit_folders,
)
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
            counts = connection.execute(statement("catalogue", "record_counts")).fetchall()
            problems += [
                _count_problem(name, rows[name], count)
                for name, count in counts
                if count < rows.get(name, 0)
            ]
            filled_tables_read = {name for name, count in rows.items() if count}
            problems += bad_values(connection, filled_tables_read)
            problems += false_statistics(connection, filled_tables_read)
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
        leftovers = [path for path in folder.iterdir() if path.name.startswith(LEFTOVERS)]
        if leftovers:
            notices.append(
                f"{folder} holds {len(leftovers)} unfinished folders of killed workers: `assay warehouse"
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
                f"{table_name}: {place}{name} is missing; restore it or publish its run again"
            )
        elif stored_size != size:
            problems.append(
                f"{table_name}: {place}{name} has not the {size} bytes it was written with;"
                " publish its run again"
            )
    return problems


def _readable(connection: Connection) -> tuple[dict[str, int], list[str]]:
    rows, problems = {}, []
    nonempty = {*filled_tables(connection), *MARTS}
    names = (*(table.name for table in TABLES), *MARTS)

    def count(name: str) -> tuple[int, int]:
        """Return the number of rows read, and the number that the catalogue reports."""
        if name not in nonempty:  # a check for rows costs five times as much
            connection.execute(table_statement("read_no_row", table=name))
            return 0, 0
        sql = table_statement("read_every_row", table=name)
        ((row_count,),) = connection.execute(sql).fetchall()
        if name in MARTS:
            return row_count, row_count
        # DuckLake answers this from the catalogue, without reading files.
        sql = table_statement("count_rows", table=name, condition="true")
        ((_, catalogue_count),) = connection.execute(sql).fetchall()
        return row_count, catalogue_count

    for name, answer in query_each(connection, names, count):
        if isinstance(answer, duckdb.Error):
            problems.append(f"{name} cannot be read: {one_line(answer)}")
            continue
        row_count, catalogue_count = answer
        rows[name] = row_count
        if row_count != catalogue_count:
            problems.append(_count_problem(name, row_count, catalogue_count))
    return rows, problems


def _count_problem(name: str, row_count: int, catalogue_count: int) -> str:
    return (
        f"{name}: it has {row_count:,} rows, and the catalogue counts {catalogue_count:,}; bring the catalogue"
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
        published_works = set(published_names(self.lake.connection, kind)) if is_readable else set()
        problems = []
        for names in published_works:
            problem = self._name_problem(kind, names)
            if problem is None:
                fetch_work(self.warehouse, kind, *names)
            else:
                problems.append(problem)
        for names in landed_names(self.warehouse, kind):
            problems += self._of_work(
                kind, names, names in published_works if is_readable else None
            )
        return problems

    def _name_problem(self, kind: Kind, names: tuple[str | None, ...]) -> str | None:
        """Return a line about a published row with invalid names; None if they are valid."""
        present_names = [name for name in names if name is not None]
        try:
            kind.folder(self.warehouse, *present_names)
        except ConfigurationError as error:
            fault = str(error)
        else:
            fault = "a row has lost its name" if len(present_names) < len(names) else ""
        return f"{kind.head_table}: {fault}; bring the lake back from a copy" if fault else None

    def _of_work(self, kind: Kind, names: tuple[str, ...], is_published: bool | None) -> list[str]:
        """Return the problems of a work; `published`: None if the lake cannot be read."""
        if not is_published and kind.is_nested:
            return []
        landed_content = LandedContent(self.lake)
        problems: list[str] = []
        receipts = read_units(self.warehouse, kind, names, landed_content, problems)
        if is_published is None:
            return problems
        if not is_published:
            return [*problems, *self._publication_problem(kind, names, receipts)]
        if problems and not receipts:
            return problems
        expected_counts = {
            name: sum(receipt.rows.get(name, 0) for receipt in receipts) for name in kind.tables
        }
        for table, path in extra_row_files(self.warehouse, kind, *names):
            count = read_file(path, table.name, landed_content, problems)
            if count is None:
                del expected_counts[table.name]
            else:
                expected_counts[table.name] += count
        return [*problems, *self._differences(kind, names, landed_content, expected_counts)]

    def _differences(
        self,
        kind: Kind,
        names: tuple[str, ...],
        landed_rows: LandedContent,
        expected_counts: Mapping[str, int],
    ) -> Iterator[str]:
        """Yield a line for each table whose rows differ in number or content."""
        about = kind.title(*names)
        for name, count in expected_counts.items():
            if name not in self.readable:
                continue
            condition = kind.condition(TABLE[name])
            lake_content = self.lake.of(name, condition, kind.parameters(*names))
            landed_content = landed_rows.of(name)
            if lake_content.rows != count:
                yield (
                    f"{about}: {lake_content.rows} rows of {name} are published, its receipts say {count};"
                    f" the command of the {kind.word} publishes it again"
                )
            elif landed_content is not None and landed_content != lake_content:
                yield (
                    f"{about}: the rows of {name} that are published are not those that landed; "
                    f"bring {self.warehouse.lake} back from a copy, or remove it and run its commands "
                    "again: they publish what has landed and pay for nothing twice"
                )

    def _publication_problem(
        self, kind: Kind, names: tuple[str, ...], receipts: Sequence[UnitReceipt]
    ) -> Iterator[str]:
        lock = self.warehouse.work(RunId(names[0])) / "lock"
        if not receipts or lock_held(lock) is not False:
            return  # nothing was paid for, or it may still run
        result = kind.validation_file(self.warehouse, *names)
        yield f"{kind.title(*names)} has landed but is not published: " + (
            f"see {result}"
            if result.exists()
            else f"run it again to finish it, or remove {kind.folder(self.warehouse, *names)}"
        )


def read_units(
    warehouse: Warehouse,
    kind: Kind[Any, ReceiptT],
    names: tuple[str, ...],
    landed_content: LandedContent,
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
                if (folder / EVICTION_MARK).exists():  # evicted: count its rows, compare nothing
                    for name in receipt.rows:
                        landed_content.add_unknown(name)
                    continue
                for name, expected_count in receipt.rows.items():
                    if not expected_count or name not in TABLE:
                        continue
                    place = folder / f"{name}.parquet"
                    count = read_file(place, name, landed_content, problems)
                    if count is not None and count != expected_count:
                        problems.append(
                            f"{place} holds {count} rows, its receipt says {expected_count}: remove"
                            " its folder and run again"
                        )
                        landed_content.add_unknown(name)
    return tuple(receipts)


def read_file(
    file: Path, table: str, landed_content: LandedContent, problems: list[str]
) -> int | None:
    """Return the number of rows of a file, and add them to `landed`.

    None, with a line in `problems`, if it cannot be read.
    """
    try:
        rows: pa.Table = read_landed(TABLE[table], [file])
    except PublicationError as error:
        problems.append(str(error))
        landed_content.add_unknown(table)
        return None
    landed_content.add(table, rows)
    return len(rows)
