"""`assay plan`: what a run would take, before paying for it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands import options
from flows.request import DEFAULT_PROFILE, DEFAULT_WAREHOUSE, resolve_request
from schemas.run import Budget
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.estimate import Estimate
    from flows.rank_estimate import RankingEstimate


def plan(
    ideas: Annotated[Path, typer.Argument(metavar="IDEAS", help="JSONL, CSV, Parquet, or a folder of .txt and .md files.")],
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    profile: options.Profile = DEFAULT_PROFILE,
    engine: options.Engine = "extractive",
    api_base: options.ApiBase = None,
    literature: options.Literature = None,
    modules: options.Modules = "soundness,contribution",
    cutoff: options.Cutoff = None,
    workers: options.Workers = 2,
    scheduler: options.Scheduler = None,
    max_cost_usd: options.MaxCost = None,
    max_cost_usd_per_idea: options.MaxCostPerIdea = None,
    max_tokens: options.MaxTokens = None,
    max_requests: options.MaxRequests = None,
    full_text: options.FullText = None,
    label: options.Label = "",
    json: options.Json = False,
) -> int:
    """Predict requests, tokens, dollars and hours of `assay evaluate` with the same options."""
    from flows.commands.output import print_json, print_note
    from flows.estimate import estimate_run
    from flows.rank_estimate import estimate_ranking
    from tasks.ideas.read import read_ideas
    from tasks.judging.prices import price_per_token

    settings = Settings()
    request = resolve_request(
        ideas,
        settings,
        warehouse=warehouse,
        profile=profile,
        engine=engine,
        api_base=api_base,
        literature=literature,
        modules=modules,
        cutoff=cutoff,
        workers=workers,
        scheduler=scheduler,
        max_cost_usd=max_cost_usd,
        max_cost_usd_per_idea=max_cost_usd_per_idea,
        max_tokens=max_tokens,
        max_requests=max_requests,
        full_text=full_text,
        label=label,
    )
    batch = read_ideas(request.ideas_path, default_cutoff=request.cutoff_date)
    price = price_per_token(engine, settings.language_model)
    estimate = estimate_run(batch.ideas, len(batch.rejected), request, settings, price)
    ranking = estimate_ranking(batch.ideas, request, price)
    if json:
        print_json({**estimate.model_dump(mode="json"), "ranking": ranking})
    else:
        _print(estimate, ranking)
        for warning in _spent_early(estimate, request.budget):
            print_note(warning)
    return 0


def _print(estimate: "Estimate", ranking: "RankingEstimate") -> None:
    from flows.commands.output import duration, print_table

    if estimate.steps:
        print_table(
            ["step, for each idea", "calls", "prompt tokens", "completion tokens"],
            [[step.step, round(step.calls), round(step.prompt_tokens), round(step.completion_tokens)] for step in estimate.steps],
        )
    unknown = "unknown price (set ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS)"
    rows = [
        ["ideas", f"{estimate.ideas:,} ({estimate.rejected} rejected)"],
        ["literature requests", f"{estimate.literature_requests:,}"],
        ["model calls", f"{estimate.model_calls:,}"],
        ["tokens", f"{estimate.prompt_tokens:,} prompt, {estimate.completion_tokens:,} completion"],
        ["cost", unknown if estimate.cost_usd is None else f"${estimate.cost_usd:,.2f}"],
        ["time", f"{duration(estimate.hours)}, bound by the {estimate.bound_by}"],
    ]
    print_table(["the whole run", "expected"], rows)
    asked = f"{ranking.model_calls:,} calls, {ranking.prompt_tokens:,} prompt and {ranking.completion_tokens:,} completion tokens"
    cost = unknown if ranking.cost_usd is None else f"${ranking.cost_usd:,.2f}"
    print_table(
        ["ranking by matches (assay rank, or --rank)", "at most"],
        [["pairs", f"{ranking.pairs:,} in {ranking.groups:,} groups"], ["asked", asked], ["cost", cost]],
    )


def _spent_early(estimate: "Estimate", budget: Budget) -> list[str]:
    """A line for each bound that the run is expected to meet before its end."""
    expected = (
        ("cost in dollars", estimate.cost_usd, budget.maximum_cost_usd),
        ("tokens", estimate.prompt_tokens + estimate.completion_tokens, budget.maximum_tokens),
        ("literature requests", estimate.literature_requests, budget.maximum_requests),
    )
    return [
        f"the bound on {what}, {bound:,}, will end this run early: {amount:,.0f} expected"
        for what, amount, bound in expected
        if amount is not None and bound is not None and amount > bound
    ]
