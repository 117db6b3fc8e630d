"""Units that are one noun each, such as a surveyed question: taken apart into tables to be landed,
put together again when they are read. Needs no database, so workers can land.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, get_args, get_origin

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.reasons import Reason, first_that_may_pass
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, noun_of, row_of
from warehouse.units import landing
from warehouse.units.kind import HeadT, Kind, ReceiptT

UnitT = TypeVar("UnitT", bound=Noun)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitRecord(Generic[UnitT, ReceiptT, HeadT]):
    """How a kind's unit, which is one noun, lies in the kind's tables.

    The table whose rows are nouns of the unit's own type holds the unit; every other one holds the
    field whose nouns are of the type of its rows.

    Attributes:
        noun: what a unit is.
        recorded_by: who wrote down its failures, as `failures.recorded_by` says.
        reasons: why parts of it have no answer; one that may pass leaves the unit to be done again.
        beside: fields whose rows another field completes: that other field, and what the nouns of
            both are matched by.
    """

    kind: Kind[ReceiptT, HeadT]
    noun: type[UnitT]
    recorded_by: str
    reasons: Callable[[UnitT], Iterable[Reason | None]]
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def name_column(self) -> str:
        """The field of the unit, and the column of its tables, that names it."""
        assert self.kind.unit is not None
        return self.kind.unit[1]

    @property
    def own_table(self) -> str | None:
        """The table with one row for each unit; None where a unit is no more than its parts."""
        return next((name for name in self.kind.tables if TABLE[name].noun is self.noun), None)

    @property
    def parts(self) -> dict[str, tuple[str, type[Noun]]]:
        """Table, and type of the nouns, of every field that holds many."""
        table_of = {TABLE[name].noun: name for name in self.kind.tables}
        many = {
            name: get_args(info.annotation)[0]
            for name, info in self.noun.model_fields.items()
            if get_origin(info.annotation) is tuple
        }
        found = {name: (table_of[noun], noun) for name, noun in many.items() if noun in table_of}
        for completed, (name, _) in self.beside.items():
            found[name] = found[completed][0], many[name]
        return found

    def rows_of(self, run_id: RunId, unit: UnitT) -> Rows:
        """Every row of a unit by table name; tables without rows are left out."""
        name = getattr(unit, self.name_column)
        known: Row = {
            "run_id": run_id,
            self.name_column: name,
            "idea_id": name,
            "recorded_by": self.recorded_by,
        }
        held = {} if self.own_table is None else {self.own_table: [(unit, Row())]}
        completing = {part for part, _ in self.beside.values()}
        for part, (table, _) in self.parts.items():
            if part not in completing:
                held[table] = self._completed(unit, part)
        return {
            table: [
                row_of(TABLE[table], noun, known | beside | {"position": position})
                for position, (noun, beside) in enumerate(found)
            ]
            for table, found in held.items()
            if found
        }

    def _completed(self, unit: UnitT, part: str) -> list[tuple[Any, Row]]:
        nouns = getattr(unit, part)
        if part not in self.beside:
            return [(noun, {}) for noun in nouns]
        completing, key = self.beside[part]
        beside = {getattr(each, key): each.model_dump() for each in getattr(unit, completing)}
        return [(noun, beside[getattr(noun, key)]) for noun in nouns]

    def units_of(self, rows: Mapping[str, Sequence[Row]]) -> tuple[UnitT, ...]:
        """The units that `rows_of` took apart, calls apart, in the order of their names.

        Args:
            rows: of one piece of work by table name, each table's in order.
        """
        column = self.name_column
        held = {table: _by_unit(found, column) for table, found in rows.items()}
        own = {} if self.own_table is None else held[self.own_table]
        names = own or {name for found in held.values() for name in found}
        return tuple(
            noun_of(
                self.noun,
                {column: name}
                | (own[name][0] if own else {})
                | {
                    part: tuple(noun_of(noun, row) for row in held.get(table, {}).get(name, ()))
                    for part, (table, noun) in self.parts.items()
                },
            )
            for name in sorted(names)
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
    told = {
        "run_id": run_id,
        "unit": getattr(unit, record.name_column),
        "incomplete_reason": first_that_may_pass(record.reasons(unit)),
        "started_at": started_at,
        "finished_at": finished_at,
    }
    receipt = record.kind.receipt.model_validate(told)
    return landing.land(layout, record.kind, record.rows_of(run_id, unit), receipt)


def _by_unit(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    """Calls and failures know a unit as they would know an idea."""
    held: dict[str, list[Row]] = {}
    for row in rows:
        held.setdefault(row[column if column in row else "idea_id"], []).append(row)
    return held
