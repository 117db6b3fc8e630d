"""`assay plan`: what a run would take, before paying for it."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options
from flows.request import DEFAULT_PROFILE, DEFAULT_WAREHOUSE, resolve_request
from schemas.settings import Settings


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
    max_cost_usd: options.MaxCost = None,
    max_requests: options.MaxRequests = None,
    full_text: options.FullText = None,
    json: options.Json = False,
) -> int:
    """Predict requests, tokens, dollars and hours of `assay evaluate` with the same options."""
    from flows.commands.output import duration, print_json, print_note, print_table
    from flows.estimate import estimate_run
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
        max_cost_usd=max_cost_usd,
        max_requests=max_requests,
        full_text=full_text,
    )
    batch = read_ideas(request.ideas_path, default_cutoff=request.cutoff_date)
    estimate = estimate_run(batch.ideas, len(batch.rejected), request, settings, price_per_token(engine, settings.language_model))
    if json:
        print_json(estimate)
        return 0
    print_table(
        ["step, for each idea", "calls", "prompt tokens", "completion tokens"],
        [[s.step, round(s.calls), round(s.prompt_tokens), round(s.completion_tokens)] for s in estimate.steps],
    ) if estimate.steps else None
    cost = (
        "unknown price (set ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS)"
        if estimate.cost_usd is None
        else f"${estimate.cost_usd:,.2f}"
    )
    rows = [
        ["ideas", f"{estimate.ideas:,} ({estimate.rejected} rejected)"],
        ["literature requests", f"{estimate.literature_requests:,}"],
        ["model calls", f"{estimate.model_calls:,}"],
        ["tokens", f"{estimate.prompt_tokens:,} prompt, {estimate.completion_tokens:,} completion"],
        ["cost", cost],
        ["time", f"{duration(estimate.hours)}, bound by the {estimate.bound_by}"],
    ]
    print_table(["the whole run", "expected"], rows)
    if max_cost_usd is not None and estimate.cost_usd is not None and estimate.cost_usd > max_cost_usd:
        print_note(f"the budget of ${max_cost_usd:,.2f} will end this run early")
    return 0
