"""From a label's distribution to one label, by the rule that has done best on other items."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.calibration import DecisionRule
from tasks.metrics.classification import macro_f1_value
from tasks.metrics.labelled import pair_up
from tasks.novelty.calibration.ordinal import expected_value

MACRO_F1, MEAN_ABSOLUTE_ERROR = "macro_f1", "mean_absolute_error"
Distribution = Sequence[float]


@dataclass(frozen=True, slots=True)
class Decider:
    """A rule for each metric; `cut_points` are those of the quantile-matched rule.

    Attributes:
        values: of the labels, ascending.
        cut_points: expected values from which the next label is said, one fewer than labels.
    """

    values: tuple[float, ...]
    rules: Mapping[str, DecisionRule]
    cut_points: tuple[float, ...]

    def place(self, distribution: Distribution, metric: str) -> int:
        """The position of the label to say where `metric` counts."""
        return place_of(self.rules[metric], distribution, self.values, self.cut_points)


def place_of(
    rule: DecisionRule,
    distribution: Distribution,
    values: Sequence[float],
    cut_points: Sequence[float],
) -> int:
    """The position of the label that `rule` says."""
    if rule is DecisionRule.ARGMAX:
        return int(np.argmax(distribution))
    expected = expected_value(distribution, values)
    if rule is DecisionRule.QUANTILE_MATCHED:
        return bisect_right(cut_points, expected)
    return min(range(len(values)), key=lambda place: abs(values[place] - expected))


def fit_decider(
    distributions: Sequence[Distribution], gold: Sequence[int], values: Sequence[float]
) -> Decider:
    """The rule with the greatest macro F1, and the one with the least mean absolute error, over
    items that none of the distributions was fitted on; of equally good ones the first of
    `DecisionRule`.

    The quantile-matched rule says each label as often as it occurs among these items.
    """
    expected = [expected_value(one, values) for one in distributions]
    shares = np.cumsum(np.bincount(gold, minlength=len(values))[:-1]) / len(gold)
    cut_points = tuple(float(one) for one in np.quantile(expected, shares))
    said = {
        rule: [place_of(rule, one, values, cut_points) for one in distributions]
        for rule in DecisionRule
    }
    f1 = {rule: _macro_f1(gold, places) for rule, places in said.items()}
    error = {
        rule: float(np.mean([abs(values[one] - values[other]) for one, other in pairs]))
        for rule, pairs in ((rule, list(zip(gold, said[rule], strict=True))) for rule in said)
    }
    rules = {
        MACRO_F1: max(DecisionRule, key=lambda rule: f1[rule]),
        MEAN_ABSOLUTE_ERROR: min(DecisionRule, key=lambda rule: error[rule]),
    }
    return Decider(tuple(values), rules, cut_points)


def _macro_f1(gold: Sequence[int], said: Sequence[int]) -> float:
    return macro_f1_value(
        pair_up(
            {f"{place}": label for place, label in enumerate(gold)},
            {f"{place}": label for place, label in enumerate(said)},
        )
    )
