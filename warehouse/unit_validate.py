"""Audit of landed units that are no ideas: Great Expectations over their tables, some units at a time."""

from collections.abc import Iterable
from datetime import UTC, datetime

import pyarrow as pa

from schemas.identifiers import RunId
from warehouse.answers import ValidationReport
from warehouse.expectations import Expectations
from warehouse.findings import Tally
from warehouse.lake import in_memory
from warehouse.rules import Rules


def validate_units(
    run_id: RunId,
    rules: Rules,
    chunks: Iterable[dict[str, pa.Table]],
    *,
    ranking_id: str | None = None,
) -> ValidationReport:
    """Hold the expectations of `rules.tables`, and the rules, against every chunk: whole units, rows by table.

    Raises:
        PublicationError: an expectation could not be evaluated.
    """
    tally, expectations = Tally(), Expectations(run_id)
    with in_memory() as connection:
        for chunk in chunks:
            for table in rules.tables:
                if len(chunk[table.name]):
                    tally.add(expectations.hold(table, chunk[table.name]))
            rules.judge(connection, chunk)
    tally.add(expectations.hold_none_broken(rules.violations))
    return ValidationReport(run_id=run_id, rows=tally.rows(run_id, datetime.now(UTC), ranking_id))
