"""`assay evaluate`: the main job."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands import options
from flows.commands.session import Session
from flows.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.request import DEFAULT_PROFILE, DEFAULT_WAREHOUSE, resolve_request
from schemas.run import RunRequest, RunState
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.evaluate import RunSummary


def evaluate(
    ideas: Annotated[
        Path,
        typer.Argument(
            metavar="IDEAS", help="JSONL, CSV, Parquet, or a folder of .txt and .md files."
        ),
    ],
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    profile: options.Profile = DEFAULT_PROFILE,
    engine: options.Engine = "extractive",
    api_base: options.ApiBase = None,
    literature: options.Literature = None,
    modules: options.Modules = options.DEFAULT_MODULES,
    cutoff: options.Cutoff = None,
    workers: options.Workers = 2,
    scheduler: options.Scheduler = None,
    max_cost_usd: options.MaxCost = None,
    max_cost_usd_per_idea: options.MaxCostPerIdea = None,
    max_tokens: options.MaxTokens = None,
    max_requests: options.MaxRequests = None,
    full_text: options.FullText = None,
    label: options.Label = "",
    rank: options.Rank = False,
    json: options.Json = False,
) -> int:
    """Evaluate a batch of ideas for soundness and contribution, publish and rank them.

    The same command again goes on where the last one stopped, and costs nothing once all is done.
    """
    request = resolve_request(
        ideas,
        Settings(),
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
    return (
        run_rank_and_print(request, as_json=json) if rank else run_and_print(request, as_json=json)
    )


def run_rank_and_print(request: RunRequest, *, as_json: bool) -> int:
    """Run a batch, rank it by matches of the same engine, and print that ranking; the worse of both exit codes."""
    from flows.commands.rank import rank_and_print
    from schemas.ranking import RankRequest

    with Session() as session:
        summary = session.evaluate(request)
        if not summary.published:
            _print(summary, request, as_json)
            return _exit_code(summary, request)
        ranking = RankRequest(
            run_id=summary.head.run_id,
            warehouse=request.warehouse,
            profile=request.profile,
            engine=request.engine,
            api_base=request.api_base,
            workers=request.workers,
            scheduler_address=request.scheduler_address,
            budget=request.budget,
        )
        return max(
            rank_and_print(ranking, session, as_json=as_json, stored_will_do=False),
            _exit_code(summary, request),
        )


def run_and_print(request: RunRequest, *, as_json: bool) -> int:
    """Run a batch under a Prefect server, print its ranking and where things lie; the command's exit code."""
    with Session() as session:
        summary = session.evaluate(request)
    _print(summary, request, as_json)
    return _exit_code(summary, request)


def _print(summary: "RunSummary", request: RunRequest, as_json: bool) -> None:
    from flows.commands.output import print_json, print_note, print_ranking
    from warehouse.layout import Layout
    from warehouse.queries import open_queries

    run = summary.head
    if summary.published:
        with open_queries(Layout(request.warehouse), catalogue_url=Settings().catalogue) as queries:
            ranked, scores = queries.ranking(run.run_id), queries.idea_scores(run.run_id)
    else:
        ranked, scores = (), ()
    if as_json:
        published = {
            "published": summary.published,
            "failed_expectations": summary.failed_expectations,
        }
        print_json({"run": run, **published, "ranking": ranked, "reports": summary.report_paths})
        return
    if ranked:
        print_ranking(ranked, scores)
    print_note(
        f"run {run.run_id}: {run.evaluated_count} of {run.idea_count} ideas evaluated, {run.failed_count} incomplete, "
        f"{run.rejected_count} rejected, {run.duration_seconds:.0f} s"
    )
    if run.engine == "extractive":
        print_note(
            "engine: extractive, an offline baseline without a language model; use --engine litellm:MODEL for real judgement"
        )
    if summary.published:
        print_note(
            f'lake:   {request.warehouse / "lake"} (assay sql --warehouse {quote(str(request.warehouse))} "from idea_scores")'
        )
    for path in summary.report_paths:
        print_note(f"report: {path}")
    for failed in summary.failed_expectations:
        print_note(f"not published: {failed}")


def _exit_code(summary: "RunSummary", request: RunRequest) -> int:
    if not summary.published:
        return EXIT_FAILURES
    run = summary.head
    if run.state == RunState.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    total = run.idea_count + run.rejected_count
    return (
        EXIT_FAILURES
        if run.failed_count + run.rejected_count > request.maximum_failed_share * total
        else EXIT_DONE
    )
