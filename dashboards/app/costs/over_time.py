"""Dollars and tokens over time, with the run's budget as a line."""

import polars

from dashboards.app import charts, empty, state, timing
from dashboards.app.data import Lake
from schemas.run import Run
from warehouse.progress import read_planned

_SPLITS = {"All calls": "none", "Step": "step", "Model": "model"}


def show(lake: Lake, run: Run, seconds: int) -> None:
    """Money spent so far, and tokens per time."""
    calls = lake.frame("cost_over_time", run_id=run.run_id, bucket_seconds=seconds, split="none")
    if calls.is_empty():
        empty.show(
            "Every reply of this run came from Assay's cache: no call was made, nothing was spent."
        )
        return
    spent = calls.select("time", polars.col("cost_usd").fill_null(0.0).cum_sum().alias("spent_usd"))
    planned = read_planned(lake.layout, run.run_id)
    budget = planned.budget.maximum_cost_usd if planned else None
    line: charts.Drawn = charts.lines(
        spent, x="time", y="spent_usd", x_title="Time (UTC)", y_title="Spent (US dollars)"
    )
    if budget is not None:
        line += charts.limit(budget, f"budget ${budget:,.2f}")
    charts.show(
        line,
        "Spent so far" + ("" if budget is not None else " (the run had no budget in dollars)"),
        "spent_chart",
    )
    split = state.choose("Split by", list(_SPLITS), key="split")
    parts = lake.frame(
        "cost_over_time", run_id=run.run_id, bucket_seconds=seconds, split=_SPLITS[split]
    )
    per = timing.in_words(seconds)
    for column, title, unit in (
        ("cost_usd", "Cost", "US dollars"),
        ("prompt_tokens", "Prompt tokens", "tokens"),
        ("completion_tokens", "Completion tokens", "tokens"),
        ("thinking_tokens", "Completion tokens that were thinking", "tokens"),
        ("cached_tokens", "Prompt tokens from the provider's cache", "tokens"),
    ):
        found = parts.select("time", "name", column)
        if found[column].count():
            chart = charts.lines(
                found,
                x="time",
                y=column,
                x_title="Time (UTC)",
                y_title=f"{unit} per {per}",
                colour="name",
                every_seconds=seconds,
                nothing=0.0,
            )
            charts.show(chart, f"{title} per {per}", f"{column}_over_time")
