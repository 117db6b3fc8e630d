"""Audit: what is expected of all that landed, in chunks of units, so that memory does not grow with
the work.

Expectations on columns, keys and references derive from the table definitions. What else a reader
relies on across tables is a statement in `sql/<kind's checks>` that returns the rows breaking it;
the expectation is that it returns none.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from schemas.tables import TABLE
from warehouse.answers import ValidationReport
from warehouse.connection import in_memory
from warehouse.expectations import hold
from warehouse.landed import read_landed
from warehouse.layout import Layout
from warehouse.rules import rules_of
from warehouse.units.kind import HeadT, Kind, ReceiptT
from warehouse.units.landing import landed_files, loose_files
from warehouse.violations import Tally

ROWS_PER_CHUNK = 120_000


def validate(
    layout: Layout,
    kind: Kind[ReceiptT, HeadT],
    names: tuple[str, ...],
    receipts: Sequence[ReceiptT],
) -> ValidationReport:
    """Hold every expectation against the landed files of `receipts` and the loose files beside
    them.

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
            rules.judge(connection, chunk)
    for table, path in loose_files(layout, kind, *names):
        rows = read_landed(table, [path])
        tally.add(hold(table, rows, run_id) if len(rows) else ())
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
