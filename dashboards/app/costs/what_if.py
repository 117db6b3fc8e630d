"""What the same tokens would have cost with other models."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars
import streamlit as st

from dashboards.app import charts, state, tables
from dashboards.app.data import Lake
from schemas.errors import ConfigurationError
from schemas.run import Run

OWN = "Your prices"
MILLION = 1_000_000
_CHAT = frozenset({"chat", "completion", "responses"})


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars per million tokens."""

    prompt_usd: float
    completion_usd: float
    cached_usd: float

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
        """Dollars; `cached_tokens` are part of `prompt_tokens`."""
        cached = min(cached_tokens, prompt_tokens)
        return (
            (prompt_tokens - cached) * self.prompt_usd
            + cached * self.cached_usd
            + completion_tokens * self.completion_usd
        ) / MILLION


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


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """Prices by model, of the models that chat and have one.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    try:
        entries: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise ConfigurationError(
            f"prices {path} cannot be read ({error}): name a file as LiteLLM ships it in"
            " ASSAY_DASHBOARD__PRICES"
        ) from None
    found = {
        name: _price(entry)
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("mode") in _CHAT
    }
    return {name: price for name, price in sorted(found.items()) if price is not None}


def _price(entry: dict[str, Any]) -> ModelPrice | None:
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(prompt, int | float) or not isinstance(completion, int | float):
        return None
    cached = entry.get("cache_read_input_token_cost")
    return ModelPrice(
        prompt * MILLION,
        completion * MILLION,
        (cached if isinstance(cached, int | float) else prompt) * MILLION,
    )
