"""Agreement of raters: Cohen's kappa, Gwet's AC1 and Krippendorff's alpha."""

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.estimate import LEVEL, Estimate, Interval, Z, undefined
from tasks.metrics.labels import Counts, Label, Row, count, order
from tasks.metrics.means import RESAMPLES, Indices, bootstrap_interval

LEAST_ERROR = 1e-6
"""Smaller standard errors are rounding noise around 0."""


def cohen_kappa(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate Cohen's kappa, from -1 to 1.

    (observed - chance agreement) / (1 - chance agreement), with chance from each rater's own
    category shares. Interval: value ± 1.96 standard errors (Fleiss, Cohen & Everitt, Psychological
    Bulletin 1969), clipped to [-1, 1]; `statsmodels`. With `clusters`, one per unit: percentile
    bootstrap over whole clusters, because units of one cluster are not independent.

    Source: Cohen, Educational and Psychological Measurement 1960.

    Bad input: units that one rater did not rate are unscored; without a common unit, or when both
    raters use the same single category (0 / 0), kappa is undefined. Both sequences must have the
    same length.
    """
    from statsmodels.stats.inter_rater import cohens_kappa  # slow import: takes a second

    assert len(first) == len(second), "one rating of each rater per unit"
    common = [
        (place, one, other)
        for place, (one, other) in enumerate(zip(first, second, strict=True))
        if one is not None and other is not None
    ]
    missing = len(first) - len(common)
    if not common:
        return undefined("no unit was rated by both", unscored_count=missing)
    used_labels = sorted({label for _, *pair in common for label in pair}, key=order)
    if len(used_labels) < 2:
        return undefined(
            "both raters used one category only, so chance agreement is complete",
            len(common),
            missing,
        )
    size = len(used_labels)
    ours = np.array([used_labels.index(one) for _, one, _ in common])
    theirs = np.array([used_labels.index(other) for _, _, other in common])

    def counts(indices: Indices) -> NDArray[np.float64]:
        cells = np.bincount(ours[indices] * size + theirs[indices], minlength=size * size)
        return cells.reshape(size, size).astype(np.float64)

    def kappa(indices: Indices) -> float:
        shares = counts(indices) / len(indices)
        chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
        return (float(np.trace(shares)) - chance) / (1 - chance) if chance < 1 else np.nan

    with np.errstate(invalid="ignore", divide="ignore"):  # zero variance is handled below
        result = cohens_kappa(counts(np.arange(len(common))))
    value, error = float(result.kappa), float(result.std_kappa)
    if clusters is not None:
        units = [clusters[place] for place, _, _ in common]
        interval = bootstrap_interval(kappa, len(common), seed, units)
    elif not np.isfinite(error) or error < LEAST_ERROR:
        interval = Interval(missing_reason="the standard error of these ratings is 0")
    else:
        lower, upper = max(value - Z * error, -1.0), min(value + Z * error, 1.0)
        interval = Interval(lower, upper, "normal, standard error of Fleiss, Cohen & Everitt")
    return Estimate(value, len(common), interval, missing)


def gwet_ac1(rows: Sequence[Row], categories: Sequence[Label] | None = None) -> Estimate:
    """Estimate Gwet's AC1 of two or more raters, at most 1.

    Ratings may be missing. Unlike kappa, AC1 stays meaningful when nearly all units fall into one
    category.

    AC1 = (p_a - p_e) / (1 - p_e). p_a: mean share of agreeing pairs of raters over units rated at
    least twice. p_e = Σ π_k (1 - π_k) / (q - 1) over the q categories, π_k the mean share of
    category k over all rated units. p_e never exceeds 1 / q, so that with two categories AC1 is
    never below 2 p_a - 1. Interval: value ± t(n - 1) linearized standard errors, clipped to
    [-1, 1].

    Source: Gwet, Computing inter-rater reliability and its variance in the presence of high
    agreement, British Journal of Mathematical and Statistical Psychology 2008; several raters and
    missing ratings: Gwet, Handbook of Inter-Rater Reliability, 4th edition 2014, chapters 2 and 5.
    Implemented here because the packages for it are unmaintained.

    Bad input: units without a rating are unscored; without a unit rated twice, or with fewer than
    two categories, AC1 is undefined.

    Raises:
        ValueError: a label is not in `categories`.
    """
    counts = count(rows, categories)
    rated_twice = int((counts.ratings_per_unit >= 2).sum())
    if rated_twice == 0:
        return undefined("no unit has two ratings", unscored_count=counts.unrated_count)
    if len(counts.categories) < 2:
        reason = "only one category was used; name the possible categories"
        return undefined(reason, rated_twice, counts.unrated_count)
    value, deviations = _ac1(counts)
    return Estimate(value, rated_twice, _ac1_interval(value, deviations), counts.unrated_count)


def _ac1(counts: Counts) -> tuple[float, NDArray[np.float64]]:
    """Return AC1 and its linearized value per unit."""
    table, ratings = counts.table, counts.ratings_per_unit
    units, categories = table.shape
    is_rated_twice = ratings >= 2
    agreement = np.divide(
        (table * (table - 1)).sum(axis=1),
        ratings * (ratings - 1),
        out=np.zeros(units),
        where=is_rated_twice,
    )
    observed_agreement = agreement[is_rated_twice].mean()
    shares = (table / ratings[:, None]).mean(axis=0)
    chance = float((shares * (1 - shares)).sum() / (categories - 1))
    value = float((observed_agreement - chance) / (1 - chance))
    chance_by_unit = (table @ (1 - shares)) / ratings / (categories - 1)
    value_by_unit = (
        (units / is_rated_twice.sum()) * (agreement - chance * is_rated_twice) / (1 - chance)
    )
    return value, value_by_unit - 2 * (1 - value) * (chance_by_unit - chance) / (1 - chance)


def _ac1_interval(value: float, unit_values: NDArray[np.float64]) -> Interval:
    units = len(unit_values)
    if units < 2:
        return Interval(missing_reason="an interval needs two units")
    error = float(np.sqrt(((unit_values - value) ** 2).sum() / (units * (units - 1))))
    if error < 1e-12:
        return Interval(missing_reason="the standard error is 0: the raters agree on every unit")
    from scipy.special import stdtrit  # slow import

    margin = float(stdtrit(units - 1, 1 - (1 - LEVEL) / 2)) * error
    return Interval(
        max(value - margin, -1.0), min(value + margin, 1.0), "t, linearized standard error of Gwet"
    )


Scale = Literal["nominal", "interval"]
Matrix = NDArray[np.float64]


def krippendorff_alpha(
    rows: Sequence[Row],
    scale: Scale,
    categories: Sequence[Label] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Estimate Krippendorff's alpha: 1 is perfect agreement, 0 is chance.

    1 - D_o / D_e: observed over expected disagreement among the pairable ratings. Distance of two
    labels: 0 or 1 on a nominal scale, the squared difference of the numbers on an interval scale.
    Interval: percentile bootstrap over units.

    Source: Krippendorff, Content Analysis, 2nd edition 2004, chapter 11; Computing Krippendorff's
    alpha-reliability, 2011. Implemented here because the existing library is under the GPL.

    Bad input: units with fewer than two ratings are unscored; without a unit rated twice, or with
    one label throughout (0 / 0), alpha is undefined.

    Raises:
        ValueError: text labels on an interval scale, or a label is not in `categories`.
    """
    counts = count(rows, categories)
    pairable = counts.table[counts.ratings_per_unit >= 2]
    unscored_count = len(rows) - len(pairable)
    if not len(pairable):
        return undefined("no unit has two ratings", unscored_count=unscored_count)
    if scale == "interval" and any(isinstance(category, str) for category in counts.categories):
        raise ValueError("an interval scale needs numbers; words are nominal")
    if scale == "nominal":
        distances = 1 - np.eye(len(counts.categories))
    else:
        places = np.array(counts.categories, dtype=np.float64)
        distances = (places[:, None] - places[None, :]) ** 2
    value = _alpha(pairable, distances)
    if np.isnan(value):
        return undefined(
            "all ratings are the same, so no disagreement is expected",
            len(pairable),
            unscored_count,
        )

    def resampled_alpha(indices: Indices) -> float:
        return _alpha(pairable[indices], distances)

    return Estimate(
        value,
        len(pairable),
        bootstrap_interval(resampled_alpha, len(pairable), seed, resamples=resamples),
        unscored_count,
    )


def _alpha(table: Matrix, distances: Matrix) -> float:
    """Return alpha; NaN when every rating is the same.

    `table`: shape (units, categories), at least two ratings per unit.
    """
    ratings = table.sum(axis=1)
    coincidences = (table / (ratings - 1)[:, None]).T @ table - np.diag(
        (table / (ratings - 1)[:, None]).sum(axis=0)
    )
    totals = coincidences.sum(axis=1)
    expected_counts = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    disagreement = float((expected_counts * distances).sum())
    return (
        float(1 - (coincidences * distances).sum() / disagreement)
        if disagreement > 0
        else float("nan")
    )
