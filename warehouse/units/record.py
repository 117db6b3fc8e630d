"""Units of work, each one noun: taken apart into tables to be landed, put together again when they
are read. Needs no database, so workers can land.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.reasons import first_that_may_pass
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, holder_of, noun_of, nouns_in, row_of, told
from warehouse.units import landing
from warehouse.units.kind import HeadT, Kind, ReceiptT, UnitT


def rows_of(kind: Kind[UnitT, Any, Any], run_id: RunId, unit: UnitT) -> Rows:
    """Every row of a unit by table name; tables without rows are left out.

    What the noun of a row does not tell is told by the unit.
    """
    # Calls and failures know a unit as they would know an idea.
    name = told(unit, holder_of(kind.noun, kind.known_by) or "", kind.known_by)
    unit_columns: Row = {"run_id": run_id, "idea_id": name}
    unit_columns |= {column: told(unit, holder, column) for column, holder in _told(kind)}
    unit_columns |= {f"{part}_requested": getattr(unit, part) is not None for part in _inner(kind)}
    held: dict[str, list[tuple[Noun, str]]] = {}
    for part in kind.parts:
        rows = held.setdefault(part.table, [])
        for noun in part.nouns(unit):
            # What two of them hold, such as a failure, is one row.
            if not (part.shared and any(noun == other for other, _ in rows)):
                rows.append((noun, _recorder(kind, part.path)))
    return {
        table: [
            row_of(TABLE[table], noun, unit_columns | {"position": place, "recorded_by": recorder})
            for place, (noun, recorder) in enumerate(nouns)
        ]
        for table, nouns in held.items()
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
    """The unit of that name which `rows_of` took apart; of what two of its nouns hold, the first
    one has it. What its receipt alone tells is read from `receipt`.
    """
    tables = (kind.own_table or "", *rows)
    unit_row: Row = next((rows[table][0] for table in tables if rows.get(table)), {})
    unread = {table: sorted(table_rows, key=_position) for table, table_rows in rows.items()}
    inner = {
        part: noun_of(noun, _parts_of(kind, (part,), unread))
        if unit_row.get(f"{part}_requested")
        else None
        for part, noun in _inner(kind).items()
    }
    table_rows = inner | _parts_of(kind, (), unread)
    fields: Row = {kind.name_column: name}
    if receipt is not None:
        fields |= {column: getattr(receipt, column) for column, _ in _of_receipt(kind)}
    return noun_of(kind.noun, fields | unit_row | table_rows)


def _parts_of(kind: Kind, path: tuple[str, ...], unread: dict[str, list[Row]]) -> Row:
    """Return what the fields of a noun hold, by their rows, which are read with that."""
    values: Row = {}
    for part in kind.parts:
        if part.path and part.path[:-1] == path:
            recorders, rows = (None, _recorder(kind, part.path)), unread.get(part.table, [])
            unread[part.table] = [row for row in rows if row.get("recorded_by") not in recorders]
            nouns = tuple(
                noun_of(part.noun, row) for row in rows if row.get("recorded_by") in recorders
            )
            values[part.path[-1]] = next(iter(nouns), None) if part.single else nouns
    return values


def units_of(kind: Kind[UnitT, Any, Any], rows: Mapping[str, Sequence[Row]]) -> tuple[UnitT, ...]:
    """The units of one piece of work, by the rows of its tables, in the order of their names."""
    units: dict[str, dict[str, list[Row]]] = {}
    for table, table_rows in rows.items():
        for row in table_rows:
            name = row[kind.known_by if kind.known_by in row else "idea_id"]
            units.setdefault(name, {}).setdefault(table, []).append(row)
    return tuple(
        unit_of(kind, name, table_rows)
        for name, table_rows in sorted(units.items())
        if kind.own_table is None or kind.own_table in table_rows
    )


def land_unit(
    layout: Layout,
    kind: Kind[UnitT, ReceiptT, HeadT],
    run_id: RunId,
    unit: UnitT,
    started_at: datetime,
    finished_at: datetime,
) -> ReceiptT:
    """Write all that one unit gave. Afterwards it exists, or nothing has changed.

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
        | {name: told(unit, holder, name) for name, holder in _of_receipt(kind)}
    )
    return landing.land(layout, kind, rows_of(kind, run_id, unit), receipt)


def landed_unit(layout: Layout, kind: Kind[UnitT, ReceiptT, HeadT], *names: str) -> UnitT | None:
    """A unit as it landed, calls apart; None when it has not.

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
    """The fields that hold, or lack, a noun whose fields have tables."""
    unit: type[Noun] = kind.noun
    return {part.path[0]: nouns_in(unit)[part.path[0]] for part in kind.parts if part.path[1:]}


@cache
def _told(kind: Kind) -> tuple[tuple[str, str], ...]:
    """The columns that no noun of a row tells but the unit, each with the field that does."""
    columns = {
        column
        for table in map(TABLE.__getitem__, kind.tables)
        for column in table.column_names
        if holder_of(table.noun, column) is None
    }
    return tuple(_tell(kind.noun, columns - {"idea_id"}))


@cache
def _of_receipt(kind: Kind) -> tuple[tuple[str, str], ...]:
    """The fields of the receipt that the unit tells, not the numbers of its rows."""
    others = {"unit", "rows", "bytes", *(name for part in kind.parts for name in part.path[:1])}
    return tuple(_tell(kind.noun, kind.receipt.model_fields.keys() - others))


def _position(row: Row) -> int:
    return int(row.get("position", 0))


def _tell(noun: type[Noun], names: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(names):
        if (holder := holder_of(noun, name)) is not None:
            yield name, holder
