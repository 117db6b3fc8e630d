"""Score distributions of runs beside each other, and how far each moved from the one before.

Distance: population stability index over ten bins of one point, PSI = Σ (p − q) · ln(p / q), half
an idea added to every bin. By custom below 0.1 is stable and above 0.25 has moved; few ideas move
by chance, so below `ENOUGH` nothing is said.
"""

from math import log, sqrt
from typing import Any

import polars
import streamlit as st

from dashboards.app import charts, state, tables
from dashboards.app.data import Lake
from schemas.run import Run

RUNS_COMPARED, BINS, ENOUGH = 8, 10, 50
MOVED = 0.25


def show(lake: Lake, run: Run) -> None:
    """Of the chosen run, the runs before it, and each of the scores."""
    runs = [one for one in lake.runs() if one.started_at <= run.started_at][:RUNS_COMPARED]
    bins = lake.frame("score_bins", run_ids=[str(one.run_id) for one in runs])
    what = state.choose_view("Score", _kinds(bins), key="what")
    part = bins.filter(polars.col("what") == what)
    rows = distances([str(one.run_id) for one in runs], part)
    shares = _shares(part)
    if shares.is_empty():
        st.info("None of these runs has a score of this kind.")
    else:
        chart = charts.columns(
            shares,
            x="points",
            y="share",
            x_title="Points",
            y_title="Share of scored ideas",
            colour="run_id",
            stacked=False,
        )
        charts.show(chart, f"Distribution of {what}, by run", "drift_chart")
    for row in rows:
        if row["moved"]:
            st.warning(
                "The scores moved from one run to the next: other ideas, another model, or a judge"
                " that changed.",
                icon=":material/trending_up:",
            )
            break
    tables.show(
        polars.DataFrame(rows),
        {
            "run_id": "Run",
            "mean": tables.score("Mean", "Of the scored ideas."),
            "scored": tables.count("Scored"),
            "unscored": tables.count("Unscored"),
            "standard_deviation": tables.score("Standard deviation"),
            "psi": tables.score(
                "Distance from the run before",
                "Population stability index; above 0.25 the scores moved.",
            ),
            "moved": "Moved",
        },
        key="drift",
    )


def _kinds(bins: polars.DataFrame) -> list[str]:
    """The total first."""
    return ["score", *sorted(set(bins["what"].to_list()) - {"score"})]


def _shares(part: polars.DataFrame) -> polars.DataFrame:
    """Shares of the scored ideas by run and bin, empty bins included."""
    scored = part.filter(polars.col("bin").is_not_null()).select("run_id", "bin", "ideas")
    every = (
        scored.select("run_id")
        .unique(maintain_order=True)
        .join(polars.DataFrame({"bin": list(range(BINS))}), how="cross")
    )
    filled = (
        every.join(scored, on=["run_id", "bin"], how="left")
        .with_columns(polars.col("ideas").fill_null(0))
        .sort("bin", "run_id")
    )
    return filled.select(
        polars.format("{}–{}", "bin", polars.col("bin") + 1).alias("points"),
        "run_id",
        (polars.col("ideas") / polars.col("ideas").sum().over("run_id")).alias("share"),
        "ideas",
    )


def distances(run_ids: list[str], bins: polars.DataFrame) -> list[dict[str, Any]]:
    """One row per run, newest first: mean, spread, counts, and the distance from the run before;
    None with too few ideas.
    """
    known = [_summary(run_id, bins.filter(polars.col("run_id") == run_id)) for run_id in run_ids]
    for row, before in zip(known, [*known[1:], None], strict=True):
        enough = before is not None and min(row["scored"], before["scored"]) >= ENOUGH
        row["psi"] = (
            stability_index(row["counts"], before["counts"])
            if before is not None and enough
            else None
        )
        row["moved"] = row["psi"] is not None and row["psi"] > MOVED
    return [{name: value for name, value in row.items() if name != "counts"} for row in known]


def stability_index(now: list[int], before: list[int]) -> float:
    """PSI of two histograms over the same bins."""
    ours, theirs = (
        [(count + 0.5) / (sum(counts) + 0.5 * len(counts)) for count in counts]
        for counts in (now, before)
    )
    return sum((p - q) * log(p / q) for p, q in zip(ours, theirs, strict=True))


def _summary(run_id: str, bins: polars.DataFrame) -> dict[str, Any]:
    placed = bins.filter(polars.col("bin").is_not_null())
    count = int(placed["ideas"].sum())
    mean = float(placed["points"].sum()) / count if count else None
    variance = None if mean is None else float(placed["squared_points"].sum()) / count - mean * mean
    by_bin = dict(zip(placed["bin"].to_list(), placed["ideas"].to_list(), strict=True))
    return {
        "run_id": run_id,
        "mean": mean,
        "scored": count,
        "unscored": int(bins.filter(polars.col("bin").is_null())["ideas"].sum()),
        "standard_deviation": None if variance is None else sqrt(max(variance, 0.0)),
        "counts": [by_bin.get(number, 0) for number in range(BINS)],
    }
