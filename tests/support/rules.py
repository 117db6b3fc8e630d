"""Which expectations the rows of an evaluation break."""

from typing import Any

import pyarrow as pa

from schemas.base import Severity
from schemas.columns import Table
from schemas.tables import IDEA_TABLES
from warehouse.catalogue.connection import in_memory
from warehouse.kinds.runs.landing import RUNS
from warehouse.rows import Rows
from warehouse.units.validate import Rules, rules_of
from warehouse.validate.violations import Violations


def relaxed(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        rows, schema=pa.schema([field.with_nullable(True) for field in table.arrow_schema])
    )


def broken_rules(rows: Rows, only: str | None = None) -> dict[str, Severity]:
    """Those that are broken, each with its severity; `only`: no other rule is asked."""
    rules = rules_of(RUNS)
    if only is not None:
        asked = [rule for rule in rules.rules if _name(rule.violations) == only]
        rules = Rules(asked, rules.tables)
    with in_memory() as connection:
        rules.judge(
            connection,
            {table.name: relaxed(table, rows.get(table.name, [])) for table in IDEA_TABLES},
        )
    return {_name(v): v.severity for v in rules.violations if v.broken_count}


def _name(violations: Violations) -> str:
    return f"{violations.table_name} {violations.expectation}".strip()
