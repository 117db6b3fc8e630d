"""Cost and latency: what a run's model calls cost, how long they took, and what others would have
cost.
"""

import polars
import streamlit as st

from dashboards.app import amounts, charts, empty, state, tables, timing
from dashboards.app.costs import latency, per_idea, what_if
from dashboards.app.data import Lake
from dashboards.render import figures
from schemas.run import Run
from warehouse.progress import read_planned
from warehouse.queries import Queries

_SPLITS = {"All calls": "none", "Step": "step", "Model": "model"}


def show(lake: Lake) -> None:
    """Totals, then one tab for each question."""
    run = state.choose_run(lake)
    if run is None:
        return
    state.tell_run(run)
    steps = lake.frame("cost_by_step", run_id=run.run_id)
    _totals(lake, run, steps)
    if steps.is_empty():
        empty.show(
            "This run called no language model, so it cost nothing: the extractive engine answers"
            " by itself. Give a model to see its cost.",
            "assay evaluate ideas.jsonl --engine litellm:MODEL --max-cost-usd 5 --warehouse"
            f" {lake.warehouse.address}",
        )
        latency.of_sources(lake, run)
        return
    seconds = timing.bucket_seconds(lake, run.run_id)
    view = state.choose_view(
        "Show", ["By step", "Over time", "Latency", "Per idea", "Another model"]
    )
    if view == "By step":
        _by_step(steps)
    elif view == "Over time":
        _over_time(lake, run, seconds)
    elif view == "Latency":
        latency.show(lake, run, steps, seconds)
    elif view == "Per idea":
        per_idea.show(lake, run)
    else:
        what_if.show(lake, run, steps)


def _totals(lake: Lake, run: Run, steps: polars.DataFrame) -> None:
    cost = lake.ask(Queries.run_cost, run.run_id)
    row = st.columns(6)
    row[0].metric("Cost", amounts.dollars(cost.cost_usd), help="Of the calls with a known price.")
    row[1].metric("Calls without a price", amounts.count(cost.unknown_price_calls))
    row[2].metric("Prompt tokens", amounts.count(cost.prompt_tokens))
    row[3].metric("Completion tokens", amounts.count(cost.completion_tokens))
    row[3].caption(
        f"of them thinking: {figures.thinking(cost.thinking_tokens, cost.unknown_thinking_calls)}"
    )
    row[4].metric(
        "Cached tokens",
        amounts.count(cost.cached_tokens),
        help="Prompt tokens served from the provider's cache.",
    )
    saved = float(steps["saved_usd"].sum()) if len(steps) else 0.0
    row[5].metric(
        "Saved by cache",
        f"≈ {amounts.dollars(saved)}",
        help=(
            "Replies taken from Assay's own cache, at the mean cost of the paid calls of their step"
            " and model."
        ),
    )
    share = (
        f"{cost.cost_usd_per_idea:.4f} dollars per idea"
        if cost.cost_usd_per_idea is not None
        else "cost per idea unknown"
    )
    st.caption(
        f"{cost.llm_calls:,} calls, {cost.llm_cache_hits:,} of them answered by Assay's cache;"
        f" {share}; {cost.reused_ideas:,} of {cost.ideas:,} ideas reused from earlier runs at no"
        " cost."
    )


def _by_step(steps: polars.DataFrame) -> None:
    priced = steps.filter(polars.col("cost_usd").is_not_null())
    if not priced.is_empty():
        charts.show(
            charts.bars(
                priced.select("step", "model", "cost_usd", "calls"),
                x="cost_usd",
                y="step",
                x_title="Cost (US dollars)",
                y_title="Step",
                colour="model",
            ),
            "Cost by step and model",
            "cost_by_step_chart",
        )
    kinds = ["prompt_tokens", "completion_tokens", "thinking_tokens", "cached_tokens"]
    tokens = steps.unpivot(
        on=kinds, index=["step"], variable_name="kind", value_name="tokens"
    ).drop_nulls("tokens")
    tokens = tokens.with_columns(polars.col("kind").str.replace("_tokens", ""))
    tokens = tokens.group_by("step", "kind", maintain_order=True).agg(polars.col("tokens").sum())
    charts.show(
        charts.bars(
            tokens,
            x="tokens",
            y="step",
            x_title="Tokens (cached ones are part of the prompt, thinking of the completion)",
            y_title="Step",
            colour="kind",
            stacked=False,
        ),
        "Tokens by step",
        "tokens_by_step_chart",
    )
    tables.show(
        steps,
        {
            "step": "Step",
            "model": "Model",
            "calls": tables.count("Calls"),
            "unsuccessful_calls": tables.count("Unsuccessful"),
            "cache_hits": tables.count("From Assay's cache"),
            "prompt_tokens": tables.count("Prompt tokens"),
            "completion_tokens": tables.count("Completion tokens"),
            "thinking_tokens": tables.count("Of them thinking", "Empty: no call told."),
            "unknown_thinking_calls": tables.count(
                "Thinking not told", "Calls that do not tell how much of their reply was thinking."
            ),
            "cached_tokens": tables.count(
                "Cached tokens", "Of the prompt, served by the provider's cache."
            ),
            "cost_usd": tables.dollars("Cost"),
            "unknown_price_calls": tables.count("No price"),
            "saved_usd": tables.dollars(
                "Saved by cache", "Estimated at the mean cost of a paid call."
            ),
        },
        key="steps",
    )


def _over_time(lake: Lake, run: Run, seconds: int) -> None:
    """Money spent so far, and tokens per time."""
    calls = lake.frame("cost_over_time", run_id=run.run_id, bucket_seconds=seconds, split="none")
    if calls.is_empty():
        empty.show(
            "Every reply of this run came from Assay's cache: no call was made, nothing was spent."
        )
        return
    spent = calls.select("time", polars.col("cost_usd").fill_null(0.0).cum_sum().alias("spent_usd"))
    planned = read_planned(lake.warehouse, run.run_id)
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
