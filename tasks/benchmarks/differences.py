"""Paired differences between benchmarks of one suite.

Their intervals are narrower than those of the two scores.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from schemas.identifiers import RunId
from schemas.judgement.benchmark import Difference
from tasks.metrics.classification import macro_f1_value
from tasks.metrics.differences import metric_difference
from tasks.metrics.estimate import Estimate, benchmark_score, undefined
from tasks.metrics.labels import LabelPairs, pair_up
from tasks.metrics.means import paired_difference
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.queries import Queries
from warehouse.rows import Row
from warehouse.units.published_work import published_head

MOST_CLASSES = 5
"""Largest number of distinct answers with an F1; ids of ideas have more."""
Items = Mapping[str, Row]


def differences(queries: Queries, run_ids: Sequence[str], seed: int) -> tuple[Difference, ...]:
    """Return differences between each benchmark and the first of its suite.

    There is one for every task and system that both have. With gold answers: accuracy, macro F1 of two to five
    classes, and mean absolute error of numbers. Otherwise the mean of the answers' values. An item
    without an answer on one side is unscored.
    """
    suites = {
        run_id: published_head(queries.connection, BENCHMARKS, RunId(run_id)).suite
        for run_id in run_ids
    }
    rows: list[Difference] = []
    for other in run_ids:
        reference = next(run_id for run_id in run_ids if suites[run_id] == suites[other])
        if reference != other:
            rows += _between(queries, run_ids, reference, other, seed)
    return tuple(rows)


def _between(
    queries: Queries, run_ids: Sequence[str], reference: str, other: str, seed: int
) -> Iterator[Difference]:
    ours, theirs = _items(queries, reference), _items(queries, other)
    for (task, system), items in ours.items():
        if (task, system) in theirs:
            for metric, estimate in _estimates(items, theirs[task, system], seed).items():
                score = benchmark_score(estimate, "differences", metric, system, task)
                yield Difference(
                    first=run_ids.index(reference) + 1, second=run_ids.index(other) + 1, score=score
                )


def _items(queries: Queries, run_id: str) -> dict[tuple[str, str], dict[str, Row]]:
    items: dict[tuple[str, str], dict[str, Row]] = {}
    for row in queries.rows("benchmark_items", run_id=run_id):
        items.setdefault((row["task"], row["system"]), {})[row["item_id"]] = row
    return items


def _estimates(ours: Items, theirs: Items, seed: int) -> dict[str, Estimate]:
    names = sorted({*ours, *theirs})
    labels = {
        row["gold"] for items in (ours, theirs) for row in items.values() if row["gold"] is not None
    }
    if not labels:
        values = [_of(items, names, lambda row: row["value"]) for items in (ours, theirs)]
        return (
            {"mean_value": paired_difference(values[0], values[1], seed)}
            if any(one is not None for one in values[0])
            else {}
        )
    if any(ours[name]["gold"] != theirs[name]["gold"] for name in ours.keys() & theirs.keys()):
        return {
            "accuracy": undefined(
                "the two were compared with different gold answers", 0, len(names)
            )
        }
    right = [_of(items, names, _is_right) for items in (ours, theirs)]
    estimates = {"accuracy": paired_difference(right[0], right[1], seed)}
    if 2 <= len(labels) <= min(MOST_CLASSES, len(names) // 2):
        first, second = _labelled(ours), _labelled(theirs)
        estimates["macro_f1"] = metric_difference(
            first, second, lambda pairs: macro_f1_value(pairs, sorted(labels)), seed
        )
        if all(label.isdigit() for label in labels):
            wrong = [_of(items, names, _error) for items in (ours, theirs)]
            estimates["mean_absolute_error"] = paired_difference(wrong[0], wrong[1], seed)
    return estimates


def _of(
    items: Items, names: Sequence[str], value: Callable[[Row], float | None]
) -> list[float | None]:
    return [value(items[name]) if name in items else None for name in names]


def _is_right(row: Row) -> float | None:
    """Return 1.0 if the answer is a subset of the gold answer.

    The gold answer may name several ("a, b").
    """
    if row["gold"] is None or row["answer"] is None:
        return None
    return float({*str(row["answer"]).split(", ")} <= {*str(row["gold"]).split(", ")})


def _error(row: Row) -> float | None:
    return (
        None
        if row["gold"] is None or row["value"] is None
        else abs(float(row["value"]) - float(row["gold"]))
    )


def _labelled(items: Items) -> LabelPairs:
    return pair_up(
        {name: row["gold"] for name, row in items.items()},
        {name: row["answer"] for name, row in items.items()},
    )
