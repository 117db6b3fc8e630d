"""`assay rank`: groups, pairwise matches, ratings, ranking of a run; or of an idea file, which is
evaluated first.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from flows.cli.answer import print_answer
from flows.cli.evaluate.rank_file import check_output
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.options import Json, output_option
from flows.cli.people.inbox import print_waiting
from flows.cli.talk import print_note, print_warning
from flows.people.approvals import admit, load_project
from flows.profiles import load_profile, shipped_profiles
from flows.run.session import Session
from flows.works.evaluate.given_ideas import STANDARD_INPUT, given_ideas
from flows.works.evaluate.request import check_api_base, resolve_request, wants_batches
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import Grouping, RankingHead, RankRequest, RatingMethod
from schemas.options.commands import VOTES_IN_LAKE, RankOptions
from schemas.people.decisions import Stage
from schemas.people.job import NOT_OF_A_RANKING, RankJob, check_offered
from schemas.run import Run
from schemas.settings import Settings
from tasks.calibration.applying import with_prior
from warehouse.app.jobs import jobs, submit
from warehouse.kinds.rankings.queries import whole_ranking
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from flows.people.approvals import Admission


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
        output_option("Write the ranking: .csv, .xlsx, .json or .html."),
    ] = None,
    json: Json = False,
) -> int:
    """Let the ideas of each group meet in pairs, rate them and print the ranking.

    A run that is ranked already is printed without a call; the same command goes on where it
    stopped. Bounds hold for the evaluation and for the ranking each.
    """
    from flows.cli.evaluate.rank_output import print_scores
    from flows.works.evaluate.runs_of_ideas import find_run

    _check(options)
    if output is not None:
        check_output(output)
    folder = options.warehouse.resolve()
    with ExitStack() as stack:
        if run == STANDARD_INPUT:
            run = str(stack.enter_context(given_ideas(Path(run))))
        found = find_run(run, options)
        session = stack.enter_context(Session())
        if found is None:
            request = resolve_request(Path(run or ""), options.evaluation, Settings())
            found = session.evaluate(request).published_head()
        if options.scores:
            weights = None if options.profile is None else load_profile(options.profile)
            return print_scores(
                folder, found.run_id, weights, as_json=json, output=output, shrink=options.shrink
            )
        to_rank, left_out = rank_request(found, options), {}
        if options.project is not None:
            admission = admitted(options.project, to_rank)
            if admission.waiting:
                goes_on = _leave_to_runner(found, options)
                return print_waiting(admission.waiting, found, goes_on=goes_on, as_json=json)
            left_out = admission.left_out
        asked_anew = (options.profile, options.api_base, options.votes, options.bridge_pairs)
        return rank_and_print(
            replace(to_rank, left_out=tuple(left_out)),
            session,
            as_json=json,
            stored_will_do=not any(each is not None for each in (*asked_anew, options.project)),
            output=output,
            left_out=lines_of(left_out),
        )[1]


def lines_of(left_out: Mapping[IdeaId, str]) -> tuple[str, ...]:
    """What a ranking says of the ideas that were rejected."""
    return tuple(f"left out: {idea_id}: {why}" for idea_id, why in left_out.items())


def _leave_to_runner(run: Run, options: RankOptions) -> bool:
    """Have the job runner rank the run once the requests are answered, where the project is among
    those that jobs may follow; whether it will.
    """
    warehouse = Warehouse(options.warehouse.resolve())
    assert options.project is not None
    told = replace(
        # The job's options: a run is evaluated already, and the runner's machine is its own.
        RankOptions(
            **{
                name: getattr(options, name)
                for name in RankOptions.model_fields.keys() - NOT_OF_A_RANKING
            }
        ),
        warehouse=options.warehouse,
        project=options.project.resolve(),
        profile=options.profile or run.profile,
        engine=options.engine or EngineChoice.parse(run.engine),
    )
    request = RankJob(
        name=f"ranking of {run.run_id}",
        asked_by="assay rank",
        created_at=datetime.now(UTC),
        idempotency_key=uuid4().hex,
        run_id=run.run_id,
        options=told,
    )
    try:
        check_offered(request, Settings().dashboard)
    except ConfigurationError:
        return False
    open_jobs = (job.request for job in jobs(warehouse) if job.at_work)
    if not any(each is not None and each.work == request.work for each in open_jobs):
        submit(warehouse, request)
    return True


def admitted(project: Path, request: RankRequest) -> "Admission":
    """Which ideas a project lets into the ranking.

    Raises:
        ConfigurationError, UnknownNameError: as `load_project` and `admit`.
    """
    return admit(Warehouse(request.warehouse), load_project(project), Stage.RANK, request.run_id)


def _check(options: RankOptions) -> None:
    if options.shrink and not options.scores:
        raise ConfigurationError("--shrink is about scores: say --scores too, or leave it out")
    matched = {
        "--votes": options.votes is not None,
        "--method": options.method is not None,
        "--bridge-pairs": options.bridge_pairs is not None,
        "--group-by": options.group_by is not Grouping.GIVEN,
        "--project": options.project is not None,
    }
    for flag, said in matched.items():
        if options.scores and said:
            raise ConfigurationError(
                f"{flag} is about matches, and --scores ranks without any: leave one of them out"
            )


def rank_request(run: Run, options: RankOptions) -> RankRequest:
    """What is to be ranked, with what was not said taken from the run.

    Raises:
        ConfigurationError: an option that cannot be met, or the run's profile is a file of the user
            that was not named.
    """
    engine, votes = options.engine or EngineChoice.parse(run.engine), options.votes
    in_lake = votes == VOTES_IN_LAKE
    check_api_base(options.api_base, engine)
    if options.profile is None and run.profile not in shipped_profiles():
        raise ConfigurationError(
            f"run {run.run_id} followed the profile {run.profile}, a file of yours: name it with"
            " --profile FILE"
        )
    profile = with_prior(load_profile(options.profile or run.profile))
    if options.bridge_pairs is not None:
        bridged = replace(profile.ranking, bridge_pairs=options.bridge_pairs)
        profile = replace(profile, ranking=bridged)
    batch = wants_batches(options.batch, profile, engine)
    if batch and profile.ranking.bridge_pairs:
        raise ConfigurationError(
            "pairs between groups are chosen by results, which a batch does not wait for: leave out"
            " --batch or --bridge-pairs (bridge_pairs of the profile)"
        )
    return RankRequest(
        run_id=run.run_id,
        warehouse=options.warehouse.resolve(),
        profile=profile,
        engine=engine,
        api_base=options.api_base,
        grouping=options.group_by,
        method=options.method
        or (RatingMethod.BRADLEY_TERRY if votes is None else RatingMethod.ELO),
        votes_path=None if in_lake or votes is None else votes.resolve(),
        votes_in_lake=in_lake,
        workers=options.workers,
        scheduler_address=options.scheduler,
        budget=replace(options.budget, maximum_requests=None),
        batch=batch,
        batch_failures=options.batch_failures,
    )


def rank_and_print(
    request: RankRequest,
    session: Session,
    *,
    as_json: bool,
    stored_will_do: bool,
    output: Path | None = None,
    left_out: tuple[str, ...] = (),
) -> tuple[RankingHead | None, int]:
    """Rank a run in `session`, unless it is ranked so already, and print the ranking; what is
    published of it, None where nothing is, and the command's exit code.
    """
    from flows.cli.evaluate.rank_output import print_matches

    stored = _stored(request) if stored_will_do else None
    summary = None if stored is not None else session.rank(request)
    if summary is not None:
        failed = tuple(f"not published: {each}" for each in summary.failed_expectations)
        for line in (*summary.remarks, *failed):
            print_warning(line)
        if not summary.published:
            if as_json:
                warnings = (*failed, *summary.remarks)
                print_answer(
                    "not_published",
                    warnings=warnings,
                    ranking=summary.head,
                    log=summary.log_path,
                )
            return None, EXIT_FAILURES
    head = stored or (summary.head if summary is not None else None)
    assert head is not None
    for line in left_out:
        print_note(line)
    print_matches(
        request,
        head,
        as_json=as_json,
        report_paths=summary.report_paths if summary is not None else (),
        remarks=(*(summary.remarks if summary is not None else ()), *left_out),
        log_path=summary.log_path if summary is not None else None,
        output=output,
    )
    if head.incomplete_reason is None:
        return head, EXIT_DONE
    return head, EXIT_BUDGET if head.incomplete_reason == "budget_exhausted" else EXIT_FAILURES


def _stored(request: RankRequest) -> RankingHead | None:
    """A whole ranking of the lake that is what was asked for; None when there is none."""
    with Warehouse(request.warehouse).queries() as queries:
        return whole_ranking(
            queries,
            RunId(request.run_id),
            request.engine.text,
            request.profile.name,
            request.grouping,
            request.method,
        )
