"""Units of work, each one noun: taken apart into tables to be landed, put together again when they
are read. Needs no database, so workers can land.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_origin

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.reasons import Reason, first_that_may_pass
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, holder_of, noun_of, nouns_in, row_of, told
from warehouse.units import landing
from warehouse.units.kind import HeadT, Kind, ReceiptT

UnitT = TypeVar("UnitT", bound=Noun)


def _no_reasons(_: object) -> Iterable[Reason | None]:
    return ()


class Part(NamedTuple):
    """A field that holds one noun or many, or the unit itself, and the table of their rows.

    Attributes:
        path: the field, behind the one that holds the noun whose field it is; empty: the unit.
        single: whether it holds one noun, or None.
        shared: whether other fields have rows in the table too.
    """

    path: tuple[str, ...]
    table: str
    noun: type[Noun]
    single: bool
    shared: bool = False

    def nouns(self, unit: Noun) -> Sequence[Noun]:
        held: Any = unit
        for name in self.path:
            held = getattr(held, name) if held is not None else None
        if held is None:
            return ()
        return (held,) if self.single else held


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitRecord(Generic[UnitT, ReceiptT, HeadT]):
    """How a kind's unit, which is one noun, lies in the kind's tables.

    The table whose rows are nouns of the unit's own type holds the unit; every other one holds the
    field that is called like it, or whose nouns are of the type of its rows. What the noun of a row
    does not tell is told by the unit, and so is what a receipt holds.

    Attributes:
        noun: what a unit is.
        recorded_by: who wrote down its failures, as `failures.recorded_by` says.
        reasons: why parts of it have no answer; one that may pass leaves the unit to be done again.
            Of units that have no `incomplete_reason` of their own.
    """

    kind: Kind[ReceiptT, HeadT]
    noun: type[UnitT]
    recorded_by: str = ""
    reasons: Callable[[UnitT], Iterable[Reason | None]] = _no_reasons

    @property
    def name_column(self) -> str:
        """The column of its tables that names the unit, or the work that is one unit."""
        return self.kind.unit[1] if self.kind.unit is not None else self.kind.ids[-1]

    @property
    def own_table(self) -> str | None:
        """The table with one row for each unit; None where a unit is no more than its parts."""
        single = (part.table for part in self.parts if part.single and not part.path[1:])
        return next(single, None)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The unit, and every field of it and of the nouns it holds, as far as it has a table."""
        return _parts(self)

    def rows_of(self, run_id: RunId, unit: UnitT) -> Rows:
        """Every row of a unit by table name; tables without rows are left out."""
        # Calls and failures know a unit as they would know an idea.
        name = told(unit, holder_of(self.noun, self._known_by) or "", self._known_by)
        known: Row = {"run_id": run_id, "idea_id": name}
        known |= {column: told(unit, holder, column) for column, holder in _told(self)}
        known |= {f"{part}_requested": getattr(unit, part) is not None for part in _inner(self)}
        held: dict[str, list[tuple[Noun, str]]] = {}
        for part in self.parts:
            rows = held.setdefault(part.table, [])
            for noun in part.nouns(unit):
                # What two of them hold, such as a failure, is one row.
                if not (part.shared and any(noun == other for other, _ in rows)):
                    rows.append((noun, self._recorder(part.path)))
        return {
            table: [
                row_of(TABLE[table], noun, known | {"position": place, "recorded_by": recorder})
                for place, (noun, recorder) in enumerate(found)
            ]
            for table, found in held.items()
            if found
        }

    @property
    def _known_by(self) -> str:
        return self.kind.unit_column or self.name_column

    def _recorder(self, path: tuple[str, ...]) -> str:
        return path[0] if len(path) > 1 else self.recorded_by

    def unit_of(
        self, name: str, rows: Mapping[str, Sequence[Row]], receipt: ReceiptT | None = None
    ) -> UnitT:
        """The unit of that name which `rows_of` took apart; of what two of its nouns hold, the
        first one has it. What its receipt alone tells is read from `receipt`.
        """
        tables = (self.own_table or "", *rows)
        own: Row = next((rows[table][0] for table in tables if rows.get(table)), {})
        unread = {table: sorted(found, key=_position) for table, found in rows.items()}
        inner = {
            part: noun_of(noun, self._parts_of((part,), unread))
            if own.get(f"{part}_requested")
            else None
            for part, noun in _inner(self).items()
        }
        found = inner | self._parts_of((), unread)
        known: Row = {self.name_column: name}
        if receipt is not None:
            known |= {column: getattr(receipt, column) for column, _ in _of_receipt(self)}
        return noun_of(self.noun, known | own | found)

    def _parts_of(self, path: tuple[str, ...], unread: dict[str, list[Row]]) -> Row:
        """What the fields of a noun hold, by their rows, which are read with that."""
        values: Row = {}
        for part in self.parts:
            if part.path and part.path[:-1] == path:
                recorders, rows = (None, self._recorder(part.path)), unread.get(part.table, [])
                unread[part.table] = [
                    row for row in rows if row.get("recorded_by") not in recorders
                ]
                nouns = tuple(
                    noun_of(part.noun, row) for row in rows if row.get("recorded_by") in recorders
                )
                values[part.path[-1]] = next(iter(nouns), None) if part.single else nouns
        return values

    def units_of(self, rows: Mapping[str, Sequence[Row]]) -> tuple[UnitT, ...]:
        """The units of one piece of work, by the rows of its tables, in the order of their names."""
        units: dict[str, dict[str, list[Row]]] = {}
        for table, found in rows.items():
            for row in found:
                name = row[self._known_by if self._known_by in row else "idea_id"]
                units.setdefault(name, {}).setdefault(table, []).append(row)
        return tuple(
            self.unit_of(name, found)
            for name, found in sorted(units.items())
            if self.own_table is None or self.own_table in found
        )


