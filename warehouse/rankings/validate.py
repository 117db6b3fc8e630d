"""Audit of a ranking: Great Expectations over its landed groups, some at a time."""

from collections.abc import Sequence

from schemas.identifiers import RunId
from schemas.ranking import GroupReceipt
from schemas.tables import TABLE
from warehouse.answers import ValidationReport
from warehouse.layout import Layout
from warehouse.rankings.landed import read_groups
from warehouse.rankings.landing import GROUP_TABLES
from warehouse.rules import Rules, stated
from warehouse.unit_validate import validate_units

_GROUPS_AT_ONCE = 50


def validate_ranking(
    layout: Layout, run_id: RunId, ranking_id: str, receipts: Sequence[GroupReceipt]
) -> ValidationReport:
    """Hold every expectation against the landed groups of `receipts`.

    Raises:
        PublicationError: files cannot be read as their tables, or an expectation could not be evaluated.
    """
    tables = tuple(TABLE[name] for name in GROUP_TABLES)
    rules = Rules(rules=stated("ranking_checks", about="matches"), tables=tables)
    parts = (
        receipts[start : start + _GROUPS_AT_ONCE]
        for start in range(0, len(receipts), _GROUPS_AT_ONCE)
    )
    chunks = (
        {table.name: read_groups(layout, table.name, part, prose=False) for table in tables}
        for part in parts
    )
    return validate_units(run_id, rules, chunks, ranking_id=ranking_id)
