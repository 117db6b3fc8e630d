"""Baselines that ignore their input: random, most common and median labels."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.labels import Label, LabelPairs, Row, pair_up
from tasks.metrics.means import percentile_interval
from tasks.metrics.rankings import Group

LabelT = TypeVar("LabelT", bound=Label)

STRATIFIED_RANDOM, MAJORITY, CONSTANT = "stratified random", "always majority", "constant"
DRAWS = 500
DRAWN = "random draws"
"""Method of an interval that holds 95 % of the random draws."""


def majority_label(gold: Mapping[str, LabelT | None], scale: Sequence[LabelT]) -> LabelT | None:
    """Return the most common label, on ties the first of the scale.

    The result is None without labels.
    """
    labels = _without_none(gold)
    return max(scale, key=labels.count) if labels else None


def constant_label(gold: Mapping[str, LabelT | None], scale: Sequence[LabelT]) -> LabelT | None:
    """Return the median label, the constant with the least absolute error.

    The result is None without labels.
    """
    places = sorted(scale.index(label) for label in _without_none(gold))
    return scale[places[(len(places) - 1) // 2]] if places else None


def fixed_answers(
    gold: Mapping[str, LabelT | None], scale: Sequence[LabelT]
) -> dict[str, dict[str, LabelT | None]]:
    """Return constant predictions by system: the same label for every item."""
    return {
        MAJORITY: dict.fromkeys(gold, majority_label(gold, scale)),
        CONSTANT: dict.fromkeys(gold, constant_label(gold, scale)),
    }


def stratified_random(
    gold: Mapping[str, Label | None], statistic: Callable[[LabelPairs], float], seed: int
) -> Estimate:
    """Estimate the mean `statistic` of `DRAWS` label draws by shares.

    The interval holds 95 % of the draws. Without a labeled item it is undefined.
    """
    gold_labels = {name: label for name, label in gold.items() if label is not None}
    if not gold_labels:
        return undefined("there is no item with a label")
    generator, labels = np.random.default_rng(seed), list(gold_labels.values())
    values = []
    for _ in range(DRAWS):
        places = generator.integers(0, len(labels), len(labels))
        drawn_labels = {
            name: labels[place] for name, place in zip(gold_labels, places, strict=True)
        }
        values.append(statistic(pair_up(gold_labels, drawn_labels)))
    return _over_draws(values, len(gold_labels))


def random_order(
    groups: Sequence[Group], statistic: Callable[[Sequence[Group]], Estimate], seed: int
) -> Estimate:
    """Estimate `statistic` for random orders of every group; see `stratified_random`."""
    generator = np.random.default_rng(seed)
    values = []
    for _ in range(DRAWS):
        estimate = statistic(
            [
                group.ordered([float(one) for one in generator.permutation(len(group.gold))])
                for group in groups
            ]
        )
        if not estimate.defined:
            return estimate
        values.append(estimate.value)
    return _over_draws(values, estimate.count)


def random_ratings(
    rows: Sequence[Row], statistic: Callable[[Sequence[Row]], Estimate], seed: int
) -> Estimate:
    """Estimate `statistic` for ratings drawn by their shares; see `stratified_random`.

    Missing ratings stay missing.
    """
    ratings = [label for row in rows for label in row if label is not None]
    if not ratings:
        return undefined("there is no rating")
    generator = np.random.default_rng(seed)
    values, count = [], 0
    for _ in range(DRAWS):
        places = iter(generator.integers(0, len(ratings), len(ratings)))
        estimate = statistic(
            [[None if one is None else ratings[next(places)] for one in row] for row in rows]
        )
        values.append(estimate.value if estimate.defined else float("nan"))
        count = max(count, estimate.count)
    return _over_draws(values, count)


def fixed_ratings(
    rows: Sequence[Row], scale: Sequence[Label]
) -> dict[str, list[list[Label | None]]]:
    """Return constant ratings by system; missing ratings stay missing."""
    every = [label for row in rows for label in row]
    gold = {str(number): label for number, label in enumerate(every)}
    labels = {MAJORITY: majority_label(gold, scale), CONSTANT: constant_label(gold, scale)}
    return {
        system: [[None if one is None else label for one in row] for row in rows]
        for system, label in labels.items()
    }


def fixed_orders(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """Return groups ordered by the position of their sorted identifiers, by system.

    `CONSTANT` puts the first identifier first. `MAJORITY` orders positions by their mean grade, the
    best order that ignores the ideas.
    """
    longest = max((len(group.gold) for group in groups), default=0)
    grades: list[list[float]] = [[] for _ in range(longest)]
    for group in groups:
        for place, name in enumerate(sorted(group.gold)):
            grades[place].append(group.gold[name])
    means = [float(np.mean(one)) if one else 0.0 for one in grades]
    commonest = [mean - 1e-9 * place for place, mean in enumerate(means)]
    first = [-float(place) for place in range(longest)]
    return {
        MAJORITY: [group.ordered(commonest[: len(group.gold)]) for group in groups],
        CONSTANT: [group.ordered(first[: len(group.gold)]) for group in groups],
    }


def _without_none(gold: Mapping[str, LabelT | None]) -> list[LabelT]:
    return [label for label in gold.values() if label is not None]


def _over_draws(values: Sequence[float], count: int) -> Estimate:
    drawn_values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(drawn_values).any():
        return undefined("no draw has a value", count)
    return Estimate(
        float(np.nanmean(drawn_values)), count, percentile_interval(drawn_values, DRAWN)
    )
