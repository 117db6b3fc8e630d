"""Krippendorff's alpha: agreement of any number of raters, with ratings missing, on several scales."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.ratings import Label, Row, count
from tasks.metrics.resampling import RESAMPLES, Indices, bootstrap_interval

Scale = Literal["nominal", "ordinal", "interval"]
Matrix = NDArray[np.float64]


def krippendorff_alpha(
    rows: Sequence[Row],
    scale: Scale,
    categories: Sequence[Label] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """1 - D_o / D_e: observed over expected disagreement among the pairable ratings; 1 is perfect, 0 is chance.

    Distance of two labels: nominal 0 or 1; interval the squared difference; ordinal the squared number of ratings between
    them (half of each end). Labels of an interval scale are numbers; those of an ordinal one are ordered (numbers by size,
    words by alphabet, or as `categories` names them). Interval: percentile bootstrap over units.

    Source: Krippendorff, Content Analysis, 2nd edition 2004, chapter 11; Computing Krippendorff's alpha-reliability, 2011.
    Written out here: the library that has it is under the GPL, Assay is not.

    Bad input: units with fewer than two ratings pair with nothing and are unscored; no pairable unit, or one label
    throughout (0 / 0), are undefined.

    Raises:
        ValueError: words on an interval scale, or a label that is not among the `categories` named.
    """
    counts = count(rows, categories)
    pairable = counts.table[counts.ratings_per_unit >= 2]
    unscored = len(rows) - len(pairable)
    if not len(pairable):
        return undefined("no unit has two ratings", unscored_count=unscored)
    if scale == "interval" and any(isinstance(category, str) for category in counts.categories):
        raise ValueError("an interval scale needs numbers; words are nominal or ordinal")
    positions = np.array(
        [0.0 if isinstance(category, str) else float(category) for category in counts.categories]
    )
    value = _alpha(pairable, scale, positions)
    if np.isnan(value):
        return undefined(
            "all ratings are the same, so no disagreement is expected", len(pairable), unscored
        )

    def again(chosen: Indices) -> float:
        return _alpha(pairable[chosen], scale, positions)

    return Estimate(
        value,
        len(pairable),
        bootstrap_interval(again, len(pairable), seed, resamples=resamples),
        unscored,
    )


def _alpha(table: Matrix, scale: Scale, positions: Matrix) -> float:
    """NaN when every rating is the same. `table`: shape (units, categories), at least two ratings per unit."""
    ratings = table.sum(axis=1)
    coincidences = (table / (ratings - 1)[:, None]).T @ table - np.diag(
        (table / (ratings - 1)[:, None]).sum(axis=0)
    )
    totals = coincidences.sum(axis=1)
    distances = _distances(scale, totals, positions)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    disagreement = float((expected * distances).sum())
    return (
        float(1 - (coincidences * distances).sum() / disagreement)
        if disagreement > 0
        else float("nan")
    )


def _distances(scale: Scale, totals: Matrix, positions: Matrix) -> Matrix:
    size = len(totals)
    if scale == "nominal":
        return 1 - np.eye(size)
    if scale == "interval":
        return np.asarray((positions[:, None] - positions[None, :]) ** 2)
    middles = np.cumsum(totals) - totals / 2
    return np.asarray((middles[:, None] - middles[None, :]) ** 2)
