"""Which expectations the rows of an evaluation break."""

from typing import Any

import pyarrow as pa

from schemas.base import Severity
from schemas.columns import Table
from schemas.tables import IDEA_TABLES
from warehouse.catalogue.connection import in_memory
from warehouse.kinds.runs.landing import RUNS
from warehouse.rows import Rows
from warehouse.units.validate import evaluate_rules, rules_of


def relaxed(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        rows, schema=pa.schema([field.with_nullable(True) for field in table.arrow_schema])
    )


def broken_rules(rows: Rows, only: str | None = None) -> dict[str, Severity]:
    """Those that are broken, each with its severity; `only`: no other rule is asked."""
    rules = {f"{rule.table_name} {rule.name}".strip(): rule for rule in rules_of(RUNS)}
    asked = rules if only is None else {only: rules[only]}
    chunk = {table.name: relaxed(table, rows.get(table.name, [])) for table in IDEA_TABLES}
    with in_memory() as connection:
        results = list(evaluate_rules(connection, list(asked.values()), chunk))
    return {
        name: result.severity
        for name, result in zip(asked, results, strict=True)
        if result.unexpected_count
    }
