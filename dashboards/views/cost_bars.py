"""The drawing of what a run cost."""

from collections.abc import Sequence

from dashboards.render import figures
from dashboards.render.charts.bar_chart import Measured, bar_chart, scale_to
from dashboards.render.page import Figure
from warehouse.answers import StepCost

_MILLION = 1_000_000


def run_bars(steps: Sequence[StepCost]) -> Figure | None:
    """What each step cost: in dollars where a price is known, else in tokens."""
    if any(line.cost_usd for line in steps):
        costs = [
            (
                line,
                line.cost_usd,
                figures.usd(line.cost_usd, line.unknown_price_calls),
            )
            for line in steps
        ]
        title, unit = "Cost by step", "Dollars, of calls whose price is known"
    else:
        tokens = [(line.prompt_tokens + line.completion_tokens) / _MILLION for line in steps]
        costs = [
            (line, count, f"{count * _MILLION:,.0f} tokens")
            for line, count in zip(steps, tokens, strict=True)
        ]
        title, unit = "Tokens by step", "Millions of tokens, sent and received"
    models = {line.model_requested for line in steps}
    ordered = sorted(costs, key=lambda cost: -(cost[1] or 0.0))
    values = [
        Measured(_step_name(line, alone=len(models) == 1), value, said)
        for line, value, said in ordered
    ]
    largest = max((value or 0.0 for _, value, _ in costs), default=0.0)
    if largest <= 0:
        return None
    return bar_chart("bars-3", title, "Dearest first.", scale_to(largest, unit), values)


def _step_name(line: StepCost, *, alone: bool) -> str:
    name = line.step.replace("_", " ")
    return name if alone else f"{name}, {line.model_requested}"
