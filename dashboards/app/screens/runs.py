"""Runs: what was published, and how far the running ones are."""

import streamlit as st

from dashboards.app import empty, tables
from dashboards.app.data import Lake


def show(lake: Lake) -> None:
    """The list of runs."""
    if not lake.exists:
        empty.no_lake(str(lake.layout.root))
        return
    runs = lake.frame("run_list")
    st.subheader("Published runs", anchor=False)
    tables.show(
        runs,
        {
            "run_id": "Run",
            "state": "State",
            "engine": "Engine",
            "evaluated_count": tables.count("Done"),
            "failed_count": tables.count("Failed", "Ideas without a complete evaluation."),
            "ideas_without_score": tables.count("Without score"),
            "cost_usd": tables.dollars("Cost"),
            "unknown_price_calls": tables.count("Calls without a price"),
            "duration_seconds": tables.seconds("Duration"),
            "started_at": tables.moment("Started"),
        },
        key="runs",
    )
