"""What measured differences allow to be said: paired intervals, and a finding.

A gain is how much better a program is than the parent on the same data with the same seed; more is
better whichever way the metric goes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as students_t

from schemas.works.experiment import Direction, Finding

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Gain:
    """A mean gain with its interval (Student's t over replicates).

    Attributes:
        compared_with: comparisons that the interval is corrected for, by Bonferroni.
    """

    mean: float
    low: float
    high: float
    count: int
    compared_with: int


def interval(values: Sequence[float], compared_with: int = 1) -> Gain:
    """The mean of at least two values, with an interval that holds for `compared_with` such means
    together at 95 %.
    """
    count, mean = len(values), float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    tail = (1 - CONFIDENCE) / compared_with / 2
    reach = float(students_t.isf(tail, count - 1)) * error
    return Gain(mean, mean - reach, mean + reach, count, compared_with)


def gains(
    ours: Sequence[float], theirs: Sequence[float], direction: Direction
) -> tuple[float, ...]:
    """How much better the first is, replicate by replicate."""
    sign = 1.0 if direction is Direction.MAXIMISE else -1.0
    return tuple(sign * (one - other) for one, other in zip(ours, theirs, strict=True))


def finding(
    selected: Gain, confirmed: Gain, least_difference: float, known_without_labels: Gain | None
) -> tuple[Finding, str]:
    """What is found of the best candidate, and why.

    Args:
        selected: on the data it was chosen by, corrected for all candidates tried.
        confirmed: on fresh data.
        known_without_labels: how far it is beyond chance where labels are permuted; None: that was
            not tried.
    """
    if known_without_labels is not None and known_without_labels.low > 0:
        return Finding.UNDECIDED, (
            "it is better than chance although the labels are permuted, so it knows them from"
            " elsewhere"
        )
    if confirmed.high < least_difference:
        return Finding.NOT_SUPPORTED, (
            "on fresh data the gain lies below the smallest difference worth having"
        )
    if confirmed.low <= 0:
        return Finding.UNDECIDED, "on fresh data the interval of the gain holds 0"
    if selected.low <= 0:
        return Finding.UNDECIDED, (
            f"the interval corrected for {selected.compared_with} candidates holds 0"
        )
    if confirmed.mean < least_difference:
        return Finding.UNDECIDED, (
            "the gain is smaller than the smallest difference worth having, and may be larger"
        )
    return Finding.SUPPORTED, "chosen and confirmed on different data, both intervals lie above 0"
