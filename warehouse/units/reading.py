"""What readers ask about any kind of work. Only what is published is seen."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import duckdb

from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from warehouse.lake import rows_in
from warehouse.rows import noun_of
from warehouse.statements import table_statement
from warehouse.units.kind import HeadT, Kind, ReceiptT
from warehouse.units.landing import CALL_TABLES
from warehouse.units.record import UnitRecord, UnitT


def published_heads(
    connection: duckdb.DuckDBPyConnection, kind: Kind[Any, HeadT]
) -> tuple[HeadT, ...]:
    """What is published of a kind, newest first."""
    rows = rows_in(connection, table_statement("newest_first", table=kind.head_table))
    return tuple(noun_of(kind.head, row) for row in rows)


def published_head(
    connection: duckdb.DuckDBPyConnection, kind: Kind[Any, HeadT], run_id: RunId
) -> HeadT:
    """One of them. Raises UnknownNameError when it is not published."""
    for head in published_heads(connection, kind):
        if kind.names(head) == (run_id,):
            return head
    raise UnknownNameError(
        f"{kind.titled(run_id)} is not published; the table {kind.head_table} lists those that are"
    )


def check_published(
    connection: duckdb.DuckDBPyConnection, kinds: Iterable[Kind[Any, Any]], run_id: RunId
) -> None:
    """Raises UnknownNameError when nothing of these kinds is published under that name."""
    for kind in kinds:
        with suppress(UnknownNameError):
            published_head(connection, kind, run_id)
            return
    raise UnknownNameError(f"nothing is published under {run_id}")


def published_units(
    connection: duckdb.DuckDBPyConnection,
    record: UnitRecord[UnitT, ReceiptT, HeadT],
    run_id: RunId,
) -> tuple[UnitT, ...]:
    """Every unit of a run as it was landed, calls apart, in the order of their names."""
    tables = [name for name in record.kind.tables if name not in CALL_TABLES]
    rows = {
        name: rows_in(connection, table_statement("rows_of_run", table=name), {"run_id": run_id})
        for name in tables
    }
    return record.units_of(rows)
