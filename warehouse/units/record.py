"""Units of work, each one noun: taken apart into tables to be landed, put together again when they
are read. Needs no database, so workers can land.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar, get_args, get_origin

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


@dataclass(frozen=True, slots=True)
class Part:
    """A field that holds one noun or many, and the table of their rows.

    Attributes:
        name: of the field.
        single: whether it holds one noun, or None.
    """

    name: str
    table: str
    noun: type[Noun]
    single: bool

    def of(self, rows: Mapping[str, Sequence[Row]]) -> Any:
        """What the field holds, by its rows."""
        nouns = tuple(noun_of(self.noun, row) for row in rows.get(self.table, ()))
        return (nouns[0] if nouns else None) if self.single else nouns


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
        beside: fields whose rows another field completes: that other field, and what the nouns of
            both are matched by.
    """

    kind: Kind[ReceiptT, HeadT]
    noun: type[UnitT]
    recorded_by: str = ""
    reasons: Callable[[UnitT], Iterable[Reason | None]] = _no_reasons
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def name_column(self) -> str:
        """The column of its tables that names the unit, or the work that is one unit."""
        return self.kind.unit[1] if self.kind.unit is not None else self.kind.ids[-1]

    @property
    def own_table(self) -> str | None:
        """The table with one row for each unit; None where a unit is no more than its parts."""
        return next((name for name in self.kind.tables if TABLE[name].noun is self.noun), None)

    def rows_of(self, run_id: RunId, unit: UnitT) -> Rows:
        """Every row of a unit by table name; tables without rows are left out."""
        name = getattr(unit, self.name_column)
        known: Row = {"idea_id": name, "recorded_by": self.recorded_by, "run_id": run_id}
        known |= {column: told(unit, holder, column) for column, holder in _told(self)}
        held = {} if self.own_table is None else {self.own_table: [(unit, Row())]}
        completing = {part for part, _ in self.beside.values()}
        for part in _parts(self):
            if part.name not in completing:
                held[part.table] = self._completed(unit, part)
        return {
            table: [
                row_of(TABLE[table], noun, known | beside | {"position": position})
                for position, (noun, beside) in enumerate(found)
            ]
            for table, found in held.items()
            if found
        }

    def _completed(self, unit: UnitT, part: Part) -> list[tuple[Any, Row]]:
        value = getattr(unit, part.name)
        nouns = value if not part.single else (value,) if value is not None else ()
        if part.name not in self.beside:
            return [(noun, {}) for noun in nouns]
        completing, key = self.beside[part.name]
        beside = {getattr(each, key): each.model_dump() for each in getattr(unit, completing)}
        return [(noun, beside[getattr(noun, key)]) for noun in nouns]

    def unit_of(self, name: str, rows: Mapping[str, Sequence[Row]]) -> UnitT:
        """The unit of that name which `rows_of` took apart.

        Args:
            rows: by table name, each table's in order.
        """
        parts = _parts(self)
        tables = [self.own_table or "", *(part.table for part in parts if part.single), *rows]
        own = next((rows[table][0] for table in tables if rows.get(table)), {})
        found = {part.name: part.of(rows) for part in parts}
        return noun_of(self.noun, {self.name_column: name} | own | found)

    def units_of(self, rows: Mapping[str, Sequence[Row]]) -> tuple[UnitT, ...]:
        """The units that `rows_of` took apart, in the order of their names.

        Args:
            rows: of one piece of work by table name, each table's in order.
        """
        units: dict[str, dict[str, list[Row]]] = {}
        for table, found in rows.items():
            for row in found:
                # Calls and failures know a unit as they would know an idea.
                name = row[self.name_column if self.name_column in row else "idea_id"]
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
    return record.unit_of(names[-1], landing.landed_rows(layout, record.kind, receipt))


@cache
def _parts(record: UnitRecord[Any, Any, Any]) -> tuple[Part, ...]:
    tables = {TABLE[name].noun: name for name in record.kind.tables}
    unit: type[Noun] = record.noun
    parts = {}
    for name, info in unit.model_fields.items():
        many = get_origin(info.annotation) is tuple
        noun = get_args(info.annotation)[0] if many else nouns_in(unit).get(name)
        if noun in tables:
            table = name if name in record.kind.tables else tables[noun]
            parts[name] = Part(name, table, noun, single=not many)
    for completed, (name, _) in record.beside.items():
        noun = get_args(unit.model_fields[name].annotation)[0]
        parts[name] = Part(name, parts[completed].table, noun, single=False)
    return tuple(parts.values())


@cache
def _told(record: UnitRecord[Any, Any, Any]) -> tuple[tuple[str, str], ...]:
    """The columns that no noun of a row tells but the unit, each with the field that does."""
    columns = {
        column
        for table in map(TABLE.__getitem__, record.kind.tables)
        for column in table.column_names
        if holder_of(table.noun, column) is None
    }
    return tuple(_tell(record.noun, columns))


@cache
def _of_receipt(record: UnitRecord[Any, Any, Any]) -> tuple[tuple[str, str], ...]:
    """The fields of the receipt that the unit tells."""
    parts = {part.name for part in _parts(record)}
    return tuple(_tell(record.noun, record.kind.receipt.model_fields.keys() - parts))


def _tell(noun: type[Noun], names: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(names):
        if (holder := holder_of(noun, name)) is not None:
            yield name, holder
