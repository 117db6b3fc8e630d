"""Expectations derived from table definitions, and their evaluation with Arrow.

Arrow takes milliseconds and rejects broken rows, including NaN. Great Expectations
(`warehouse/validate/great_expectations.py`) evaluates the same expectations on accepted rows.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from schemas.base import Severity
from schemas.columns import Column, ColumnType, Table
from schemas.formats import EARLIEST_DAY, EARLIEST_MOMENT, LATEST_MOMENT
from schemas.identifiers import RunId
from schemas.run import ValidationRow

EXAMPLES = 5
_EXAMPLE_CHARACTERS = 200
MOMENT = pa.timestamp("us", tz="UTC")
_INTERVALS = (("started_at", "finished_at"), ("offered_at", "voted_at"))
_EARLIEST = {ColumnType.DATE: EARLIEST_DAY, ColumnType.TIMESTAMP: EARLIEST_MOMENT}


class Expects(StrEnum):
    """Kinds of expectations, by their names in Great Expectations."""

    IN_SET = "expect_column_values_to_be_in_set"
    NOT_NULL = "expect_column_values_to_not_be_null"
    BETWEEN = "expect_column_values_to_be_between"
    NOT_EMPTY = "expect_column_value_lengths_to_be_between"
    MATCHES = "expect_column_values_to_match_regex"
    IN_ORDER = "expect_column_pair_values_a_to_be_greater_than_b"
    UNIQUE = "expect_column_values_to_be_unique"
    COMPOUND_UNIQUE = "expect_compound_columns_to_be_unique"


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """Result of one expectation over a batch of rows.

    Attributes:
        table_name, column_name: empty for several tables, or for a whole table.
        answers: results of Great Expectations; empty: Arrow or SQL decided.
    """

    expectation: str
    severity: Severity
    table_name: str = ""
    column_name: str = ""
    evaluated_count: int = 0
    unexpected_count: int = 0
    examples: tuple[str, ...] = ()
    answers: tuple[Mapping[str, Any], ...] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        return self.expectation, self.table_name, self.column_name

    @property
    def answers_as_json(self) -> str | None:
        """Value of `validations.great_expectations`."""
        return orjson.dumps(self.answers).decode() if self.answers else None


@dataclass(slots=True)
class Tally:
    """Sums of results by expectation."""

    by_place: dict[tuple[str, str, str], ExpectationResult] = field(default_factory=dict)

    def add(self, results: Iterable[ExpectationResult]) -> None:
        for result in results:
            previous = self.by_place.get(result.place)
            self.by_place[result.place] = result if previous is None else _sum(previous, result)

    @property
    def passed(self) -> bool:
        return not any(
            result.unexpected_count and result.severity is Severity.CRITICAL
            for result in self.by_place.values()
        )

    def rows(
        self, run_id: RunId, created_at: datetime, ranking_id: str | None = None
    ) -> tuple[ValidationRow, ...]:
        return tuple(
            ValidationRow(
                run_id=run_id,
                expectation=result.expectation,
                table_name=result.table_name,
                column_name=result.column_name,
                severity=result.severity,
                success=result.unexpected_count == 0,
                evaluated_count=result.evaluated_count,
                unexpected_count=result.unexpected_count,
                detail="; ".join(result.examples),
                ranking_id=ranking_id,
                great_expectations=result.answers_as_json,
                created_at=created_at,
            )
            for result in self.by_place.values()
        )


def _sum(one: ExpectationResult, other: ExpectationResult) -> ExpectationResult:
    return ExpectationResult(
        one.expectation,
        one.severity,
        one.table_name,
        one.column_name,
        one.evaluated_count + other.evaluated_count,
        one.unexpected_count + other.unexpected_count,
        (one.examples + other.examples)[:EXAMPLES],
        one.answers + other.answers,
    )


def examples_of(values: Iterable[object]) -> tuple[str, ...]:
    """Return the first few broken values or rows, a line each; long ones are cut."""
    return tuple(_example(value) for value, _ in zip(values, range(EXAMPLES), strict=False))


def _example(value: object) -> str:
    text = (
        ", ".join(f"{name}={content}" for name, content in value.items())
        if isinstance(value, Mapping)
        else str(value)
    )
    return text if len(text) <= _EXAMPLE_CHARACTERS else text[:_EXAMPLE_CHARACTERS] + "…"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation on the rows of a table.

    Attributes:
        columns: of a pair in order, the earlier one first.
        minimum, maximum: inclusive; None: any finite value.
        pattern: regular expression that non-empty text must match at its start.
    """

    kind: Expects
    columns: tuple[str, ...]
    severity: Severity = Severity.CRITICAL
    allowed: tuple[str, ...] = ()
    minimum: float | datetime | None = None
    maximum: float | datetime | None = None
    pattern: str = ""

    @property
    def column_name(self) -> str:
        return ", ".join(self.columns)

    @property
    def expression(self) -> str:
        """Regular expression for text that is empty or starts with `pattern`."""
        return f"^(?:$|{self.pattern})"

    @property
    def looks_at_values(self) -> bool:
        """Return whether it depends on values, not only on NULL."""
        return self.kind is not Expects.NOT_NULL

    def result(
        self,
        table: Table,
        row_count: int,
        broken_count: int,
        examples: tuple[str, ...],
        answers: tuple[Mapping[str, Any], ...] = (),
    ) -> ExpectationResult:
        return ExpectationResult(
            self.kind,
            self.severity,
            table.name,
            self.column_name,
            row_count,
            broken_count,
            examples,
            answers,
        )


