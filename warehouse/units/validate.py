"""Validation of landed rows, in chunks of units to bound memory.

Expectations on columns, keys and references derive from the table definitions. Rules across tables
are statements in `sql/<kind>_checks` that return the rows breaking them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from schemas.base import Severity
from schemas.columns import Table
from schemas.literature.venue_months import LATEST_MONTHS
from schemas.run import HANDFUL
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection, in_memory, share_out
from warehouse.lake import rows_in
from warehouse.layout import Layout
from warehouse.parquet import read_landed
from warehouse.row_models import ValidationReport
from warehouse.rows import Row
from warehouse.statements import names, statement, table_statement
from warehouse.units.kind import Kind, ReceiptT
from warehouse.units.landing import extra_row_files, landed_files
from warehouse.validate.expectations import ExpectationResult, Tally, evaluate_table, examples_of

if TYPE_CHECKING:  # import of three seconds
    from warehouse.validate.great_expectations import Suites

ROWS_PER_CHUNK = 100_000


def validate(
    layout: Layout,
    kind: Kind[Any, ReceiptT],
    names: tuple[str, ...],
    receipts: Sequence[ReceiptT],
    head: pa.Table,
) -> ValidationReport:
    """Validate the landed files of `receipts`, rows outside units, and the head.

    Arrow and SQL decide first. For more than a few units, Great Expectations then evaluates the
    rows that they accept.

    Raises:
        PublicationError: files do not fit their tables, or an expectation could not be evaluated.
    """
    run_id = kind.run_id(*names)
    tally = Tally()
    suites: Suites | None = None
    if len(receipts) > HANDFUL:
        from warehouse.validate import great_expectations  # import of three seconds

        suites = great_expectations.Suites([run_id])

    def look_at(table: Table, rows: pa.Table) -> None:
        if len(rows):
            tally.add(evaluate_table(table, rows, run_id))
            if suites is not None and tally.passed:
                suites.add(table, rows)

    with in_memory() as connection:
        rules = rules_of(kind)
        for part in _chunks(receipts):
            chunk = {
                name: read_landed(
                    TABLE[name], landed_files(layout, kind, TABLE[name], part), prose=False
                )
                for name in kind.tables
            }
            for name, rows in chunk.items():
                look_at(TABLE[name], rows)
            share_out(connection, sum(len(rows) for rows in chunk.values()))
            tally.add(evaluate_rules(connection, rules, chunk))
    for table, path in extra_row_files(layout, kind, *names):
        look_at(table, read_landed(table, [path], prose=False))
    look_at(TABLE[kind.head_table], head)
    tally.add(_uniqueness(kind, receipts))
    results = tally
    if suites is not None and tally.passed:
        results = suites.end(rules=tally)
    ranking_id = kind.parameters(*names).get("ranking_id")
    return ValidationReport(run_id=run_id, rows=results.rows(run_id, datetime.now(UTC), ranking_id))


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


def _uniqueness(
    kind: Kind[Any, ReceiptT], receipts: Sequence[ReceiptT]
) -> Iterator[ExpectationResult]:
    """Yield the expectation that no two units have the same `unit_column`."""
    if not kind.unit_column:
        return
    counts = Counter(getattr(receipt, kind.unit_column) for receipt in receipts)
    repeated_rows: list[Row] = [
        {kind.unit_column: value, "units": count} for value, count in counts.items() if count > 1
    ]
    yield ExpectationResult(
        f"every_{kind.unit_noun}_landed_once",
        Severity.CRITICAL,
        kind.unit_table or "",
        kind.unit_column,
        len(receipts),
        len(repeated_rows),
        examples_of(repeated_rows),
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """An SQL statement that returns the rows that break the rule.

    Attributes:
        about: table whose rows count as evaluated.
        table_name, column_name: names for messages; empty for several tables.
        needs_rows: whether an empty table cannot break it.
    """

    name: str
    severity: Severity
    sql: str
    about: str
    table_name: str = ""
    column_name: str = ""
    needs_rows: bool = False


def evaluate_rules(
    connection: Connection, rules: Sequence[Rule], chunk: Mapping[str, pa.Table]
) -> Iterator[ExpectationResult]:
    """Yield the result of each rule for `chunk`, whose tables hold whole units.

    Prose is cut to its first character.
    """
    # The latest month of a venue's papers by year, for rules on cutoff dates.
    months = [
        {"venue": venue, "year": year, "month": month}
        for (venue, year), month in LATEST_MONTHS.items()
    ]
    views = {**chunk, "venue_months": pa.Table.from_pylist(months)}
    for name, rows in views.items():
        connection.register(name, rows)
    for rule in rules:
        row_count = len(chunk[rule.about])
        broken_count, first = 0, list[Row]()
        if row_count or not rule.needs_rows:
            sql = table_statement("count_broken", check=rule.sql)
            ((broken_count,),) = connection.execute(sql).fetchall()
        if broken_count:
            first = rows_in(connection, table_statement("first_broken", check=rule.sql))
        yield ExpectationResult(
            rule.name,
            rule.severity,
            rule.table_name,
            rule.column_name,
            row_count,
            broken_count,
            examples_of(first),
        )
    for name in views:
        connection.unregister(name)


def rules_of(kind: Kind) -> list[Rule]:
    """Return the rules of a kind: references within its tables, and its SQL checks."""
    tables = [TABLE[name] for name in kind.tables]
    return [*_references(tables), *_sql_rules(f"{kind.word}_checks", kind.tables[0])]


def _references(tables: Sequence[Table]) -> Iterator[Rule]:
    """Yield a rule per reference of an idea's rows to other rows of that idea."""
    table_names = {table.name for table in tables}
    for table in tables:
        for column in table.columns:
            target = column.references
            if target is None or not table.per_idea or target.partition(".")[0] not in table_names:
                continue
            target_table, _, target_column = target.partition(".")
            names = {"table": table.name, "column": column.name}
            names |= {"target": target_table, "target_column": target_column}
            yield Rule(
                f"refers_to_{target.replace('.', '_')}",
                column.reference_severity,
                table_statement("dangling_references", **names),
                table.name,
                table.name,
                column.name,
                needs_rows=True,
            )


def _sql_rules(folder: str, about: str) -> list[Rule]:
    """Return the rules of `sql/<folder>`; `about`: table of evaluated rows."""
    rules = []
    for name in names(folder):
        sql = statement(folder, name)
        severity = (
            Severity.CRITICAL if sql.startswith("-- severity: critical\n") else Severity.WARNING
        )
        rules.append(Rule(name, severity, sql, about))
    return rules
