"""`assay rank`: pairwise ranking of a run, or of an idea file."""

from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from flows.cli.evaluate.rank_output import check_output, is_table, print_scores, write_ranking
from flows.cli.options import Json, output_option
from flows.cli.output import print_estimate
from flows.profiles import load_profile
from flows.run.requests import request_of
from flows.run.session import Session
from flows.works.evaluate.idea_input import STANDARD_INPUT, idea_file
from flows.works.evaluate.runs_of_ideas import find_run
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.ranking import Grouping, RankRequest
from schemas.options.commands import RankOptions
from schemas.people.job import NOT_OF_A_RANKING, RankJob, check_offered
from schemas.run import Run
from schemas.settings import Settings
from schemas.work import Summary
from tasks.works import work_named
from warehouse.app.jobs import jobs, submit
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from dashboards.views.write_ranking import RankedRun


def rank(
    options: RankOptions,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|IDEAS",
            help=(
                "A run_id, or an idea file, evaluated first where it is not yet. Default: the"
                " newest run."
            ),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write the ranking: .csv, .xlsx, .json, .html, .md, .pdf or .docx."),
    ] = None,
    json: Json = False,
) -> int:
    """Rank the ideas of each group by pairwise comparison.

    A run that is already ranked is printed without a call; the same command resumes. Bounds apply
    to the evaluation and to the ranking separately.
    """
    from flows.cli import works

    _check(options)
    if output is not None:
        check_output(output, tables_alone=options.scores)
    with idea_file(Path(run)) if run == STANDARD_INPUT else nullcontext(run) as source:
        name = None if source is None else str(source)
        if options.scores:
            return _rank_by_scores(name, options, output, as_json=json)
        return works.run(
            "rank",
            (name,),
            options,
            output,
            as_json=json,
            save=_save,
            leave=partial(_leave_to_runner, options),
        )


def _rank_by_scores(
    name: str | None, options: RankOptions, output: Path | None, *, as_json: bool
) -> int:
    run = find_run(name, options)
    if run is None:
        evaluate = work_named("evaluate")
        settings = Settings()
        request = request_of(evaluate, (Path(name or ""),), options.evaluation, settings)
        if options.dry_run:
            from flows.run.estimate import estimate

            return print_estimate(estimate(evaluate, request, settings), as_json=as_json)
        with Session() as session:
            run = session.run(evaluate, request).published_head()
    weights = None if options.profile is None else load_profile(options.profile)
    folder = options.warehouse.resolve()
    return print_scores(
        folder, run.run_id, weights, as_json=as_json, output=output, shrink=options.shrink
    )


def _save(page: "RankedRun", _: RankRequest, output: Path) -> tuple[Path, ...] | None:
    """Write a table for spreadsheets or programs; None: another format."""
    if not is_table(output):
        return None
    run_id = page.head.run_id  # the request for an idea file names no run
    write_ranking(output, page.units, page.warehouse.root, run_id, by_matches=True)
    return (output,)


def _leave_to_runner(options: RankOptions, request: RankRequest, summary: Summary[Run]) -> bool:
    """Submit a job that ranks the run once requests are answered.

    Returns:
        Whether the job runner may follow the project, and so will rank it.
    """
    warehouse, run = Warehouse(request.warehouse), summary.head
    assert options.project is not None
    # Without options of the evaluation and of this machine.
    names = RankOptions.model_fields.keys() - NOT_OF_A_RANKING
    ranking_options = RankOptions(**{name: getattr(options, name) for name in names})
    job = RankJob(
        name=f"ranking of {run.run_id}",
        asked_by="assay rank",
        created_at=datetime.now(UTC),
        idempotency_key=uuid4().hex,
        run_id=run.run_id,
        options=replace(
            ranking_options,
            warehouse=options.warehouse,
            project=options.project.resolve(),
            profile=options.profile or run.profile,
            engine=request.engine,
        ),
    )
    try:
        check_offered(job, Settings().dashboard)
    except ConfigurationError:
        return False
    open_jobs = (each.request for each in jobs(warehouse) if each.at_work)
    if not any(each is not None and each.work == job.work for each in open_jobs):
        submit(warehouse, job)
    return True


def _check(options: RankOptions) -> None:
    if options.shrink and not options.scores:
        raise ConfigurationError("--shrink is about scores: say --scores too, or leave it out")
    match_options = {
        "--votes": options.votes is not None,
        "--method": options.method is not None,
        "--bridge-pairs": options.bridge_pairs is not None,
        "--group-by": options.group_by is not Grouping.GIVEN,
        "--project": options.project is not None,
    }
    for flag, is_given in match_options.items():
        if options.scores and is_given:
            raise ConfigurationError(
                f"{flag} is about matches, and --scores ranks without any: leave one of them out"
            )
