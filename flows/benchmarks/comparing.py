"""Two benchmarks of one suite, answer by answer: items are paired, so less is needed to tell them apart than from two intervals."""

from collections.abc import Mapping

from dashboards.reports.benchmark_page import Difference
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import paired_difference
from warehouse.queries import Queries

Values = dict[tuple[str, str], dict[str, float | None]]


def differences(queries: Queries, run_ids: list[str], seed: int) -> tuple[Difference, ...]:
    """The first benchmark less each of the others, for every task and system both have: mean over common items, BCa bootstrap.

    Items without a number on either side are left out and counted by neither.
    """
    values = {run_id: _values(queries, run_id) for run_id in run_ids}
    first = values[run_ids[0]]
    return tuple(
        _difference(number, task, system, first[task, system], values[run_id][task, system], seed)
        for number, run_id in enumerate(run_ids[1:], start=2)
        for task, system in first
        if (task, system) in values[run_id]
    )


def _values(queries: Queries, run_id: str) -> Values:
    found: Values = {}
    for row in queries.rows("benchmark_items", run_id=run_id):
        found.setdefault((row["task"], row["system"]), {})[row["item_id"]] = row["value"]
    return {key: items for key, items in found.items() if any(value is not None for value in items.values())}


def _difference(
    number: int, task: str, system: str, ours: Mapping[str, float | None], theirs: Mapping[str, float | None], seed: int
) -> Difference:
    common = sorted(ours.keys() & theirs.keys())
    found: Estimate = paired_difference([ours[name] for name in common], [theirs[name] for name in common], seed)
    bounded = found.interval.missing_reason is None
    return Difference(
        number=number,
        task=task,
        system=system,
        value=found.value if found.defined else None,
        lower=found.interval.lower if bounded else None,
        upper=found.interval.upper if bounded else None,
        count=found.count,
        reason=found.undefined_reason,
    )
