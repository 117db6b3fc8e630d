"""What the same tokens would have cost with other models."""

from pathlib import Path

import polars
import streamlit as st

from dashboards.app import charts, state, tables
from dashboards.app.data import Lake
from dashboards.app.prices import ModelPrice, read_prices
from schemas.run import Run

OWN = "Your prices"


def show(lake: Lake, run: Run, steps: polars.DataFrame) -> None:
    """The run's cost beside that of the models chosen, from the tokens recorded."""
    st.caption(
        "The tokens this run sent and received, at the prices of other models. Another model counts"
        " the same text as a few more or fewer tokens and answers at another length, and its cache"
        " serves another share: read it as an order of magnitude."
    )
    prompt, completion, cached = (
        int(steps[name].sum()) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    )
    known = _prices(str(lake.prices), lake.prices.stat().st_mtime_ns) if lake.prices else {}
    chosen = (
        state.choose_some("Models", list(known), key="model", help="Prices as LiteLLM lists them.")
        if known
        else []
    )
    with_cache = state.switch("With the provider's cache as recorded", key="cache", default=True)
    own = _own_price()
    offered = {name: known[name] for name in chosen if name in known} | ({OWN: own} if own else {})
    served = cached if with_cache else 0
    rows = [(name, price.of(prompt, completion, served)) for name, price in offered.items()]
    paid = steps["cost_usd"].sum() if steps["cost_usd"].count() else None
    unknown = int(steps["unknown_price_calls"].sum())
    if paid is not None:
        rows.insert(
            0,
            (
                f"this run ({unknown:,} calls without a price)" if unknown else "this run",
                float(paid),
            ),
        )
    if not rows:
        st.info("Choose models, or give your own prices.")
        return
    table = polars.DataFrame(
        rows, schema={"model": polars.String, "cost_usd": polars.Float64}, orient="row"
    )
    if run.evaluated_count:
        table = table.with_columns(
            (polars.col("cost_usd") / run.evaluated_count).alias("per_idea_usd")
        )
    chart = charts.bars(
        table, x="cost_usd", y="model", x_title="Cost (US dollars)", y_title="Model"
    )
    charts.show(chart, "The same tokens with other models", "what_if_chart")
    labels = {
        "model": "Model",
        "cost_usd": tables.dollars("Cost"),
        "per_idea_usd": tables.dollars("Per idea"),
    }
    tables.show(
        table,
        {name: label for name, label in labels.items() if name in table.columns},
        key="what_if",
    )


def _own_price() -> ModelPrice | None:
    """Two numbers in the address; both empty: none."""
    row = st.columns(3)
    with row[0]:
        prompt = state.amount("Prompt, dollars per million tokens", key="prompt_price")
    with row[1]:
        completion = state.amount("Completion, dollars per million tokens", key="completion_price")
    with row[2]:
        cached = state.amount(
            "Cached prompt, dollars per million tokens",
            key="cached_price",
            help="Empty: as the prompt.",
        )
    if prompt is None or completion is None:
        return None
    return ModelPrice(prompt, completion, prompt if cached is None else cached)


@st.cache_data(show_spinner=False, max_entries=2)  # type: ignore[untyped-decorator]
def _prices(path: str, changed: int) -> dict[str, ModelPrice]:
    assert changed
    return read_prices(Path(path))
