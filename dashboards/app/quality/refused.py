"""Runs that broke a critical check: they are in landing, not in the lake."""

import polars
import streamlit as st

from dashboards.app import tables, text
from dashboards.app.data import Lake
from warehouse.refusals import Refusal, read_refusals

MOST_SHOWN = 10


def show(lake: Lake) -> bool:
    """Show them, newest first; whether there is any."""
    published = {run.run_id for run in lake.runs()}
    refusals = [
        refusal for refusal in read_refusals(lake.layout) if refusal.run_id not in published
    ]
    for refusal in refusals[:MOST_SHOWN]:
        _one(refusal)
    return bool(refusals)


def _one(refusal: Refusal) -> None:
    with st.container(border=True, key=f"refused_{refusal.run_id}"):
        st.error(
            f"Run {text.line(refusal.run_id)} was not published: it broke a critical check.",
            icon=":material/block:",
        )
        rows = [row.model_dump(mode="json") for row in refusal.broken]
        frame = polars.DataFrame(rows, infer_schema_length=None)
        tables.show(
            frame,
            {
                "severity": "Severity",
                "table_name": "Table",
                "column_name": "Column",
                "expectation": "Check",
                "unexpected_count": tables.count("Rows that broke it"),
                "detail": "Examples",
            },
            key=f"refused_{refusal.run_id}",
        )
