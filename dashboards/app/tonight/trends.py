"""How nights moved: cost of an idea, unscored share, time and alarms of comparable runs."""

import polars
import streamlit as st

from dashboards.app import charts
from dashboards.app.data import Lake
from dashboards.reports.alarms import unscored_share
from dashboards.reports.nightly_page import night_run
from schemas.run import Run

NIGHTS = 14
_DRAWN = (
    ("cost_usd_per_idea", "Cost of an idea", "US dollars"),
    ("unscored_percent", "Judgements without a score", "Per cent"),
    ("minutes", "Time", "Minutes"),
    ("alarms", "Alarms", "Alarms"),
)


def show(lake: Lake, run: Run) -> None:
    """The last nights that compare with the run, up to it; nothing where there is only this one."""
    runs = [
        each
        for each in lake.runs()
        if each.started_at <= run.started_at and run.compares_with(each)
    ][:NIGHTS]
    if len(runs) < 2:
        return
    st.subheader(f"The last {len(runs)} comparable nights", anchor=False)
    rows = polars.DataFrame(
        [_night(lake, each) for each in reversed(runs)], infer_schema_length=None
    )
    for place, (column, title, unit) in enumerate(_DRAWN):
        if place % 2 == 0:
            left, right = st.columns(2)
        with left if place % 2 == 0 else right:
            known = rows.select("night", polars.col(column).cast(polars.Float64))
            if known[column].null_count() == len(known):
                st.caption(f"{title}: not known for any of these nights.")
                continue
            drawn = charts.lines(known, x="night", y=column, x_title="Night (UTC)", y_title=unit)
            charts.show(drawn, title, f"trend_{column}")


def _night(lake: Lake, run: Run) -> dict[str, object]:
    night = lake.ask(night_run, run.run_id, thresholds=lake.thresholds)
    share = unscored_share(lake.frame("unscored_reasons", run_id=run.run_id))
    return {
        "night": run.started_at,
        "cost_usd_per_idea": night.cost.cost_usd_per_idea,
        "unscored_percent": None if share is None else 100 * share,
        "minutes": run.duration_seconds / 60,
        "alarms": len(night.alarms),
    }
