"""`assay evaluate`: the main job."""

from typing import TYPE_CHECKING

from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.options import IdeasOrNone, Json, ShowFields
from flows.run.session import Session
from flows.works.evaluate.given_ideas import given_ideas
from flows.works.evaluate.request import resolve_request
from schemas.errors import ConfigurationError
from schemas.judgement.ranking import RankRequest
from schemas.options.commands import EvaluateOptions
from schemas.run import Run, RunRequest, RunState
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.works.evaluate.evaluate import RunSummary


def evaluate(
    options: EvaluateOptions,
    ideas: IdeasOrNone = None,
    fields: ShowFields = False,
    json: Json = False,
) -> int:
    """Evaluate a batch of ideas with the modules asked for, publish and rank them.

    The same command again goes on where the last one stopped, and costs nothing once all is done.
    With --again the ideas of an earlier run are held against newer papers: what was judged of a
    paper stands, and the report begins with what changed.
    """
    if options.again is not None:
        if ideas is not None:
            raise ConfigurationError("--again takes the ideas of the run: leave out IDEAS")
        if fields:
            raise ConfigurationError(
                "--fields is about columns of a file: leave it out with --again"
            )
        from flows.works.evaluate.again import resolve_again

        request = resolve_again(options.again, options, Settings())
        return run_and_print(request, rank=options.rank, as_json=json)[1]
    if ideas is None:
        raise ConfigurationError(
            "name the IDEAS, or an earlier run with --again; `assay evaluate --help` tells more"
        )
    with given_ideas(ideas) as path:
        request = resolve_request(path, options, Settings())
        if fields:
            from flows.cli.evaluate.fields_output import print_fields

            return print_fields(request, as_json=json)
        return run_and_print(request, rank=options.rank, as_json=json)[1]


def run_and_print(
    request: RunRequest, *, rank: bool = False, as_json: bool
) -> tuple["RunSummary", int]:
    """Run a batch and print its ranking and where things lie; what came of it, and the command's
    exit code.

    With `rank`, a published run is then ranked by matches of the same engine, and that ranking is
    printed instead; the worse of both exit codes counts.
    """
    from flows.cli.evaluate.run_output import print_run

    with Session() as session:
        summary = session.evaluate(request)
        code = _exit_code(summary.head)
        if not (rank and summary.published):
            print_run(summary, request, as_json=as_json)
            return summary, code
        from flows.cli.evaluate.rank import rank_and_print

        ranking = RankRequest(
            run_id=summary.head.run_id,
            warehouse=request.warehouse,
            profile=request.profile,
            engine=request.engine,
            api_base=request.api_base,
            workers=request.workers,
            scheduler_address=request.scheduler_address,
            budget=request.budget,
            batch=request.batch,
            batch_failures=request.batch_failures,
        )
        _, ranked = rank_and_print(ranking, session, as_json=as_json, stored_will_do=False)
        return summary, max(ranked, code)


def _exit_code(run: Run) -> int:
    if run.in_order:
        return EXIT_DONE
    return EXIT_BUDGET if run.state == RunState.BUDGET_EXHAUSTED else EXIT_FAILURES
