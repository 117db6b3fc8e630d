"""What single ideas cost: the distribution, and the dearest."""

import polars
import streamlit as st

from dashboards.app import charts, empty, links, tables
from dashboards.app.data import Lake
from dashboards.render.figures import counted
from schemas.run import Run

BINS, DEAREST = 30, 50


def show(lake: Lake, run: Run) -> None:
    """What each module costs an idea, then how many ideas cost how much; ideas with a call of
    unknown price are counted beside.
    """
    tables.show(
        lake.frame("cost_by_module", run_id=run.run_id),
        {
            "module": "Module",
            "ideas": tables.count("Ideas"),
            "llm_calls_per_idea": tables.count("Calls an idea"),
            "prompt_tokens_per_idea": tables.count("Prompt tokens an idea"),
            "completion_tokens_per_idea": tables.count("Completion tokens an idea"),
            "thinking_tokens_per_idea": tables.count("Of them thinking", "Empty: no call told."),
            "cost_usd_per_idea": tables.dollars("Cost an idea"),
            "cost_usd": tables.dollars("Cost"),
            "unknown_price_calls": tables.count("No price"),
        },
        key="modules",
    )
    _spread(lake, run)
    _dearest(lake, run)


def _spread(lake: Lake, run: Run) -> None:
    bins = lake.frame("cost_per_idea", run_id=run.run_id, bins=BINS)
    unknown = int(bins.filter(polars.col("bin").is_null())["ideas"].sum())
    known = bins.filter(polars.col("bin").is_not_null()).with_columns(
        polars.col("from_usd").round(5).cast(polars.String).alias("from (US dollars)")
    )
    if known.is_empty():
        empty.show(
            "No idea of this run has a known cost: its model has no price. Set"
            " ASSAY_LANGUAGE_MODEL__… prices for the next run."
        )
    else:
        chart = charts.columns(
            known.select("from (US dollars)", "to_usd", "ideas"),
            x="from (US dollars)",
            y="ideas",
            x_title="Cost of an idea, from (US dollars)",
            y_title="Ideas",
        )
        charts.show(chart, "Ideas by cost", "cost_per_idea_chart")
    st.caption(f"In no column: {counted(unknown, 'idea')} with a call of unknown price.")


def _dearest(lake: Lake, run: Run) -> None:
    dear = lake.frame("expensive_ideas", run_id=run.run_id, limit=DEAREST)
    st.subheader("Most expensive ideas", anchor=False)
    opened = dear.with_columns(
        polars.col("idea_id")
        .map_elements(
            lambda idea: links.address("idea", run=run.run_id, idea=idea),
            return_dtype=polars.String,
        )
        .alias("page")
    )
    tables.show(
        opened,
        {
            "page": tables.link("Review"),
            "title": "Idea",
            "group": "Group",
            "cost_usd": tables.dollars("Cost"),
            "unknown_price_calls": tables.count("No price"),
            "calls": tables.count("Calls"),
            "tokens": tables.count("Tokens"),
            "latency_seconds": tables.seconds("Time in calls"),
            "idea_id": "Identifier",
        },
        key="dear",
    )
