"""`assay evaluate`: the main job."""

from shlex import quote
from typing import TYPE_CHECKING

from flows.commands.options import Ideas, Json
from flows.commands.session import Session
from flows.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.request import resolve_request
from schemas.options import EvaluateOptions
from schemas.run import Run, RunRequest, RunState
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.evaluate import RunSummary


def evaluate(
    ideas: Ideas,
    options: EvaluateOptions,
    json: Json = False,
) -> int:
    """Evaluate a batch of ideas with the modules asked for, publish and rank them.

    The same command again goes on where the last one stopped, and costs nothing once all is done.
    """
    request = resolve_request(ideas, options, Settings())
    return run_and_print(request, rank=options.rank, as_json=json)[1]


def run_and_print(
    request: RunRequest, *, rank: bool = False, as_json: bool
) -> tuple["RunSummary", int]:
    """Run a batch and print its ranking and where things lie; what came of it, and the command's
    exit code.

    With `rank`, a published run is then ranked by matches of the same engine, and that ranking is
    printed instead; the worse of both exit codes counts.
    """
    from flows.commands.rank import rank_and_print
    from schemas.ranking import RankRequest

    with Session() as session:
        summary = session.evaluate(request)
        code = _exit_code(summary.head)
        if not (rank and summary.published):
            _print(summary, request, as_json)
            return summary, code
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
        ranked = rank_and_print(ranking, session, as_json=as_json, stored_will_do=False)
        return summary, max(ranked, code)


def _print(summary: "RunSummary", request: RunRequest, as_json: bool) -> None:
    from flows.commands.output import print_engine_note, print_json, print_note, print_ranking
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
    print_note(run.order_in_words)
    print_note(
        f"run {run.run_id}: of {run.idea_count:,} ideas {run.states_in_words},"
        f" {run.duration_seconds:.0f} s"
    )
    print_engine_note(run.engine)
    if summary.published:
        print_note(
            f"lake:   {request.warehouse / 'lake'} (assay sql --warehouse"
            f' {quote(str(request.warehouse))} "from idea_scores")'
        )
    for path in summary.report_paths:
        print_note(f"report: {path}")


def _exit_code(run: Run) -> int:
    if run.in_order:
        return EXIT_DONE
    return EXIT_BUDGET if run.state == RunState.BUDGET_EXHAUSTED else EXIT_FAILURES
