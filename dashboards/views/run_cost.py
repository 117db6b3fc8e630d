"""Cost of a run and latency of its calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import Bar, bar_chart, scale_to
from warehouse.queries import Queries
from warehouse.row_models import RunCost, StepCost

_MILLION = 1_000_000


def cost_blocks(queries: Queries, cost: RunCost) -> Iterator[pg.Block]:
    """Yield the cost of a run by module and step."""
    yield pg.heading("What it cost")
    yield pg.table(("", ""), _costs(cost))
    ideas = figures.plural(cost.ideas, "idea")
    if modules := queries.module_costs(cost.run_id):
        yield pg.heading("By module", level=3)
        rows = [
            (
                *(row.module, row.ideas, row.llm_calls, row.prompt_tokens, row.completion_tokens),
                figures.thinking(row.thinking_tokens, row.unknown_thinking_calls),
                figures.usd(row.cost_usd, row.unknown_price_calls),
                figures.rate(row.llm_calls_per_idea),
                round(row.prompt_tokens_per_idea + row.completion_tokens_per_idea),
                figures.usd(row.cost_usd_per_idea, row.unknown_price_calls),
            )
            for row in modules
        ]
        columns = ("Module", "Ideas:", "Calls:", "Tokens sent:", "Received:", "Of them thinking:")
        yield pg.table(
            (*columns, "Price", "Calls an idea:", "Tokens an idea:", "Price an idea"), rows
        )
        reuse_note = ", reused ones included" if cost.reused_ideas else ""
        yield pg.text(f"Figures of an idea are means over all {ideas} of the run{reuse_note}.")
    if steps := queries.step_costs(cost.run_id):
        yield from _steps(steps, queries.latency_by_step(cost.run_id))


def _costs(cost: RunCost) -> Iterator[tuple[str, str]]:
    price = figures.usd(cost.cost_usd, cost.unknown_price_calls)
    each = f"; {figures.usd(cost.cost_usd_per_idea)} an idea" if cost.cost_usd_per_idea else ""
    yield "Price", f"{price}{each}"
    calls = f"{cost.llm_calls:,}, {cost.llm_cache_hits:,} of them from the cache"
    yield "Model calls", calls if cost.llm_calls else "none"
    if cost.llm_calls:
        thinking = figures.thinking(cost.thinking_tokens, cost.unknown_thinking_calls)
        yield (
            "Tokens",
            f"{cost.prompt_tokens:,} sent ({cost.cached_tokens:,} of them from the provider's"
            f" cache), {cost.completion_tokens:,} received; of them thinking: {thinking}",
        )
    requests = (
        f"{cost.api_calls:,}, {cost.api_cache_hits:,} from a cache, {cost.failed_api_calls:,}"
        f" unanswered; {cost.upstream_requests:,} sent on to the sources"
    )
    yield "Literature requests", requests if cost.api_calls else "none"
    reuse_note = (
        f", {cost.reused_ideas:,} of them reused from earlier runs" if cost.reused_ideas else ""
    )
    took, ideas = figures.duration(cost.duration_seconds), figures.plural(cost.ideas, "idea")
    yield "Time", f"{took} for {ideas}{reuse_note}"


def _steps(steps: Sequence[StepCost], latencies: Iterable[Mapping[str, Any]]) -> Iterator[pg.Block]:
    yield pg.heading("By step", level=3)
    if (bars := _bars(steps)) is not None:
        yield bars
    latency_of = {(row["step"], row["model_requested"]): row for row in latencies}
    rows = []
    for cost in steps:
        times = latency_of.get((cost.step, cost.model_requested), {})
        rows.append(
            (
                *(wording.with_spaces(cost.step), cost.model_requested),
                *(cost.llm_calls, cost.llm_cache_hits),
                *(times.get("unsuccessful_calls"), cost.prompt_tokens, cost.completion_tokens),
                figures.thinking(cost.thinking_tokens, cost.unknown_thinking_calls),
                figures.usd(cost.cost_usd, cost.unknown_price_calls),
                figures.duration(times.get("p50_seconds")),
                figures.duration(times.get("p95_seconds")),
                figures.duration(times.get("p95_queue_seconds")),
            )
        )
    columns = (
        "Step",
        "Model",
        "Calls:",
        "From cache:",
        "Unsuccessful:",
        "Tokens sent:",
        "Received:",
    )
    more = ("Of them thinking:", "Price", "Median:", "95 % within:", "Queue, 95 % within:")
    yield pg.table((*columns, *more), rows)
    yield pg.text("Latencies are those of calls that were really made.")


def sources_blocks(queries: Queries, cost: RunCost) -> Iterator[pg.Block]:
    """Yield how the sources of a run answered."""
    sources = queries.source_health(cost.run_id)
    yield pg.heading("Sources")
    if not sources:
        yield pg.text("No source was asked in this run.")
        return
    rows = [
        (
            *(wording.with_spaces(row["source"]), row["endpoint"], row["requests"]),
            f"{row['failed']:,} ({figures.share(row['failed'], row['requests'])})",
            *(row["rate_limited"], row["cache_hits"], row["look_ups"]),
            *(figures.duration(row["p50_seconds"]), figures.duration(row["p95_seconds"])),
        )
        for row in sources
    ]
    columns = ("Source", "Asked for", "Requests:", "Unanswered:", "Asked to slow down:")
    yield pg.table((*columns, "From a cache:", "Look-ups:", "Median:", "95 % within:"), rows)
    if cost.failed_api_calls:
        yield pg.text(
            "An unanswered look-up is not an empty one: what could not be looked up is in the"
            " failures below, never read as novelty."
        )


def _bars(steps: Sequence[StepCost]) -> pg.Figure | None:
    """Chart the steps: in dollars if a price is known, else in tokens."""
    if any(line.cost_usd for line in steps):
        costs = [
            (each, each.cost_usd, figures.usd(each.cost_usd, each.unknown_price_calls))
            for each in steps
        ]
        title, unit = "Cost by step", "Dollars, of calls whose price is known"
    else:
        tokens = [(line.prompt_tokens + line.completion_tokens) / _MILLION for line in steps]
        costs = [
            (line, count, f"{figures.count(round(count * _MILLION))} tokens")
            for line, count in zip(steps, tokens, strict=True)
        ]
        title, unit = "Tokens by step", "Millions of tokens, sent and received"
    models = {line.model_requested for line in steps}
    dearest_first = sorted(costs, key=lambda cost: -(cost[1] or 0.0))
    values = [
        Bar(
            wording.with_spaces(line.step)
            + (f", {line.model_requested}" if len(models) > 1 else ""),
            value,
            value_text,
        )
        for line, value, value_text in dearest_first
    ]
    largest = max((value or 0.0 for _, value, _ in costs), default=0.0)
    return bar_chart("bars-3", title, "Dearest first.", scale_to(largest, unit), values)
