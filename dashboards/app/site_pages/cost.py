"""Page “Cost”: what a run cost, over nights, by idea, and with other models."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import polars

from dashboards.app.data import Lake
from dashboards.app.fields import (
    NO_RUN,
    Field,
    comparable_runs,
    number_in_address,
    run_facts,
    run_field,
    run_in_address,
)
from dashboards.app.site import PageContent, Visit, idea_link
from dashboards.app.site_pages.operate import (
    NIGHTS,
    Columns,
    FrameTable,
    cached_blocks,
    call_outcomes,
    days,
    nights_of,
    operate_page,
    table_of,
)
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import Bar, Spread, bar_chart, scale_to, spread_chart
from dashboards.render.charts.spread_charts import Panel, histogram, nights_chart, round_bins
from dashboards.views.run_cost import cost_blocks
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.literature.naming import unturned
from schemas.run import Run
from warehouse.queries import Queries
from warehouse.row_models import RunCost

DEAREST = 50
# Shown next to a run; readers can name other models of the price list.
PRESETS = ("gpt-5", "gpt-5-mini", "claude-sonnet-4-5", "gemini/gemini-2.5-pro", "deepseek-chat")
_MILLION = 1_000_000
_CHAT = frozenset({"chat", "completion", "responses"})


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars per million tokens.

    Attributes:
        batch_share: price of a provider's batch, as a share; None: no batches.
    """

    prompt_usd: float
    completion_usd: float
    cached_usd: float
    batch_share: float | None = None

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
        """Return dollars; `cached_tokens` are part of `prompt_tokens`."""
        cache_hits = min(cached_tokens, prompt_tokens)
        return (
            (prompt_tokens - cache_hits) * self.prompt_usd
            + cache_hits * self.cached_usd
            + completion_tokens * self.completion_usd
        ) / _MILLION

    def by_batch(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return dollars in a provider's batch, without its cache."""
        if self.batch_share is None:
            return None
        return self.batch_share * self.of(prompt_tokens, completion_tokens, 0)


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """Return prices by model, of priced chat models.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    try:
        return _prices(path, path.stat().st_mtime_ns)
    except (OSError, orjson.JSONDecodeError) as error:
        raise ConfigurationError(
            f"prices {path} cannot be read ({error}): name a file as LiteLLM ships it in"
            " ASSAY_DASHBOARD__PRICES"
        ) from None


@lru_cache(2)
def _prices(path: Path, modified_at: int) -> dict[str, ModelPrice]:
    del modified_at  # cache key: a new modification time means new content
    entries: dict[str, Any] = orjson.loads(path.read_bytes())
    prices = {
        name: _price(entry)
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("mode") in _CHAT
    }
    return {name: price for name, price in sorted(prices.items()) if price is not None}


def _price(entry: dict[str, Any]) -> ModelPrice | None:
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(prompt, int | float) or not isinstance(completion, int | float):
        return None
    cached_price = entry.get("cache_read_input_token_cost")
    batch = entry.get("output_cost_per_token_batches")
    return ModelPrice(
        prompt * _MILLION,
        completion * _MILLION,
        (cached_price if isinstance(cached_price, int | float) else prompt) * _MILLION,
        batch / completion if isinstance(batch, int | float) and completion else None,
    )


_STEPS = FrameTable(
    "Latency of model calls",
    "latency_of_steps",
    {
        "step": ("Step", wording.step),
        "model": ("Model", str),
        "calls": ("Calls:", int),
        "timed_out_calls": ("Timed out:", int),
        "p50_seconds": ("Median:", figures.duration),
        "p95_seconds": ("95 % within:", figures.duration),
        "p99_seconds": ("99 % within:", figures.duration),
        "p95_queue_seconds": ("Own queue, 95 % within:", figures.duration),
        "saved_usd": ("Saved by Assay's cache, about:", figures.usd),
    },
)


def show(visit: Visit) -> PageContent:
    """Show what a run cost: by step, over nights, by idea, and with other models."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return operate_page(visit, "Cost", (NO_RUN,))
    cost = lake.ask(Queries.run_cost, run.run_id)
    has_calls = cost.llm_calls > 0
    blocks = [*run_facts(run), *lake.ask(cached_blocks, _cost, run.run_id)]
    if has_calls:
        blocks += [*call_outcomes(lake, run, "model"), *_latency(lake, run)]
    blocks += _over_nights(lake, run)
    if has_calls:
        blocks += [*_per_idea(lake, run), *_with_other_models(visit, run, cost)]
    prices = (
        Field("model", "Compare with the model", visit.query.get("model", ""), attributes={"placeholder": "openai/o3"}),
        Field("prompt_price", "Own price of a million prompt tokens",
              visit.query.get("prompt_price", ""), attributes={"placeholder": "USD"}),
        Field("completion_price", "Of completion tokens",
              visit.query.get("completion_price", ""), attributes={"placeholder": "USD"}),
    )  # fmt: skip
    return operate_page(
        visit, "Cost", blocks, run_field(visit, run), *(prices if has_calls else ())
    )


def _cost(queries: Queries, run_id: RunId) -> Iterator[pg.Block]:
    return cost_blocks(queries, queries.run_cost(run_id))


def _latency(lake: Lake, run: Run) -> Iterator[pg.Block]:
    latencies = lake.frame("latency_of_steps", run_id=run.run_id)
    several = latencies["model"].n_unique() > 1
    rows = []
    for row in latencies.drop_nulls("p50_seconds").to_dicts():
        dots = (row["p50_seconds"], row["p95_seconds"], row["p99_seconds"])
        name = wording.step(row["step"]) + (f", {row['model']}" if several else "")
        rows.append(Spread(name, dots, " · ".join(map(figures.duration, dots[::2]))))
    caption = "Dots are the median and the times within which 95 % and 99 % of the calls ended."
    heading, *table = _STEPS.blocks(lake, run.run_id)
    yield heading
    yield from pg.optional(spread_chart("latency", "Latency by step", caption, "Seconds", rows))
    yield from table


def _over_nights(lake: Lake, run: Run) -> Iterator[pg.Block]:
    comparable = comparable_runs(lake, run)[:NIGHTS]
    if len(comparable) < 2:
        return
    nights = nights_of(lake, comparable)[::-1]
    costs, times = [night.cost for night in nights], [night.run for night in nights]
    each_idea, totals = (
        [cost.cost_usd_per_idea for cost in costs],
        [cost.cost_usd for cost in costs],
    )
    minutes = [each.duration_seconds / 60 for each in times]
    calls = [cost.llm_calls for cost in costs]
    panels = (
        Panel("Cost of an idea, USD", each_idea, [*map(figures.usd, each_idea)]),
        Panel("Cost, USD", totals, [*map(figures.usd, totals)]),
        Panel("Model calls", calls, [*map(figures.count, calls)]),
        Panel("Time, minutes", minutes, [figures.duration(60 * each) for each in minutes]),
    )
    chart = nights_chart("nights", "Cost and time over nights", days(times), panels)
    if chart is not None:
        yield from (pg.heading(f"The last {len(comparable)} comparable runs"), chart)


def _per_idea(lake: Lake, run: Run) -> Iterator[pg.Block]:
    costs = lake.frame("cost_per_idea", run_id=run.run_id)
    priced_costs = costs.filter(polars.col("unknown_price_calls") == 0)
    unpriced_count = len(costs) - len(priced_costs)
    yield pg.heading("Cost by idea")
    if priced_costs["cost_usd"].sum() > 0:
        caption = (
            f"In no bar: {figures.plural(unpriced_count, 'idea')} with a call of unknown price."
        )
        edges, counts = round_bins(priced_costs["cost_usd"].to_list())
        yield from pg.optional(
            histogram(
                "ideas", "Ideas by cost", caption if unpriced_count else "", "USD", edges, counts
            )
        )
    else:
        yield pg.text(f"No idea has a known cost: {figures.plural(unpriced_count, 'idea')} with a call"
                      " of unknown price.")  # fmt: skip
    titles = polars.struct("idea_id", "title").alias("idea")

    columns: Columns = {
        "idea": ("Idea", lambda idea: idea_link(run.run_id, idea["idea_id"], idea["title"])),
        "group": ("Group", wording.with_spaces),
        "cost_usd": ("Cost:", figures.usd),
        "unknown_price_calls": ("Calls without a price:", int),
        "calls": ("Calls:", int),
        "tokens": ("Tokens:", int),
        "latency_seconds": ("Time in calls:", figures.duration),
    }
    dearest = costs.head(DEAREST).with_columns(titles)
    yield pg.Fold(f"The dearest {len(dearest):,}", (table_of(dearest, columns),))


def _with_other_models(visit: Visit, run: Run, cost: RunCost) -> Iterator[pg.Block]:
    prices = read_prices(visit.lake.prices) if visit.lake.prices else {}
    model_name = visit.query.get("model", "").strip()
    compared_models = {name: prices[name] for name in (*PRESETS, model_name) if name in prices}
    prompt, completion = (
        number_in_address(visit, name, 1e9, "dollars as a number")
        for name in ("prompt_price", "completion_price")
    )
    if prompt is not None and completion is not None:
        compared_models["your prices"] = ModelPrice(prompt, completion, prompt)
    yield pg.heading("With another model")
    if model_name and model_name not in prices:
        close_names = get_close_matches(model_name, prices, 3, 0.4)
        hint = f": perhaps {', '.join(close_names)}" if close_names else ""
        yield pg.note(f"The price list has no model “{unturned(model_name[:100])}”{hint}.")
    tokens = cost.prompt_tokens, cost.completion_tokens
    rows: list[tuple[str, float, float | None]] = [
        (name, price.of(*tokens, cost.cached_tokens), price.by_batch(*tokens))
        for name, price in compared_models.items()
    ]
    rows.sort(key=lambda row: row[1])
    if cost.cost_usd is not None:
        unpriced_count = cost.unknown_price_calls
        note = (
            f" ({figures.plural(unpriced_count, 'call')} without a price)" if unpriced_count else ""
        )
        rows.insert(0, (f"this run{note}", cost.cost_usd, None))
    if not rows:
        yield pg.text("No price list is known: give your own prices above.")
        return
    values = [Bar(name, value, figures.usd(value)) for name, value, _ in rows]
    scale = scale_to(max(value for _, value, _ in rows), "USD")
    caption = (
        "The tokens this run sent and received, at the prices of other models. Another model"
        " counts and answers differently: read it as an order of magnitude."
    )
    yield from pg.optional(
        bar_chart("models", "The same tokens with other models", caption, scale, values)
    )
    ideas = run.evaluated_count
    yield pg.table(
        ("Model", "Cost:", "An idea:", "By the provider's batch:"),
        ((name, figures.usd(value), figures.usd(value / ideas) if ideas else "–",
          "–" if batch is None else figures.usd(batch)) for name, value, batch in rows),
    )  # fmt: skip
