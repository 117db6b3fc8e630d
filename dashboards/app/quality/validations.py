"""Expectations held, by run and table."""

import polars
import streamlit as st

from dashboards.app import charts, empty, tables, text
from dashboards.app.data import Lake
from schemas.run import Run

RUNS_SHOWN = 50


def show(lake: Lake, run: Run) -> None:
    """The chosen run by table, what it broke, and the runs before it."""
    by_table = lake.frame("checks_by_table", run_id=run.run_id).with_columns(
        polars.when(polars.col("table_name") == "")
        .then(polars.lit("(several tables)"))
        .otherwise(polars.col("table_name"))
        .alias("table_name")
    )
    broken = lake.frame("broken_checks", run_id=run.run_id)
    answered = int(by_table["answered"].sum())
    st.caption(
        f"{int(by_table['checks'].sum()):,} checks of run {text.line(run.run_id)}, {answered:,} of"
        f" them by Great Expectations; {len(broken):,} broken."
    )
    if not broken.is_empty():
        tables.show(
            broken,
            {
                "severity": "Severity",
                "table_name": "Table",
                "column_name": "Column",
                "expectation": "Check",
                "unexpected_count": tables.count("Rows that broke it"),
                "evaluated_count": tables.count("Rows looked at"),
                "detail": "Examples",
            },
            key="broken",
        )
    tables.show(
        by_table,
        {
            "table_name": "Table",
            "checks": tables.count("Checks"),
            "broken": tables.count("Broken"),
            "rows_checked": tables.count("Rows looked at"),
            "unexpected_rows": tables.count("Rows that broke one"),
        },
        key="by_table",
    )
    _runs(lake)
    if answered:
        _data_docs(lake, run)
    else:
        empty.show(
            "Arrow and SQL have validated this run. Great Expectations will with the next larger"
            " run, or now:",
            f"assay warehouse validate --warehouse {lake.warehouse.address}",
        )


def _runs(lake: Lake) -> None:
    runs = lake.frame("checks_by_run", limit=RUNS_SHOWN)
    if len(runs) > 1:
        shown = runs.select(polars.col("started_at").alias("time"), "run_id", "unexpected_rows")
        chart = charts.lines(
            shown,
            x="time",
            y="unexpected_rows",
            x_title="Start of the run (UTC)",
            y_title="Rows that broke a check",
        )
        charts.show(chart, "Rows that broke a check, by run", "checks_by_run_chart")
    tables.show(
        runs,
        {
            "run_id": "Run",
            "started_at": tables.moment("Started"),
            "checks": tables.count("Checks"),
            "answered": tables.count("By Great Expectations"),
            "broken_critical": tables.count("Broken, critical"),
            "broken_warnings": tables.count("Broken, warnings"),
            "unexpected_rows": tables.count("Rows that broke one"),
        },
        key="checks_by_run",
    )


def _data_docs(lake: Lake, run: Run) -> None:
    def page() -> str:
        from dashboards.render.data_docs import (
            data_docs,
        )  # imports Great Expectations, which takes seconds

        return data_docs(lake.warehouse, run.run_id)

    st.subheader("Great Expectations' Data Docs", anchor=False)
    st.caption(
        "Every result of Great Expectations about this run, in one file that loads nothing from"
        " elsewhere."
    )
    st.download_button(
        "Download Data Docs",
        page,
        f"data-docs-{run.run_id}.html",
        "text/html",
        key="data_docs",
        on_click="ignore",
    )