def expectations_of(table: Table, *run_ids: RunId) -> Iterator[Expectation]:
    """Yield every expectation that a table definition implies, for rows of these runs."""
    yield Expectation(Expects.IN_SET, ("run_id",), allowed=run_ids)
    for column in table.columns:
        name = (column.name,)
        if not column.nullable:
            yield Expectation(Expects.NOT_NULL, name)
        if column.allowed:
            yield Expectation(
                Expects.IN_SET, name, allowed=tuple(str(word) for word in column.allowed)
            )
    yield from expectations_of_values(table)
    kind = Expects.UNIQUE if len(table.key) == 1 else Expects.COMPOUND_UNIQUE
    yield Expectation(kind, tuple(table.key))


def expectations_of_values(table: Table) -> Iterator[Expectation]:
    """Yield the expectations on single values and on pairs of them.

    `verify` evaluates them on the rows of the lake too.
    """
    for column in table.columns:
        yield from _value_expectations(column)
    for pair in _INTERVALS:
        if set(pair) <= set(table.column_names):
            yield Expectation(Expects.IN_ORDER, pair)


def _value_expectations(column: Column) -> Iterator[Expectation]:
    name = (column.name,)
    if column.type in _EARLIEST:
        yield Expectation(
            Expects.BETWEEN, name, minimum=_EARLIEST[column.type], maximum=LATEST_MOMENT
        )
    elif column.type is ColumnType.FLOAT:
        minimum, maximum = column.minimum, column.maximum
        yield Expectation(
            Expects.BETWEEN,
            name,
            minimum=-sys.float_info.max if minimum is None else minimum,
            maximum=sys.float_info.max if maximum is None else maximum,
        )
    elif column.minimum is not None or column.maximum is not None:
        yield Expectation(Expects.BETWEEN, name, minimum=column.minimum, maximum=column.maximum)
    if not column.may_be_empty:
        yield Expectation(Expects.NOT_EMPTY, name, minimum=1)
    if column.pattern is not None:
        yield Expectation(Expects.MATCHES, name, pattern=column.pattern)


def evaluate_table(table: Table, rows: pa.Table, run_id: RunId) -> Iterator[ExpectationResult]:
    for expectation in expectations_of(table, run_id):
        broken_table = broken_rows(expectation, rows)
        first = broken_table.slice(0, EXAMPLES).to_pylist() if len(broken_table) else []
        values = (
            first if len(expectation.columns) > 1 else (next(iter(row.values())) for row in first)
        )
        yield expectation.result(table, len(rows), len(broken_table), examples_of(values))


def broken_rows(expectation: Expectation, rows: pa.Table) -> pa.Table:
    """Return the rows that break an expectation, with its columns; repeated keys once."""
    values = rows.select(expectation.columns)
    if expectation.kind in (Expects.UNIQUE, Expects.COMPOUND_UNIQUE):
        return _repeated_keys(values)
    return values.filter(breaks(expectation, rows))


def breaks(expectation: Expectation, rows: pa.Table) -> pa.ChunkedArray:
    """Return whether each row breaks an expectation on values; NULL without a value."""
    values = rows.column(expectation.columns[0])
    match expectation.kind:
        case Expects.NOT_NULL:
            return values.is_null()
        case Expects.IN_SET:
            allowed_values = pa.array(expectation.allowed, values.type)
            return pc.and_(values.is_valid(), pc.invert(pc.is_in(values, allowed_values)))
        case Expects.NOT_EMPTY:
            return pc.equal(values, "")
        case Expects.MATCHES:
            return pc.invert(pc.match_substring_regex(values, expectation.expression))
        case Expects.IN_ORDER:
            return pc.greater(values, rows.column(expectation.columns[1]))
        case _:
            return _is_outside(values, expectation)


def _repeated_keys(keys: pa.Table) -> pa.Table:
    counts = keys.group_by(keys.column_names).aggregate([([], "count_all")])
    if len(counts) == len(keys):
        return keys.slice(0, 0)
    return counts.filter(pc.greater(counts["count_all"], 1)).select(keys.column_names)


def _is_outside(values: pa.ChunkedArray, expectation: Expectation) -> pa.ChunkedArray:
    """Return whether values are out of bounds: NaN and infinity are, NULL is NULL."""
    if pa.types.is_date(values.type):
        values = values.cast(MOMENT)
    bounds = (
        (pc.less, expectation.minimum),
        (pc.greater, expectation.maximum),
    )
    masks = [
        is_outside(values, pa.scalar(bound, values.type))
        for is_outside, bound in bounds
        if bound is not None
    ]
    if pa.types.is_floating(values.type):
        masks.append(pc.is_nan(values))
    is_outside = masks[0]
    for mask in masks[1:]:
        is_outside = pc.or_(is_outside, mask)
    return is_outside