def land_unit(
    layout: Layout,
    record: UnitRecord[UnitT, ReceiptT, HeadT],
    run_id: RunId,
    unit: UnitT,
    started_at: datetime,
    finished_at: datetime,
) -> ReceiptT:
    """Write all that one unit gave. Afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    kind = record.kind
    receipt = kind.receipt.model_validate(
        {
            "run_id": run_id,
            "unit": getattr(unit, record.name_column) if kind.unit is not None else "",
            "incomplete_reason": first_that_may_pass(record.reasons(unit)),
            "started_at": started_at,
            "finished_at": finished_at,
        }
        | {name: told(unit, holder, name) for name, holder in _of_receipt(record)}
    )
    return landing.land(layout, kind, record.rows_of(run_id, unit), receipt)


def landed_unit(
    layout: Layout, record: UnitRecord[UnitT, ReceiptT, HeadT], *names: str
) -> UnitT | None:
    """A unit as it landed, calls apart; None when it has not.

    Raises:
        ConfigurationError: as `read_receipt`.
        PublicationError: a file is missing or unreadable.
    """
    receipt = landing.read_receipt(layout, record.kind, *names)
    if receipt is None:
        return None
    return record.unit_of(names[-1], landing.landed_rows(layout, record.kind, receipt), receipt)


@cache
def _parts(record: UnitRecord[Any, Any, Any]) -> tuple[Part, ...]:
    found = tuple(_within(record.noun, record.kind.tables, ()))
    shared = Counter(part.table for part in found)
    return tuple(part._replace(shared=shared[part.table] > 1) for part in found)


def _within(noun: type[Noun], names: Sequence[str], path: tuple[str, ...]) -> Iterator[Part]:
    tables = {TABLE[name].noun: name for name in names}
    if noun in tables:
        yield Part(path, tables[noun], noun, single=True)
    for name, info in noun.model_fields.items():
        many = get_origin(info.annotation) is tuple
        inner = get_args(info.annotation)[0] if many else nouns_in(noun).get(name)
        if many and inner in tables:
            table = name if name in names and TABLE[name].noun is inner else tables[inner]
            yield Part((*path, name), table, inner, single=False)
        elif inner is not None and not many:
            yield from _within(inner, names, (*path, name))


@cache
def _inner(record: UnitRecord[Any, Any, Any]) -> dict[str, type[Noun]]:
    """The fields that hold, or lack, a noun whose fields have tables."""
    unit: type[Noun] = record.noun
    return {part.path[0]: nouns_in(unit)[part.path[0]] for part in record.parts if part.path[1:]}


@cache
def _told(record: UnitRecord[Any, Any, Any]) -> tuple[tuple[str, str], ...]:
    """The columns that no noun of a row tells but the unit, each with the field that does."""
    columns = {
        column
        for table in map(TABLE.__getitem__, record.kind.tables)
        for column in table.column_names
        if holder_of(table.noun, column) is None
    }
    return tuple(_tell(record.noun, columns - {"idea_id"}))


@cache
def _of_receipt(record: UnitRecord[Any, Any, Any]) -> tuple[tuple[str, str], ...]:
    """The fields of the receipt that the unit tells, not the numbers of its rows."""
    others = {"unit", "rows", "bytes", *(name for part in record.parts for name in part.path[:1])}
    return tuple(_tell(record.noun, record.kind.receipt.model_fields.keys() - others))


def _position(row: Row) -> int:
    return int(row.get("position", 0))


def _tell(noun: type[Noun], names: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(names):
        if (holder := holder_of(noun, name)) is not None:
            yield name, holder
