"""Leaderboards weighed anew: scores, 95 % intervals and ranks from module scores, in memory, so
that sliders answer at once.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars
from scipy.special import stdtrit

from schemas.run import Module

Frame = polars.DataFrame

_DIGITS = 9
_UPPER_TAIL = 0.975
_MANY = 1e6


def scored_modules(ideas: Frame) -> tuple[str, ...]:
    """Modules that scored at least one idea, in the order of `Module`."""
    return tuple(str(module) for module in Module if ideas[f"{module}_0_to_10"].is_not_null().any())


def weighed(ideas: Frame, weights: Mapping[str, float]) -> Frame:
    """The leaderboard of a run under other weights.

    As in `idea_scores`, every idea is weighed over the modules that scored any: where one of them
    did not score it, its mean over the run stands in, and the interval reaches from what the score
    were with 0 to what it were with 10. An idea without any score has no rank. The interval is
    Student's, with Welch's degrees of freedom; an idea of which a module's standard error is
    unknown has none.

    Args:
        ideas: rows of `leaderboard.sql`.
        weights: by module, none negative.

    Returns:
        `ideas` with `score`, `lower`, `upper` (0 to 10), `rank`, `best_rank`, `worst_rank` within
        the group, and `published_score`.
    """
    modules = tuple(module for module in scored_modules(ideas) if weights.get(module, 0.0) > 0)
    score, lower, upper = _scores_and_intervals(ideas, modules, weights)
    columns = {"score": score, "lower": lower, "upper": upper}
    frame = ideas.rename({"score": "published_score"}).with_columns(
        polars.Series(name, values, dtype=polars.Float64, nan_to_null=True)
        for name, values in columns.items()
    )
    return _with_ranks(frame).sort(["group", "rank", "idea_id"], nulls_last=True)


def _scores_and_intervals(
    ideas: Frame, modules: Sequence[str], weights: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not modules:
        nothing = np.full(len(ideas), np.nan)
        return nothing, nothing, nothing
    values = _matrix(ideas, modules, "0_to_10")
    known = ~np.isnan(values)
    weight = np.array([weights[module] for module in modules])
    share = np.broadcast_to(weight / weight.sum(), values.shape)
    scored = known.any(axis=1)

    def with_missing_as(stand_in: np.ndarray | float) -> np.ndarray:
        total: np.ndarray = (share * np.where(known, values, stand_in)).sum(axis=1)
        return np.where(scored, total, np.nan)

    half = _half_widths(ideas, modules, np.where(known, share, 0.0), known)
    score = with_missing_as(np.nanmean(values, axis=0))
    lower, upper = with_missing_as(0.0) - half, with_missing_as(10.0) + half
    return score, np.clip(lower, 0, 10), np.clip(upper, 0, 10)


def _half_widths(
    ideas: Frame, modules: Sequence[str], share: np.ndarray, known: np.ndarray
) -> np.ndarray:
    errors = np.where(known, _matrix(ideas, modules, "standard_error"), 0.0)
    counts = np.column_stack([_numbers(ideas, f"{module}_sample_count") for module in modules])
    freedom = np.where(np.isnan(counts), _MANY, np.maximum(counts - 1, 1))
    variances = (share * errors) ** 2
    total = variances.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(total > 0, total**2 / (variances**2 / freedom).sum(axis=1), _MANY)
    quantile: np.ndarray = stdtrit(degrees, _UPPER_TAIL)
    half: np.ndarray = quantile * np.sqrt(total)
    return half


def _matrix(ideas: Frame, modules: Sequence[str], suffix: str) -> np.ndarray:
    return np.column_stack([_numbers(ideas, f"{module}_{suffix}") for module in modules])


def _numbers(ideas: Frame, column: str) -> np.ndarray:
    """The column as floats, NaN for null and for a column that is not there."""
    if column not in ideas.columns:
        return np.full(len(ideas), np.nan)
    return np.asarray(ideas[column].cast(polars.Float64).fill_null(np.nan).to_numpy())


def _with_ranks(frame: Frame) -> Frame:
    parts = [_ranked(part) for part in frame.partition_by("group", maintain_order=True)]
    return polars.concat(parts) if parts else _ranked(frame)


def _ranked(part: Frame) -> Frame:
    """Ranks of one group; the best and worst that intervals allow.

    A score without an interval counts as a point for the others.
    """
    score = part["score"].round(_DIGITS)
    lower, upper = (
        part[name].fill_null(score).drop_nulls().sort().to_numpy() for name in ("lower", "upper")
    )
    best = 1 + len(lower) - np.searchsorted(lower, _numbers(part, "upper"), side="right")
    worst = len(upper) - np.searchsorted(upper, _numbers(part, "lower"), side="left")
    no_interval = part["lower"].is_null()
    return part.with_columns(
        score.rank("min", descending=True).cast(polars.Int64).alias("rank"),
        *(
            polars.when(~no_interval).then(polars.Series(values, dtype=polars.Int64)).alias(name)
            for name, values in (("best_rank", best), ("worst_rank", np.maximum(worst, 1)))
        ),
    )
