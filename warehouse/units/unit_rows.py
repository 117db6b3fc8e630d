"""Conversion of units to table rows for landing, and back. Needs no database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.reasons import first_that_may_pass
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, holder_of, noun_of, nouns_in, row_of, value_in
from warehouse.units import landing
from warehouse.units.kind import HeadT, Kind, ReceiptT, UnitT


def rows_of(kind: Kind[UnitT, Any, Any], run_id: RunId, unit: UnitT) -> Rows:
    """Return all rows of a unit by table; tables without rows are left out.

    Columns that a row's noun does not have are taken from the unit.
    """
    # Calls and failures have the unit's name as their idea_id.
    name = value_in(unit, holder_of(kind.noun, kind.identity_column) or "", kind.identity_column)
    unit_columns: Row = {"run_id": run_id, "idea_id": name}
    unit_columns |= {
        column: value_in(unit, holder, column) for column, holder in _unit_columns(kind)
    }
    unit_columns |= {f"{part}_requested": getattr(unit, part) is not None for part in _inner(kind)}
    nouns_by_table: dict[str, list[tuple[Noun, str]]] = {}
    for part in kind.parts:
        rows = nouns_by_table.setdefault(part.table, [])
        for noun in part.nouns(unit):
            # A noun in two fields, such as a failure, is one row.
            if not (part.shared and any(noun == other for other, _ in rows)):
                rows.append((noun, _recorder(kind, part.path)))
    return {
        table: [
            row_of(TABLE[table], noun, unit_columns | {"position": place, "recorded_by": recorder})
            for place, (noun, recorder) in enumerate(nouns)
        ]
        for table, nouns in nouns_by_table.items()
        if nouns
    }


def _recorder(kind: Kind, path: tuple[str, ...]) -> str:
    return path[0] if len(path) > 1 else kind.word


def unit_of(
    kind: Kind[UnitT, ReceiptT, Any],
    name: str,
    rows: Mapping[str, Sequence[Row]],
    receipt: ReceiptT | None = None,
) -> UnitT:
    """Build the unit of that name from its rows.

    A row that two inner nouns share goes to the first. Fields that only the receipt has are read
    from `receipt`.
    """
    tables = (kind.unit_table or "", *rows)
    unit_row: Row = next((rows[table][0] for table in tables if rows.get(table)), {})
    rest = {table: sorted(table_rows, key=_position) for table, table_rows in rows.items()}
    inner = {
        part: noun_of(noun, _parts_of(kind, (part,), rest))
        if unit_row.get(f"{part}_requested")
        else None
        for part, noun in _inner(kind).items()
    }
    values = inner | _parts_of(kind, (), rest)
    fields: Row = {kind.name_column: name}
    if receipt is not None:
        fields |= {column: getattr(receipt, column) for column, _ in _receipt_columns(kind)}
    return noun_of(kind.noun, fields | unit_row | values)


def _parts_of(kind: Kind, path: tuple[str, ...], rest: dict[str, list[Row]]) -> Row:
    """Return the fields of a noun from their rows, which are removed from `remaining_rows`."""
    values: Row = {}
    for part in kind.parts:
        if part.path and part.path[:-1] == path:
            recorders, rows = (None, _recorder(kind, part.path)), rest.get(part.table, [])
            rest[part.table] = [row for row in rows if row.get("recorded_by") not in recorders]
            nouns = tuple(
                noun_of(part.noun, row) for row in rows if row.get("recorded_by") in recorders
            )
            values[part.path[-1]] = next(iter(nouns), None) if part.single else nouns
    return values


def units_of(kind: Kind[UnitT, Any, Any], rows: Mapping[str, Sequence[Row]]) -> tuple[UnitT, ...]:
    """Build the units of a work from the rows of its tables, sorted by name."""
    units: dict[str, dict[str, list[Row]]] = {}
    for table, table_rows in rows.items():
        for row in table_rows:
            name = row[kind.identity_column if kind.identity_column in row else "idea_id"]
            units.setdefault(name, {}).setdefault(table, []).append(row)
    return tuple(
        unit_of(kind, name, table_rows)
        for name, table_rows in sorted(units.items())
        if kind.unit_table is None or kind.unit_table in table_rows
    )


def land_unit(
    layout: Layout,
    kind: Kind[UnitT, ReceiptT, HeadT],
    run_id: RunId,
    unit: UnitT,
    started_at: datetime,
    finished_at: datetime,
) -> ReceiptT:
    """Write a unit atomically, and return its receipt.

    Raises:
        PublicationError: a row does not fit its table.
    """
    receipt = kind.receipt.model_validate(
        {
            "run_id": run_id,
            "unit": getattr(unit, kind.name_column),
            "incomplete_reason": first_that_may_pass(kind.reasons(unit)),
            "started_at": started_at,
            "finished_at": finished_at,
        }
        | {name: value_in(unit, holder, name) for name, holder in _receipt_columns(kind)}
    )
    return landing.land(layout, kind, rows_of(kind, run_id, unit), receipt)


def landed_unit(layout: Layout, kind: Kind[UnitT, ReceiptT, HeadT], *names: str) -> UnitT | None:
    """Return a landed unit without calls; None if it has not landed.

    Raises:
        ConfigurationError: as `read_receipt`.
        PublicationError: a file is missing or unreadable.
    """
    receipt = landing.read_receipt(layout, kind, *names)
    if receipt is None:
        return None
    return unit_of(kind, names[-1], landing.landed_rows(layout, kind, receipt), receipt)


@cache
def _inner(kind: Kind) -> dict[str, type[Noun]]:
    """Return the fields with an inner noun, or None, whose fields have tables."""
    unit: type[Noun] = kind.noun
    return {part.path[0]: nouns_in(unit)[part.path[0]] for part in kind.parts if part.path[1:]}


@cache
def _unit_columns(kind: Kind) -> tuple[tuple[str, str], ...]:
    """Return columns that only the unit has, each with its field."""
    columns = {
        column
        for table in map(TABLE.__getitem__, kind.tables)
        for column in table.column_names
        if holder_of(table.noun, column) is None
    }
    return tuple(_holders(kind.noun, columns - {"idea_id"}))


@cache
def _receipt_columns(kind: Kind) -> tuple[tuple[str, str], ...]:
    """Return the receipt's fields that the unit has, without numbers of rows."""
    excluded_fields = {
        "unit",
        "rows",
        "bytes",
        *(name for part in kind.parts for name in part.path[:1]),
    }
    return tuple(_holders(kind.noun, kind.receipt.model_fields.keys() - excluded_fields))


def _position(row: Row) -> int:
    return int(row.get("position", 0))


def _holders(noun: type[Noun], names: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(names):
        if (holder := holder_of(noun, name)) is not None:
            yield name, holder
