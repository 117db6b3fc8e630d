"""How long calls took: medians and tails by step, model and source, and over time."""

import polars

from dashboards.app import charts, state, tables, timing
from dashboards.app.data import Lake
from schemas.run import Run

_TAILS = {"p50_seconds": "p50", "p95_seconds": "p95", "p99_seconds": "p99"}
_SPLITS = {"All calls": "none", "Step": "step", "Model": "model"}


def show(lake: Lake, run: Run, steps: polars.DataFrame, seconds: int) -> None:
    """Model calls, then requests to sources."""
    timed = steps.filter(polars.col("p50_seconds").is_not_null())
    if not timed.is_empty():
        charts.show(
            _tails(timed, "step"), "Latency of model calls by step", "latency_by_step_chart"
        )
    tables.show(
        timed,
        {
            "step": "Step",
            "model": "Model",
            "calls": tables.count("Calls"),
            "timed_out_calls": tables.count(
                "Timed out",
                "Calls that got no answer in the time they had, which is their latency.",
            ),
            **{name: tables.seconds(label) for name, label in _TAILS.items()},
            "p95_queue_seconds": tables.seconds("p95 in queue", "Waiting for Assay's own limits."),
        },
        key="latency",
    )
    _over_time(lake, run, seconds)
    of_sources(lake, run)


def of_sources(lake: Lake, run: Run) -> None:
    """Requests to literature and full-text sources."""
    sources = lake.frame("sources", run_id=run.run_id).filter(
        polars.col("p50_seconds").is_not_null()
    )
    if sources.is_empty():
        return
    named = sources.with_columns(polars.format("{} {}", "source", "endpoint").alias("request"))
    charts.show(
        _tails(named, "request"), "Latency of sources by endpoint", "latency_by_source_chart"
    )


def _over_time(lake: Lake, run: Run, seconds: int) -> None:
    split = state.choose("Over time, split by", list(_SPLITS), key="split")
    found = lake.frame(
        "cost_over_time", run_id=run.run_id, bucket_seconds=seconds, split=_SPLITS[split]
    )
    for column, label in _TAILS.items():
        part = found.select("time", "name", column, "timed_out_calls")
        if part[column].count():
            chart = charts.lines(
                part,
                x="time",
                y=column,
                x_title="Time (UTC)",
                y_title="seconds",
                colour="name",
                every_seconds=seconds,
            )
            late = part.filter(
                (polars.col("timed_out_calls") > 0) & polars.col(column).is_not_null()
            )
            chart = charts.marked(chart, late, x="time", y=column, what="calls timed out")
            charts.show(
                chart, f"{label} of latency per {timing.in_words(seconds)}", f"{column}_over_time"
            )


def _tails(frame: polars.DataFrame, name: str) -> "charts.Drawn":
    long = frame.group_by(name, maintain_order=True).agg(polars.col(list(_TAILS)).max())
    long = long.rename(_TAILS).unpivot(
        on=list(_TAILS.values()), index=name, variable_name="percentile", value_name="seconds"
    )
    return charts.bars(
        long, x="seconds", y=name, x_title="Seconds", y_title="", colour="percentile", stacked=False
    )
