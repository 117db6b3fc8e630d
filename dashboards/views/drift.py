"""Drift of score distributions from run to run.

The distance is the population stability index over ten bins of one point, PSI = Σ (p − q) · ln(p /
q), with half an idea added to every bin. By convention, below 0.1 is stable and above 0.25 has
moved. Small samples move by chance, so there is no distance below `ENOUGH` ideas.
"""

from math import log, sqrt
from typing import Any

import polars

BINS, ENOUGH = 10, 50
MOVED = 0.25


def distances(run_ids: list[str], bins: polars.DataFrame) -> list[dict[str, Any]]:
    """Return mean, spread, counts and PSI of each run, newest first.

    PSI is the distance from the run before; None with too few ideas.
    """
    summaries = [
        _summary(run_id, bins.filter(polars.col("run_id") == run_id)) for run_id in run_ids
    ]
    for row, before in zip(summaries, [*summaries[1:], None], strict=True):
        enough = before is not None and min(row["scored"], before["scored"]) >= ENOUGH
        row["psi"] = (
            stability_index(row["counts"], before["counts"])
            if before is not None and enough
            else None
        )
        row["moved"] = row["psi"] is not None and row["psi"] > MOVED
    return [{name: value for name, value in row.items() if name != "counts"} for row in summaries]


def stability_index(now: list[int], before: list[int]) -> float:
    """Return the PSI of two histograms over the same bins."""
    ours, theirs = (
        [(count + 0.5) / (sum(counts) + 0.5 * len(counts)) for count in counts]
        for counts in (now, before)
    )
    return sum((p - q) * log(p / q) for p, q in zip(ours, theirs, strict=True))


def _summary(run_id: str, bins: polars.DataFrame) -> dict[str, Any]:
    scored_bins = bins.filter(polars.col("bin").is_not_null())
    count = int(scored_bins["ideas"].sum())
    mean = float(scored_bins["points"].sum()) / count if count else None
    variance = (
        None if mean is None else float(scored_bins["squared_points"].sum()) / count - mean * mean
    )
    by_bin = dict(zip(scored_bins["bin"].to_list(), scored_bins["ideas"].to_list(), strict=True))
    return {
        "run_id": run_id,
        "mean": mean,
        "scored": count,
        "unscored": int(bins.filter(polars.col("bin").is_null())["ideas"].sum()),
        "standard_deviation": None if variance is None else sqrt(max(variance, 0.0)),
        "counts": [by_bin.get(number, 0) for number in range(BINS)],
    }
