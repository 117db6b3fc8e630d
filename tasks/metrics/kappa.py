"""Cohen's kappa of two raters, plain and weighted."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from statsmodels.stats.inter_rater import cohens_kappa as kappa_of_table

from tasks.metrics.estimate import Estimate, Interval, undefined
from tasks.metrics.ratings import Label, order

Weights = Literal["none", "linear", "quadratic"]
"""How a disagreement counts: all alike, by the distance between ranks, or by its square."""
Z = 1.959964
LEAST_ERROR = 1e-6
"""What is smaller is 0 but for rounding."""


def cohen_kappa(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    weights: Weights = "none",
    categories: Sequence[Label] | None = None,
) -> Estimate:
    """(observed - chance agreement) / (1 - chance agreement); chance from each rater's own shares.

    From -1 to 1.

    Weighted kappa takes the categories in order (numbers by size, words by alphabet, or as
    `categories` names them). Interval: value ± 1.96 standard errors (Fleiss, Cohen & Everitt,
    Psychological Bulletin 1969), cut at -1 and 1; `statsmodels`.

    Source: Cohen, Educational and Psychological Measurement 1960; weighted: Cohen, Psychological
        Bulletin 1968.

    Bad input: units that either rater lacks are unscored; no common unit, or both raters using one
        and the same category
    throughout (0 / 0), are undefined. Sequences of different lengths are a programming error.
    """
    pairs, missing = _common(first, second)
    if not pairs:
        return undefined("no unit was rated by both", unscored_count=missing)
    used = sorted({label for pair in pairs for label in pair}, key=order)
    listed = list(categories) if categories is not None else used
    if not set(used) <= set(listed):
        raise ValueError("a label is not among the categories; name every possible one")
    if len(used) < 2:
        return undefined(
            "both raters used one category only, so chance agreement is complete",
            len(pairs),
            missing,
        )
    table = np.zeros((len(listed), len(listed)))
    for one, other in pairs:
        table[listed.index(one), listed.index(other)] += 1
    with np.errstate(invalid="ignore", divide="ignore"):  # a standard error of 0 is answered below
        found = kappa_of_table(
            table, wt={"none": None, "linear": "linear", "quadratic": "quadratic"}[weights]
        )
    value, error = float(found.kappa), float(found.std_kappa)
    return Estimate(value, len(pairs), _interval(value, error), missing)


def _interval(value: float, error: float) -> Interval:
    if not np.isfinite(error) or error < LEAST_ERROR:
        return Interval(missing_reason="the standard error of these ratings is 0")
    return Interval(
        max(value - Z * error, -1.0),
        min(value + Z * error, 1.0),
        "normal, standard error of Fleiss, Cohen & Everitt",
    )


def _common(
    first: Sequence[Label | None], second: Sequence[Label | None]
) -> tuple[list[tuple[Label, Label]], int]:
    assert len(first) == len(second), "one rating of each rater per unit"
    pairs = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    return pairs, len(first) - len(pairs)
