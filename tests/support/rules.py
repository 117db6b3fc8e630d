"""Which expectations the rows of an evaluation break."""

from typing import Any

import pyarrow as pa

from schemas.base import Severity
from schemas.columns import Table
from schemas.tables import IDEA_TABLES
from warehouse.connection import in_memory
from warehouse.rows import Rows
from warehouse.runs.landing import RUNS
from warehouse.units.validate import rules_of


def relaxed(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        rows, schema=pa.schema([field.with_nullable(True) for field in table.arrow_schema])
    )


def broken_rules(rows: Rows) -> dict[str, Severity]:
    rules = rules_of(RUNS)
    with in_memory() as connection:
        rules.judge(
            connection,
            {table.name: relaxed(table, rows.get(table.name, [])) for table in IDEA_TABLES},
        )
    return {
        f"{v.table_name} {v.expectation}".strip(): v.severity
        for v in rules.violations
        if v.broken_count
    }
