"""The remaining budget of a run, after other runs of the same command."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.run import Budget
from warehouse.warehouse import Warehouse


def remaining(budget: Budget, warehouse: Warehouse, others: Sequence[RunId]) -> Budget:
    """Return the budget minus the spending of `others`, which are published."""
    if budget == Budget() or not others:
        return budget
    with warehouse.queries() as queries:
        rows = queries.rows("spent_by_runs", run_ids=list(others))
    (spent_row,) = rows
    return replace(budget, **_rest(budget, spent_row))


def _rest(budget: Budget, spent_row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("maximum_cost_usd", "maximum_tokens", "maximum_requests")
    return {
        name: None if (bound := getattr(budget, name)) is None else max(bound - spent_row[name], 0)
        for name in names
    }
