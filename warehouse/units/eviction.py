"""Eviction of landed files whose rows the lake has, and their restoration.

`compact` evicts the files; publishing a work again restores them. The receipt stays, so the unit
remains done. A mark is written before the first file is deleted and removed after the last one is
restored, so that either is repeated after an interruption.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.tables import TABLE
from schemas.text.plain_files import remove_files
from warehouse.catalogue.connection import Connection
from warehouse.lake import one_snapshot
from warehouse.layout import Layout
from warehouse.parquet import read_landed, write_bytes, write_rows
from warehouse.rows import Row, Rows
from warehouse.statements import table_statement
from warehouse.units.bucket import EVICTION_MARK
from warehouse.units.kind import Kind, ReceiptT, published_names
from warehouse.units.landing import iterate_receipts
from warehouse.verify.verify_content import LakeContent, LandedContent


class FreedSpace(Noun):
    units: int = Field(ge=0)
    bytes: int = Field(ge=0)


def evict(
    connection: Connection, layout: Layout, kind: Kind, published_before: datetime
) -> FreedSpace:
    """Delete the landed files of complete units whose rows are all in the lake.

    The caller holds the publisher's lock.
    """
    units = size = 0
    if not kind.unit_column:
        return FreedSpace(units=0, bytes=0)
    for names in published_names(
        connection, kind, "published_at < $before", before=published_before
    ):
        with_files = [
            receipt
            for receipt in iterate_receipts(layout, kind, *names)
            if receipt.complete and any(_files(layout, kind, receipt))
        ]
        not_evicted = [each for each in with_files if not _mark(layout, kind, each).exists()]
        if not_evicted and not _is_in_lake(connection, layout, kind, names, not_evicted):
            continue  # `assay warehouse verify` reports the difference
        units += len(with_files)
        size += sum(_remove(layout, kind, receipt) for receipt in with_files)
    return FreedSpace(units=units, bytes=size)


def restore_files(
    connection: Connection, layout: Layout, kind: Kind[Any, ReceiptT], receipts: Sequence[ReceiptT]
) -> None:
    """Restore evicted files of these units.

    Raises:
        PublicationError: the lake has lost their rows.
    """
    for receipt in receipts:
        mark = _mark(layout, kind, receipt)
        if not mark.exists():
            continue
        with one_snapshot(connection):
            lake_rows = rows_in_lake(connection, layout, kind, receipt)
        for name, rows in lake_rows.items():
            building = mark.with_name(f"{name}.parquet.building")
            write_rows(TABLE[name], rows, building)
            building.rename(mark.with_name(f"{name}.parquet"))
        mark.unlink()


def rows_in_lake(
    connection: Connection, layout: Layout, kind: Kind[Any, ReceiptT], receipt: ReceiptT
) -> Rows:
    """Return the rows of a receipt from the lake.

    Raises:
        PublicationError: the lake holds fewer or more rows.
    """
    parameters = _parameters(kind, kind.names(receipt), [receipt])
    rows_of: Rows = {}
    for name, count in receipt.rows.items():
        rows = _rows(connection, kind, TABLE[name], parameters) if count else []
        if len(rows) != count:
            raise PublicationError(
                f"the lake holds {len(rows)} rows of {name} that landed in"
                f" {kind.folder_of(layout, receipt)}, the receipt there says {count}, and its files"
                f" were evicted: bring {layout.lake} back from a copy, or {kind.remedy}"
            )
        if rows:
            rows_of[name] = rows
    return rows_of


def _rows(
    connection: Connection, kind: Kind, table: Table, parameters: dict[str, Any]
) -> list[Row]:
    sql = table_statement("rows_of", table=table.name, condition=_condition(kind, table))
    content = connection.execute(sql, parameters).fetch_arrow_table()
    return [{name: row[name] for name in table.column_names} for row in content.to_pylist()]


def _is_in_lake(
    connection: Connection,
    layout: Layout,
    kind: Kind[Any, ReceiptT],
    names: tuple[str, ...],
    receipts: Sequence[ReceiptT],
) -> bool:
    """Return whether the lake holds the rows of these units exactly as landed."""
    lake = LakeContent(connection)
    landed_content = LandedContent(lake)
    for receipt in receipts:
        folder = kind.folder_of(layout, receipt)
        for name in (name for name, count in receipt.rows.items() if count):
            try:
                landed_content.add(name, read_landed(TABLE[name], [folder / f"{name}.parquet"]))
            except PublicationError:
                return False
    parameters = _parameters(kind, names, receipts)
    with one_snapshot(connection):
        return all(
            landed_content.of(name) == lake.of(name, _condition(kind, TABLE[name]), parameters)
            for name in kind.tables
        )


def _condition(kind: Kind, table: Table) -> str:
    """Return SQL for the rows of certain units, without rows outside units."""
    not_outside = f" and not ({loose})" if (loose := kind.extra_tables.get(table.name)) else ""
    units = f' and "{kind.unit_column}" in (select unnest($units))'
    return kind.condition(table) + units + not_outside


def _parameters(
    kind: Kind[Any, ReceiptT], names: tuple[str, ...], receipts: Sequence[ReceiptT]
) -> dict[str, Any]:
    units = [getattr(receipt, kind.unit_column) for receipt in receipts]
    return {**kind.parameters(*names), "units": units}


def _remove(layout: Layout, kind: Kind[Any, ReceiptT], receipt: ReceiptT) -> int:
    """Delete the files of a unit, and return the freed bytes."""
    write_bytes(_mark(layout, kind, receipt), b"")
    files = list(_files(layout, kind, receipt))
    size = sum(file.lstat().st_size for file in files)
    folder = kind.folder_of(layout, receipt).relative_to(layout.landing)
    remove_files(layout.landing.resolve() / folder, [file.name for file in files])
    return size


def _mark(layout: Layout, kind: Kind[Any, ReceiptT], receipt: ReceiptT) -> Path:
    """Return the path of the mark that only the lake holds the rows of the unit."""
    return kind.folder_of(layout, receipt) / EVICTION_MARK


def _files(layout: Layout, kind: Kind[Any, ReceiptT], receipt: ReceiptT) -> Iterator[Path]:
    return kind.folder_of(layout, receipt).glob("*.parquet*")
