"""Audit: Great Expectations over what a run landed, in chunks of ideas, so that memory does not grow with the batch.

Expectations on columns, keys and references derive from the table definitions. What else a reader relies on across tables
is a statement in `sql/checks` that returns the rows breaking it; the expectation is that it returns none.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from schemas.columns import Column, ColumnType, Severity, Table
from schemas.errors import PublicationError
from schemas.evaluation import Receipt
from schemas.identifiers import RunId
from schemas.tables import IDEA_TABLES, TABLE
from warehouse.answers import ValidationReport
from warehouse.expectations import Expectations, Finding, Tally
from warehouse.lake import in_memory, one_line
from warehouse.landed import landed_files, scan
from warehouse.layout import Layout
from warehouse.statements import names, statement, table_statement

ROWS_PER_CHUNK = 100_000


def validate_run(layout: Layout, run_id: RunId, receipts: Sequence[Receipt]) -> ValidationReport:
    """Hold every expectation against the landed files of `receipts` and against the run's rejections.

    Raises:
        PublicationError: files cannot be read as their tables, or an expectation could not be evaluated.
    """
    tally, expectations = Tally(), Expectations()
    with in_memory() as connection:
        for chunk in _chunks(receipts):
            for table in IDEA_TABLES:
                _load(connection, table, landed_files(layout, table, chunk))
                tally.add(_columns_findings(connection, expectations, table, run_id))
            tally.add(_reference_findings(connection, expectations))
            tally.add(_statement_findings(connection, expectations))
        tally.add(_run_findings(connection, expectations, layout, run_id, receipts))
    return ValidationReport(run_id=run_id, rows=tally.rows(run_id, datetime.now(UTC)))


def _chunks(receipts: Sequence[Receipt]) -> Iterator[list[Receipt]]:
    chunk: list[Receipt] = []
    size = 0
    for receipt in receipts:
        chunk.append(receipt)
        size += sum(receipt.rows.values())
        if size >= ROWS_PER_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _load(connection: duckdb.DuckDBPyConnection, table: Table, files: Sequence[Path]) -> None:
    """Make `table` hold the rows of `files`. Of prose only the first character is kept: expectations ask whether it is there."""
    connection.execute(f'drop table if exists "{table.name}"')
    connection.execute(table.ddl)
    if not files:
        return
    prose = [f'left("{column.name}", 1) as "{column.name}"' for column in table.columns if column.type is ColumnType.TEXT]
    replaced = f" replace ({', '.join(prose)})" if prose else ""
    try:
        connection.execute(table_statement("insert", table=table.name, columns=f"*{replaced}", source=scan(files)))
    except duckdb.Error as error:
        raise PublicationError(f"landed files of {table.name} cannot be read as the table: {one_line(error)}") from error


def _columns_findings(connection: duckdb.DuckDBPyConnection, expectations: Expectations, table: Table, run_id: RunId) -> list[Finding]:
    if _count(connection, table.name) == 0:
        return []
    return expectations.hold(table, run_id, connection.table(table.name).df())


def _reference_findings(connection: duckdb.DuckDBPyConnection, expectations: Expectations) -> Iterator[Finding]:
    """Every reference of a column holds within the idea."""
    for table in IDEA_TABLES:
        for column in table.columns:
            if column.references is not None:
                yield _no_rows(
                    connection,
                    expectations,
                    _dangling(table, column),
                    name=f"refers_to_{column.references.replace('.', '_')}",
                    severity=column.reference_severity,
                    evaluated=_count(connection, table.name),
                    table_name=table.name,
                    column_name=column.name,
                )


def _dangling(table: Table, column: Column) -> str:
    target, _, target_column = str(column.references).partition(".")
    return table_statement("dangling_references", table=table.name, column=column.name, target=target, target_column=target_column)


def _statement_findings(connection: duckdb.DuckDBPyConnection, expectations: Expectations) -> Iterator[Finding]:
    evaluated = _count(connection, "ideas")
    for name in names("checks"):
        sql = statement("checks", name)
        severity = Severity.CRITICAL if sql.startswith("-- severity: critical") else Severity.WARNING
        yield _no_rows(connection, expectations, sql, name=name, severity=severity, evaluated=evaluated)


def _run_findings(
    connection: duckdb.DuckDBPyConnection, expectations: Expectations, layout: Layout, run_id: RunId, receipts: Sequence[Receipt]
) -> Iterator[Finding]:
    """What no chunk can tell: whether two evaluations of the run bear the same idea_id; and the rejections."""
    broken: dict[str, int] = {}
    for receipt in receipts:
        broken[receipt.idea_id] = broken.get(receipt.idea_id, 0) + 1
    connection.execute("create or replace table landed (idea_id varchar, evaluations integer)")
    if broken:
        connection.executemany("insert into landed values (?, ?)", [list(pair) for pair in broken.items() if pair[1] > 1] or [["", 1]])
    yield _no_rows(
        connection,
        expectations,
        "select * from landed where evaluations > 1",
        name="every_idea_is_evaluated_once",
        severity=Severity.CRITICAL,
        evaluated=len(receipts),
        table_name="ideas",
        column_name="idea_id",
    )
    if layout.rejections(run_id).exists():
        _load(connection, TABLE["failures"], [layout.rejections(run_id)])
        yield from _columns_findings(connection, expectations, TABLE["failures"], run_id)


def _no_rows(
    connection: duckdb.DuckDBPyConnection,
    expectations: Expectations,
    sql: str,
    *,
    name: str,
    severity: Severity,
    evaluated: int,
    table_name: str = "",
    column_name: str = "",
) -> Finding:
    total = connection.execute(table_statement("count_broken", check=sql)).fetchall()[0][0]
    examples = connection.sql(table_statement("first_broken", check=sql)).df()
    return expectations.no_rows(name, table_name, column_name, severity, evaluated, examples, int(total))


def _count(connection: duckdb.DuckDBPyConnection, table_name: str) -> int:
    return int(connection.execute(table_statement("count_rows", table=table_name)).fetchall()[0][0])
