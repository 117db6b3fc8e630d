"""What the definition of a table expects of its rows.

Most of it Arrow knows of each column at once. Great Expectations, which takes seconds to import and
milliseconds for every question, is asked about what is left in doubt.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

from schemas.base import Severity
from schemas.columns import Table
from schemas.identifiers import RunId
from warehouse.violations import ExpectationResult


class Expects(StrEnum):
    """Kinds of expectations, by the names that Great Expectations has for them."""

    IN_SET = "expect_column_values_to_be_in_set"
    NOT_NULL = "expect_column_values_to_not_be_null"
    BETWEEN = "expect_column_values_to_be_between"
    UNIQUE = "expect_column_values_to_be_unique"
    COMPOUND_UNIQUE = "expect_compound_columns_to_be_unique"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that is expected of the rows of a table."""

    kind: Expects
    columns: tuple[str, ...]
    severity: Severity = Severity.CRITICAL
    allowed: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def column_name(self) -> str:
        return ", ".join(self.columns)

    @property
    def looks_at_values(self) -> bool:
        """Or only at whether there are any."""
        return self.kind is not Expects.NOT_NULL

    def result(
        self, table: Table, row_count: int, broken_count: int = 0, examples: tuple[str, ...] = ()
    ) -> ExpectationResult:
        return ExpectationResult(
            expectation=self.kind,
            table_name=table.name,
            column_name=self.column_name,
            severity=self.severity,
            evaluated_count=row_count,
            unexpected_count=broken_count,
            examples=examples,
        )


def expectations_of(table: Table, run_id: RunId) -> Iterator[Expectation]:
    """Every expectation the definition of `table` implies; all are critical, but for keys marked
    otherwise.
    """
    yield Expectation(Expects.IN_SET, ("run_id",), allowed=(run_id,))
    for column in table.columns:
        name = (column.name,)
        if not column.nullable:
            yield Expectation(Expects.NOT_NULL, name)
        if column.minimum is not None or column.maximum is not None:
            yield Expectation(Expects.BETWEEN, name, minimum=column.minimum, maximum=column.maximum)
        if column.allowed:
            yield Expectation(
                Expects.IN_SET, name, allowed=tuple(str(word) for word in column.allowed)
            )
    kind = Expects.UNIQUE if len(table.key) == 1 else Expects.COMPOUND_UNIQUE
    yield Expectation(kind, tuple(table.key), table.key_severity)


def hold(table: Table, rows: pa.Table, run_id: RunId) -> Iterator[ExpectationResult]:
    """Hold what `table` says about its columns and key against `rows`.

    Raises:
        PublicationError: an expectation could not be evaluated.
    """
    doubted = []
    for expectation in expectations_of(table, run_id):
        if surely_holds(expectation, rows):
            yield expectation.result(table, len(rows))
        else:
            doubted.append(expectation)
    if doubted:
        from warehouse.great_expectations import ask

        yield from ask(table, rows, doubted)


def surely_holds(expectation: Expectation, rows: pa.Table) -> bool:
    """Whether no row breaks it. False: some do, or it takes Great Expectations to tell."""
    if len(expectation.columns) > 1:
        return _are_distinct(rows, expectation.columns)
    (name,) = expectation.columns
    values = rows.column(name)
    match expectation.kind:
        case Expects.NOT_NULL:
            return bool(values.null_count == 0)
        case Expects.IN_SET:
            found = pc.unique(values).drop_null().to_pylist()
            return set(found) <= set(expectation.allowed)
        case Expects.BETWEEN:
            return _are_between(values, expectation)
        case _:
            return _are_distinct(rows, expectation.columns)


def _are_distinct(rows: pa.Table, names: tuple[str, ...]) -> bool:
    distinct = rows.select(names).group_by(list(names)).aggregate([])
    return len(distinct) == len(rows)


def _are_between(values: pa.ChunkedArray, expectation: Expectation) -> bool:
    """NaN lies nowhere: of a column that holds one, nothing is sure."""
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        return False
    ends = pc.min_max(values)
    least, most = ends["min"].as_py(), ends["max"].as_py()
    if least is None:
        return True
    low = -math.inf if expectation.minimum is None else expectation.minimum
    high = math.inf if expectation.maximum is None else expectation.maximum
    return bool(low <= least and most <= high)
