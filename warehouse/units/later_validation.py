"""Validation by Great Expectations of published works that it has not validated.

Small works are published after validation by Arrow and SQL. They are validated together as one
batch of rows, because the cost of a suite hardly depends on their number.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
from pydantic import Field

from schemas.base import Noun, replace
from schemas.boundary import error_line
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.run import ValidationRow
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection
from warehouse.lake import insert, rows_in, transaction
from warehouse.parquet import arrow_table
from warehouse.rows import noun_of, row_of
from warehouse.statements import table_statement
from warehouse.units.kind import Kind, published_names
from warehouse.validate.expectations import ExpectationResult, Tally
from warehouse.verify.verify_statistics import without_prose
from warehouse.warehouse import Warehouse

WORKS_TOGETHER = 50
_VALIDATIONS = TABLE["validations"]


class LaterValidation(Noun):
    validated: int = Field(default=0, ge=0, description="Runs, rankings and other works.")
    broken: tuple[str, ...] = Field(
        default=(), description="A line for each expectation that a work breaks."
    )
    failed: tuple[str, ...] = Field(
        default=(), description="A line for each work that could not be validated."
    )

    def __add__(self, other: "LaterValidation") -> "LaterValidation":
        return LaterValidation(
            validated=self.validated + other.validated,
            broken=(*self.broken, *other.broken),
            failed=(*self.failed, *other.failed),
        )


def validate_published(warehouse: Warehouse, kinds: Iterable[Kind]) -> LaterValidation:
    """Validate all published works of `kinds` that are still to be validated.

    The result includes critical expectations that were found broken earlier.

    Raises:
        UnknownNameError: there is no lake.
        TransientError: a publisher holds the lock.
    """
    with warehouse.reader() as connection:
        batches = [
            (kind, works[first : first + WORKS_TOGETHER])
            for kind in kinds
            for works in [unvalidated_works(connection, kind)]
            for first in range(0, len(works), WORKS_TOGETHER)
        ]
    total = LaterValidation()
    for kind, works in batches:  # one batch at a time, so that publishers do not wait for all
        with warehouse.publisher() as connection:
            open_works = set(unvalidated_works(connection, kind))
            total += _validate_apart(
                connection, kind, [names for names in works if names in open_works]
            )
    with warehouse.reader() as connection:
        broken_rows = rows_in(connection, table_statement("broken_published"))
        broken_lines = [_line(noun_of(ValidationRow, row)) for row in broken_rows]
    return replace(total, broken=tuple(dict.fromkeys((*total.broken, *broken_lines))))


def _validate_apart(
    connection: Connection, kind: Kind, works: Sequence[tuple[str, ...]]
) -> LaterValidation:
    """Validate works together, or one by one if that fails: one may be unreadable."""
    try:
        return validate_works(connection, kind, works)
    except (PublicationError, duckdb.Error) as error:
        if len(works) == 1:
            return LaterValidation(failed=(f"{kind.title(*works[0])}: {error_line(error)}",))
    return sum((_validate_apart(connection, kind, [names]) for names in works), LaterValidation())


def validate_works(
    connection: Connection, kind: Kind, works: Sequence[tuple[str, ...]]
) -> LaterValidation:
    """Validate some published works of a kind together, and record the results.

    Raises:
        PublicationError: an expectation could not be evaluated.
    """
    if not works:
        return LaterValidation()
    rows = _validation_rows(connection, kind, works)
    with transaction(connection, "the validation"):
        condition = kind.condition(_VALIDATIONS, several=True)
        sql = table_statement("delete_rows", table=_VALIDATIONS.name, condition=condition)
        connection.execute(sql, _parameters(kind, works))
        insert(
            connection,
            _VALIDATIONS,
            arrow_table(_VALIDATIONS, [row_of(_VALIDATIONS, row, {}) for row in rows]),
        )
    broken_lines = tuple(_line(row) for row in rows if not row.success)
    return LaterValidation(validated=len(works), broken=broken_lines)


def _line(row: ValidationRow) -> str:
    return f"{row.run_id}: {row.in_words}"


def unvalidated_works(connection: Connection, kind: Kind) -> list[tuple[str, ...]]:
    """Return the published works that Great Expectations has not validated."""
    validated_works = set(connection.execute(table_statement("validated_works")).fetchall())
    return [
        names
        for names in published_names(connection, kind)
        if (names[0], kind.parameters(*names).get("ranking_id")) not in validated_works
    ]


def _validation_rows(
    connection: Connection, kind: Kind, works: Sequence[tuple[str, ...]]
) -> list[ValidationRow]:
    """Return the rows of `validations` with the results of Great Expectations.

    Rows are read from the lake. For SQL rules the number of broken rows was recorded on
    publication.
    """
    from warehouse.validate.great_expectations import Suites  # import of three seconds

    condition = kind.condition(_VALIDATIONS, several=True)
    sql = table_statement("rows_of", table=_VALIDATIONS.name, condition=condition)
    recorded_rows = [
        noun_of(ValidationRow, row) for row in rows_in(connection, sql, _parameters(kind, works))
    ]
    suites = Suites(list(dict.fromkeys(kind.run_id(*names) for names in works)))
    for name in dict.fromkeys((*kind.tables, kind.head_table)):
        rows = _rows_of(connection, kind, TABLE[name], works)
        if len(rows):
            suites.add(TABLE[name], rows)
    rules = Tally()
    rules.add(_result_of(row) for row in recorded_rows)
    tally, now = suites.end(rules), datetime.now(UTC)
    if len(works) == 1:
        (names,) = works
        ranking_id = kind.parameters(*names).get("ranking_id")
        return list(tally.rows(kind.run_id(*names), now, ranking_id))
    # Repeat one by one, because the result would be recorded with every work.
    if any(result.unexpected_count for result in tally.by_place.values()):
        return [row for names in works for row in _validation_rows(connection, kind, [names])]
    return [
        replace(
            row,
            great_expectations=tally.by_place[_result_of(row).place].answers_as_json,
            created_at=now,
        )
        for row in recorded_rows
    ]


def _result_of(row: ValidationRow) -> ExpectationResult:
    return ExpectationResult(
        row.expectation,
        row.severity,
        row.table_name,
        row.column_name,
        row.evaluated_count,
        row.unexpected_count,
        (row.detail,) if row.detail else (),
    )


def _rows_of(
    connection: Connection, kind: Kind, table: Table, works: Sequence[tuple[str, ...]]
) -> pa.Table:
    sql = table_statement(
        "columns_of_works",
        columns=", ".join(without_prose(column) for column in table.columns),
        table=table.name,
        condition=kind.condition(table, several=True),
    )
    schema = pa.schema([field.with_nullable(True) for field in table.arrow_schema])
    return connection.execute(sql, _parameters(kind, works)).fetch_arrow_table().cast(schema)


def _parameters(kind: Kind, works: Sequence[tuple[str, ...]]) -> dict[str, list[str]]:
    return {
        name: list(values) for name, values in zip(kind.ids, zip(*works, strict=True), strict=True)
    }
