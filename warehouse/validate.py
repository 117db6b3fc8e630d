"""Audit: Great Expectations over what a run landed, in chunks of ideas, so that memory does not grow with the batch.

Expectations on columns, keys and references derive from the table definitions. What else a reader relies on across tables
is a statement in `sql/checks` that returns the rows breaking it; the expectation is that it returns none.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from schemas.base import Severity
from schemas.evaluation import Receipt
from schemas.identifiers import RunId
from schemas.tables import IDEA_TABLES, TABLE
from warehouse.answers import ValidationReport
from warehouse.expectations import Expectations
from warehouse.findings import Tally, Violations
from warehouse.lake import in_memory
from warehouse.landed import landed_files, read_landed
from warehouse.layout import Layout
from warehouse.rules import Rules

ROWS_PER_CHUNK = 120_000


def validate_run(layout: Layout, run_id: RunId, receipts: Sequence[Receipt]) -> ValidationReport:
    """Hold every expectation against the landed files of `receipts` and against the run's rejections.

    Raises:
        PublicationError: files cannot be read as their tables, or an expectation could not be evaluated.
    """
    tally, expectations, rules = Tally(), Expectations(run_id), Rules()
    with in_memory() as connection:
        for part in _chunks(receipts):
            chunk = {
                table.name: read_landed(table, landed_files(layout, table, part), prose=False)
                for table in IDEA_TABLES
            }
            for table in IDEA_TABLES:
                if len(chunk[table.name]):
                    tally.add(expectations.hold(table, chunk[table.name]))
            rules.judge(connection, chunk)
    if layout.rejections(run_id).exists():
        rejected = read_landed(TABLE["failures"], [layout.rejections(run_id)])
        tally.add(expectations.hold(TABLE["failures"], rejected) if len(rejected) else ())
    tally.add(expectations.hold_none_broken([*rules.violations, _evaluated_twice(receipts)]))
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


def _evaluated_twice(receipts: Sequence[Receipt]) -> Violations:
    """What no chunk can tell: whether two evaluations of the run bear the same idea_id."""
    repeated = {
        idea_id: count
        for idea_id, count in Counter(receipt.idea_id for receipt in receipts).items()
        if count > 1
    }
    violations = Violations("every_idea_is_evaluated_once", Severity.CRITICAL, "ideas", "idea_id")
    violations.add(
        len(receipts),
        len(repeated),
        ({"idea_id": idea_id, "evaluations": count} for idea_id, count in repeated.items()),
    )
    return violations
