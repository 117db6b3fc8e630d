"""Audit: what is expected of all that landed, in chunks of units, so that memory does not grow with
the work.

Expectations on columns, keys and references derive from the table definitions. What else a reader
relies on across tables is a statement in `sql/<kind's checks>` that returns the rows breaking it;
the expectation is that it returns none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa

from schemas.base import Severity
from schemas.columns import Table
from schemas.literature.venue_months import LATEST_MONTHS
from schemas.tables import TABLE
from warehouse.answers import ValidationReport
from warehouse.catalogue.connection import in_memory, share_out
from warehouse.landed import read_landed
from warehouse.layout import Layout
from warehouse.statements import names, statement, table_statement
from warehouse.units.kind import HeadT, Kind, ReceiptT
from warehouse.units.landing import landed_files, loose_files
from warehouse.validate.expectations import hold
from warehouse.validate.violations import Tally, Violations

ROWS_PER_CHUNK = 120_000
_VENUE_MONTHS = "venue_months"


def validate(
    layout: Layout,
    kind: Kind[ReceiptT, HeadT],
    names: tuple[str, ...],
    receipts: Sequence[ReceiptT],
    head: pa.Table | None = None,
) -> ValidationReport:
    """Hold every expectation against the landed files of `receipts`, the loose files beside them
    and the row `head` of the work, where no unit lands it.

    Raises:
        PublicationError: files cannot be read as their tables, or an expectation could not be
            evaluated.
    """
    run_id = kind.run_id(*names)
    tally, rules = Tally(), rules_of(kind)
    with in_memory() as connection:
        for part in _chunks(receipts):
            chunk = {
                name: read_landed(
                    TABLE[name], landed_files(layout, kind, TABLE[name], part), prose=False
                )
                for name in kind.tables
            }
            for name, rows in chunk.items():
                tally.add(hold(TABLE[name], rows, run_id) if len(rows) else ())
            share_out(connection, sum(len(rows) for rows in chunk.values()))
            rules.judge(connection, chunk)
    for table, path in loose_files(layout, kind, *names):
        rows = read_landed(table, [path])
        tally.add(hold(table, rows, run_id) if len(rows) else ())
    if head is not None:
        tally.add(hold(TABLE[kind.head_table], head, run_id))
    broken = [*rules.violations, *kind.receipt_violations(receipts)]
    tally.add(counted.result() for counted in broken)
    ranking_id = kind.parameters(*names).get("ranking_id")
    return ValidationReport(run_id=run_id, rows=tally.rows(run_id, datetime.now(UTC), ranking_id))


def _chunks(receipts: Sequence[ReceiptT]) -> Iterator[list[ReceiptT]]:
    chunk: list[ReceiptT] = []
    size = 0
    for receipt in receipts:
        chunk.append(receipt)
        size += sum(receipt.rows.values())
        if size >= ROWS_PER_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _venue_months() -> pa.Table:
    """By whose end a venue's papers of a year were public, for rules about cutoff dates."""
    rows = [
        {"venue": venue, "year": year, "month": month}
        for (venue, year), month in LATEST_MONTHS.items()
    ]
    return pa.Table.from_pylist(rows)


@dataclass(frozen=True, slots=True)
class Rule:
    """`sql` returns the rows that break it; `about` is the table whose rows it judges.

    Attributes:
        needs_rows: whether an empty table cannot break it.
    """

    sql: str
    about: str
    violations: Violations
    needs_rows: bool = False


@dataclass(slots=True)
class Rules:
    """All rules, and what broke them so far. `tables` are those that a chunk holds."""

    rules: list[Rule]
    tables: tuple[Table, ...]

    @property
    def violations(self) -> list[Violations]:
        return [rule.violations for rule in self.rules]

    def judge(self, connection: duckdb.DuckDBPyConnection, chunk: dict[str, pa.Table]) -> None:
        """Count what breaks each rule in `chunk`, whose tables hold whole units.

        Of prose a chunk holds the first characters alone.
        """
        for table in self.tables:
            connection.register(table.name, chunk[table.name])
        connection.register(_VENUE_MONTHS, _venue_months())
        for rule in self.rules:
            if rule.needs_rows and not len(chunk[rule.about]):
                continue
            count = int(
                connection.execute(table_statement("count_broken", check=rule.sql)).fetchall()[0][0]
            )
            first = (
                connection.execute(table_statement("first_broken", check=rule.sql))
                if count
                else None
            )
            columns = [column[0] for column in first.description or ()] if first else []
            broken = (
                [dict(zip(columns, row, strict=True)) for row in first.fetchall()] if first else []
            )
            rule.violations.add(len(chunk[rule.about]), count, broken)
        for table in self.tables:
            connection.unregister(table.name)
        connection.unregister(_VENUE_MONTHS)


def rules_of(kind: Kind[Any, Any]) -> Rules:
    """The rules of a kind: references within its tables, and its statements."""
    tables = tuple(TABLE[name] for name in kind.tables)
    folder, about = kind.checks
    return Rules([*_references(tables), *_stated(folder, about)], tables)


def _references(tables: tuple[Table, ...]) -> list[Rule]:
    """Rows of an idea refer to rows of the same idea:
    they can be held where these land with them.
    """
    known = {table.name for table in tables}
    return [
        Rule(
            _dangling(table, column.name, column.references),
            table.name,
            Violations(
                f"refers_to_{column.references.replace('.', '_')}",
                column.reference_severity,
                table.name,
                column.name,
            ),
            needs_rows=True,
        )
        for table in tables
        for column in table.columns
        if column.references is not None
        and table.per_idea
        and column.references.partition(".")[0] in known
    ]


def _dangling(table: Table, column: str, reference: str) -> str:
    target, _, target_column = reference.partition(".")
    return table_statement(
        "dangling_references",
        table=table.name,
        column=column,
        target=target,
        target_column=target_column,
    )


def _stated(folder: str, about: str) -> list[Rule]:
    """The statements of `sql/<folder>`; rows judged are counted in the table `about`."""
    rules = []
    for name in names(folder):
        sql = statement(folder, name)
        severity = (
            Severity.CRITICAL if sql.startswith("-- severity: critical\n") else Severity.WARNING
        )
        rules.append(Rule(sql, about, Violations(name, severity)))
    return rules
