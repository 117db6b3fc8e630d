"""Audit of a ranking: Great Expectations over its landed groups, some at a time."""

from collections.abc import Sequence
from datetime import UTC, datetime

from schemas.identifiers import RunId
from schemas.ranking import GroupReceipt
from schemas.tables import TABLE
from warehouse.answers import ValidationReport
from warehouse.expectations import Expectations
from warehouse.findings import Tally
from warehouse.lake import in_memory
from warehouse.layout import Layout
from warehouse.ranking_landed import read_groups
from warehouse.ranking_landing import GROUP_TABLES
from warehouse.rules import Rules, stated

_GROUPS_AT_ONCE = 50


def validate_ranking(layout: Layout, run_id: RunId, ranking_id: str, receipts: Sequence[GroupReceipt]) -> ValidationReport:
    """Hold every expectation against the landed groups of `receipts`.

    Raises:
        PublicationError: files cannot be read as their tables, or an expectation could not be evaluated.
    """
    tables = tuple(TABLE[name] for name in GROUP_TABLES)
    tally, expectations = Tally(), Expectations(run_id)
    rules = Rules(rules=stated("ranking_checks", about="matches"), tables=tables)
    with in_memory() as connection:
        for start in range(0, len(receipts), _GROUPS_AT_ONCE):
            part = receipts[start : start + _GROUPS_AT_ONCE]
            chunk = {table.name: read_groups(layout, table.name, part, prose=False) for table in tables}
            for table in tables:
                if len(chunk[table.name]):
                    tally.add(expectations.hold(table, chunk[table.name]))
            rules.judge(connection, chunk)
    tally.add(expectations.hold_none_broken(rules.violations))
    return ValidationReport(run_id=run_id, rows=tally.rows(run_id, datetime.now(UTC), ranking_id))
