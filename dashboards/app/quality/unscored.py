"""Judgements without a score, by kind and reason."""

import polars
import streamlit as st

from dashboards.app import charts, tables
from dashboards.app.data import Lake
from dashboards.reports import wording
from schemas.run import Run


def show(lake: Lake, run: Run) -> None:
    """Shares of each kind that have no score; those that have one are counted beside."""
    judged = lake.frame("unscored_reasons", run_id=run.run_id)
    without = judged.filter(polars.col("reason").is_not_null()).with_columns(
        polars.col("reason").map_elements(wording.reason, return_dtype=polars.String)
    )
    if without.is_empty():
        st.success(
            f"Every one of {int(judged['judgements'].sum()):,} judgements has a score.",
            icon=":material/check:",
        )
    else:
        chart = charts.bars(
            without.select("judgement", "reason", "share", "judgements"),
            x="share",
            y="judgement",
            x_title="Share without a score",
            y_title="Judgement",
            colour="reason",
        )
        charts.show(chart, "Unscored judgements by reason", "unscored_chart")
        labels = {
            "judgement": "Judgement",
            "reason": "Because",
            "judgements": tables.count("Unscored"),
            "share": tables.share("Share"),
        }
        tables.show(without, labels, key="unscored")
    scored = judged.group_by("judgement", maintain_order=True).agg(
        polars.col("judgements").filter(polars.col("reason").is_null()).sum().alias("scored"),
        polars.col("judgements").filter(polars.col("reason").is_not_null()).sum().alias("unscored"),
    )
    tables.show(
        scored,
        {
            "judgement": "Judgement",
            "scored": tables.count("Scored"),
            "unscored": tables.count("Unscored"),
        },
        key="scored",
    )
