"""Runs: what was published, and how far the others are."""

from datetime import UTC, datetime

import polars
import streamlit as st

from dashboards.app import empty, links, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures
from schemas.identifiers import RunId
from warehouse.progress import Activity, RunProgress, Watch

RUNS_PER_PAGE = 20
REFRESH_SECONDS = 3.0
_ICONS = {
    Activity.RUNNING: ":material/sync:",
    Activity.STOPPED: ":material/pause_circle:",
    Activity.REFUSED: ":material/block:",
}


def show(lake: Lake) -> None:
    """Runs under way first, then the published ones."""
    open_runs = under_way(lake)
    if any(run.activity is Activity.RUNNING for run in open_runs):
        st.fragment(_progress, run_every=REFRESH_SECONDS)(lake, lake.exists and lake.snapshot())
    else:
        _draw(open_runs)
    runs = lake.runs()
    if runs:
        _published(lake, len(runs))
    elif not open_runs:
        empty.no_lake(lake.warehouse.address)


def under_way(lake: Lake) -> tuple[RunProgress, ...]:
    """Runs that are not published as planned, newest first."""
    ended = {RunId(run.run_id): run.finished_at for run in lake.runs()}
    watch: Watch = _watch(str(lake.warehouse.root), lake)
    return watch.progress(ended)


@st.cache_resource(show_spinner=False, max_entries=4)  # type: ignore[untyped-decorator]
def _watch(root: str, _lake: Lake) -> Watch:
    assert root
    return Watch(_lake.warehouse)


def _progress(lake: Lake, snapshot: str | bool) -> None:
    """Draws itself anew every few seconds; the whole page once a run ends or is published."""
    open_runs = under_way(lake)
    _draw(open_runs)
    published_since = lake.exists and lake.snapshot() != snapshot
    if published_since or not any(run.activity is Activity.RUNNING for run in open_runs):
        st.rerun()


def _draw(open_runs: tuple[RunProgress, ...]) -> None:
    if open_runs:
        st.subheader("Not published yet", anchor=False)
    for run in open_runs:
        with st.container(border=True, key=f"progress_{run.planned.run_id}"):
            _one(run)


def _one(run: RunProgress) -> None:
    planned = run.planned
    told = f"{_ICONS[run.activity]} **{text.line(planned.run_id)}** is {run.activity.value}"
    st.markdown(f"{told} with {text.line(planned.engine)}, profile {text.line(planned.profile)}")
    share = min(run.landed_count / planned.idea_count, 1.0) if planned.idea_count else 1.0
    st.progress(share, text=f"{run.landed_count:,} of {planned.idea_count:,} ideas landed")
    row = st.columns(5)
    row[0].metric(
        "Ideas per minute", "–" if run.ideas_per_minute is None else f"{run.ideas_per_minute:.1f}"
    )
    row[1].metric("Estimated end", _clock(run.ends_at))
    row[2].metric("Incomplete", f"{run.incomplete_count:,}")
    row[3].metric("Unscored judgements", f"{run.unscored_count:,}")
    row[4].metric("Cost so far", cost(run))
    _what_to_do(run)


def _clock(moment: datetime | None) -> str:
    if moment is None:
        return "–"
    return (
        f"{moment:%H:%M} UTC"
        if (moment - datetime.now(UTC)).days < 1
        else f"{moment:%Y-%m-%d %H:%M} UTC"
    )


def cost(run: RunProgress) -> str:
    """What a run has spent so far, beside its bound."""
    bound = run.planned.budget.maximum_cost_usd
    spent = f"${run.cost_usd:,.4f}" + (f" of ${bound:,.2f}" if bound is not None else "")
    return spent + (
        f" (+ {run.unknown_cost_count:,} ideas without a price)" if run.unknown_cost_count else ""
    )


def _what_to_do(run: RunProgress) -> None:
    if run.activity is Activity.STOPPED:
        st.caption(
            "No command is at work on it. Give the same `assay evaluate` again: it goes on where it"
            " stopped and pays nothing twice."
        )
    elif run.activity is Activity.REFUSED:
        st.caption(
            "Its files broke a critical check, so they stay out of the lake. The page Data quality"
            " says which."
        )
        links.to("quality", "Broken checks", run=run.planned.run_id)
    elif run.whole:
        st.caption("Every idea has landed; checks and publication are under way.")


def _published(lake: Lake, run_count: int) -> None:
    st.subheader("Published runs", anchor=False)
    pages = -(-run_count // RUNS_PER_PAGE)
    page = 1
    if pages > 1:
        page = int(
            st.number_input(f"Page, 1 to {pages:,}", 1, pages, 1, key="page", bind="query-params")
        )
    runs = lake.frame("run_list", limit=RUNS_PER_PAGE, offset=(page - 1) * RUNS_PER_PAGE)
    of = {str(run.run_id): run.order_in_words for run in lake.runs()}
    runs = runs.with_columns(
        polars.col("run_id").replace_strict(of, return_dtype=polars.String).alias("order")
    )
    chosen = tables.show(
        runs,
        {
            "run_id": "Run",
            "order": "In order",
            "engine": "Engine",
            "profile": "Profile",
            "scored_count": tables.count("Scored", "Ideas of which nothing is missing."),
            "partly_scored_count": tables.count(
                "Partly scored", "Ideas of which some judgement is missing."
            ),
            "unscored_count": tables.count("Unscored", "Ideas without any score."),
            "rejected_count": tables.count(
                "Rejected", "Entries of the idea file that could not enter."
            ),
            "cost_usd": tables.dollars("Cost", "Of the calls with a known price."),
            "unknown_price_calls": tables.count("No price", "Calls that cost something unknown."),
            "duration_seconds": tables.seconds("Duration"),
            "started_at": tables.moment("Started"),
            "label": "Label",
        },
        key="runs",
        selectable=True,
    )
    _open(chosen["run_id"] if chosen else str(runs["run_id"][0]), newest=chosen is None)
    _totals(runs)


def _open(run_id: str, *, newest: bool) -> None:
    st.caption("Select a row to open it." if newest else f"Run {text.line(run_id)}")
    row = st.columns(4)
    for place, (name, label) in zip(
        row,
        (
            ("ranking", "Its ranking"),
            ("cost", "Its cost"),
            ("sources", "Its sources"),
            ("quality", "Its data quality"),
        ),
        strict=True,
    ):
        with place:
            links.to(name, f"{label} (newest run)" if newest else label, run=run_id)


def _totals(runs: polars.DataFrame) -> None:
    ideas, unscored = (int(runs[name].sum()) for name in ("idea_count", "unscored_count"))
    st.caption(
        f"{figures.counted(len(runs), 'run')} shown: {figures.counted(ideas, 'idea')},"
        f" {unscored:,} of them without any score."
    )
