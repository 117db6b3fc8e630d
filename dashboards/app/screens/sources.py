"""Sources: what was asked of each, what it allowed, and what it left unanswered."""

import polars
import streamlit as st

from dashboards.app import amounts, charts, empty, state, tables, timing
from dashboards.app.data import Lake
from dashboards.render import wording
from schemas.run import Run

ALLOWED = "semantic_scholar"
LATENCY = "p95_seconds"
_CURVES = {
    "requests": ("Requests sent", "requests"),
    "rate_limited": ("Refused as too many (429)", "requests"),
    "wait_seconds": ("Waiting for the allowance", "seconds, all workers together"),
    "cache_hits": ("Answered by a cache", "look-ups"),
    "unanswered": ("Look-ups left unanswered", "look-ups"),
    LATENCY: ("p95 of latency", "seconds"),
}


def show(lake: Lake) -> None:
    """Totals, a table by endpoint, and curves over time."""
    run = state.choose_run(lake)
    if run is None:
        return
    state.tell_run(run)
    sources = lake.frame("sources", run_id=run.run_id)
    if sources.is_empty():
        empty.show(
            "This run asked no source: its ideas were reused from earlier runs, or needed no"
            " literature.",
            f"assay evaluate ideas.jsonl --literature live --warehouse {lake.warehouse.address}",
        )
        return
    names = sorted(sources["source"].unique().to_list())
    chosen = state.choose_some("Sources", names, key="source")
    shown = sources.filter(polars.col("source").is_in(chosen)) if chosen else sources
    _totals(shown)
    _by_endpoint(shown)
    _over_time(lake, run, chosen)
    _unanswered(lake, run)


def _totals(shown: polars.DataFrame) -> None:
    row = st.columns(6)
    row[0].metric(
        "Requests sent",
        amounts.count(shown["requests_worth"].sum()),
        help="A request that served several ideas counts once.",
    )
    row[1].metric("From a cache", amounts.count(shown["cache_hits"].sum()))
    row[2].metric("429s", amounts.count(shown["rate_limited"].sum()))
    row[3].metric(
        "Failed tries",
        amounts.count(shown["failed"].sum()),
        help="A failed try may have been followed by one that was answered.",
    )
    row[4].metric(
        "Left unanswered",
        amounts.count(shown["unanswered"].sum()),
        help="Look-ups that no try answered.",
    )
    row[5].metric(
        "Waited",
        f"{amounts.count(shown['wait_seconds'].sum())} s",
        help="For the allowances of sources, all workers together.",
    )


def _by_endpoint(shown: polars.DataFrame) -> None:
    tables.show(
        shown,
        {
            "source": "Source",
            "endpoint": "Endpoint",
            "requests_worth": tables.count("Requests sent"),
            "look_ups": tables.count("Look-ups", "Several may travel in one request."),
            "cache_hits": tables.count("From a cache"),
            "failed": tables.count("Failed tries"),
            "rate_limited": tables.count("429"),
            "unanswered": tables.count("Unanswered"),
            "mean_wait_seconds": tables.seconds("Mean wait"),
            "p50_seconds": tables.seconds("p50"),
            "p95_seconds": tables.seconds("p95"),
            "p99_seconds": tables.seconds("p99"),
        },
        key="endpoints",
    )


def _over_time(lake: Lake, run: Run, chosen: list[str]) -> None:
    seconds = timing.bucket_seconds(lake, run.run_id)
    hourly = state.switch(
        "Per hour", key="hourly", help="Otherwise as fine as the length of the run allows."
    )
    seconds = 3600 if hourly else seconds
    found = lake.frame("sources_over_time", run_id=run.run_id, bucket_seconds=seconds)
    found = found.filter(polars.col("source").is_in(chosen)) if chosen else found
    _allowance(found, lake.requests_per_second, seconds)
    label = state.choose("Curve", [title for title, _ in _CURVES.values()], key="curve")
    column = next(name for name, (title, _) in _CURVES.items() if title == label)
    title, unit = _CURVES[column]
    part = found.select("time", "source", column, "timed_out")
    measured = column == LATENCY
    chart = charts.lines(
        part,
        x="time",
        y=column,
        x_title="Time (UTC)",
        y_title=f"{unit} per {timing.in_words(seconds)}",
        colour="source",
        every_seconds=seconds,
        nothing=None if measured else 0.0,
    )
    if measured:
        late = part.filter((polars.col("timed_out") > 0) & polars.col(column).is_not_null())
        chart = charts.marked(chart, late, x="time", y=column, what="requests timed out")
    charts.show(chart, f"{title} per {timing.in_words(seconds)}", "source_curve")
    if column == "unanswered":
        st.caption(
            "A failed try and the next may fall into different times, so single points may be off;"
            " the totals above are exact."
        )


def _allowance(found: polars.DataFrame, per_second: float, seconds: int) -> None:
    asked = found.filter(polars.col("source") == ALLOWED)
    if asked.is_empty():
        return
    used = asked.select(
        "time", (polars.col("requests") / (per_second * seconds)).alias("share_used")
    )
    chart = charts.lines(
        used,
        x="time",
        y="share_used",
        x_title="Time (UTC)",
        y_title="Share of the allowance (1 = all)",
        every_seconds=seconds,
        nothing=0.0,
    )
    charts.show(
        chart + charts.limit(1.0, "allowance"),
        f"Semantic Scholar's allowance of {per_second:g} requests per second used",
        "allowance_chart",
    )


def _unanswered(lake: Lake, run: Run) -> None:
    st.subheader("What could not be looked up", anchor=False)
    lost = lake.frame("lost_look_ups", run_id=run.run_id)
    if lost.is_empty():
        st.caption("Nothing: every look-up was answered.")
        return
    told = lost.with_columns(
        polars.col("stage").map_elements(wording.stage, return_dtype=polars.String),
        polars.col("reason").map_elements(wording.reason, return_dtype=polars.String),
    )
    tables.show(
        told,
        {
            "stage": "While",
            "reason": "Because",
            "look_ups": tables.count("Failures"),
            "ideas": tables.count("Ideas"),
            "may_work_again": tables.count("May work again"),
        },
        key="lost",
    )
    refused = lake.frame("request_failures", run_id=run.run_id)
    if not refused.is_empty():
        with st.expander("Single requests that failed, answered by a later try or not"):
            tables.show(
                refused,
                {
                    "source": "Source",
                    "reason": "Reason",
                    "status": tables.count("HTTP status"),
                    "requests": tables.count("Requests"),
                    "most_attempts": tables.count("Most tries"),
                },
                key="refused",
            )
