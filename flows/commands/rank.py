"""`assay rank`: groups, pairwise matches, ratings, ranking of a run; or of an idea file, which is evaluated first."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options
from flows.commands.session import Session
from flows.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.request import DEFAULT_PROFILE, DEFAULT_WAREHOUSE, check_api_base, resolve_request
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.ranking import Grouping, RankingHead, RankRequest, RatingMethod
from schemas.run import Budget, Run
from schemas.settings import Settings

GroupBy = Annotated[
    Grouping,
    typer.Option(
        "--group-by",
        help="`given`: the groups of the idea file; `clusters`: ideas on one subject, found by embedding.",
    ),
]
Method = Annotated[
    RatingMethod | None,
    typer.Option(
        "--method",
        help="Ratings shown: `bradley_terry`, or `elo`, which counts human votes too. Default: elo with --votes.",
    ),
]
Votes = Annotated[
    Path | None,
    typer.Option(
        "--votes",
        metavar="FILE",
        help="Human votes, JSON Lines or CSV: first, second, winner, voter, …",
    ),
]
Scores = Annotated[
    bool,
    typer.Option(
        "--scores",
        metavar="",
        help="Rank by the scores of the evaluation: no matches, nothing paid.",
    ),
]


def rank(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|IDEAS]",
            help="A run_id, or an idea file, evaluated first where it is not yet. Default: the newest run.",
        ),
    ] = None,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME|FILE", help="Default: the profile of the run."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine", metavar="NAME", help="Judge of the matches. Default: the run's engine."
        ),
    ] = None,
    api_base: options.ApiBase = None,
    group_by: GroupBy = Grouping.GIVEN,
    method: Method = None,
    votes: Votes = None,
    scores: Scores = False,
    literature: options.Literature = None,
    modules: Annotated[
        str | None,
        typer.Option("--modules", metavar="LIST", help="For IDEAS that are evaluated first."),
    ] = None,
    cutoff: options.Cutoff = None,
    full_text: options.FullText = None,
    label: options.Label = "",
    workers: options.Workers = 2,
    scheduler: options.Scheduler = None,
    max_cost_usd: options.MaxCost = None,
    max_cost_usd_per_idea: options.MaxCostPerIdea = None,
    max_tokens: options.MaxTokens = None,
    max_requests: options.MaxRequests = None,
    json: options.Json = False,
) -> int:
    """Let the ideas of each group meet in pairs, rate them and print the ranking.

    A run that is ranked already is printed without a call; the same command goes on where it stopped. Bounds hold for the evaluation
    and for the ranking each.
    """
    from flows.commands.rank_output import print_scores
    from flows.runs_of_ideas import find_run

    folder = warehouse.resolve()
    shaping = (literature, modules, cutoff, full_text)
    found = find_run(
        folder,
        run,
        engine=engine,
        profile=profile,
        label=label,
        exact=any(option is not None for option in shaping),
    )
    with Session() as session:
        if found is None:
            request = resolve_request(
                Path(run or ""), Settings(), warehouse=warehouse, profile=profile or DEFAULT_PROFILE, engine=engine or "extractive",
                api_base=api_base, literature=literature, modules=modules or options.DEFAULT_MODULES, cutoff=cutoff, workers=workers,
                scheduler=scheduler, max_cost_usd=max_cost_usd, max_cost_usd_per_idea=max_cost_usd_per_idea, max_tokens=max_tokens,
                max_requests=max_requests, full_text=full_text, label=label,
            )  # fmt: skip
            found = session.evaluate(request).published_head()
        if scores:
            return print_scores(folder, found.run_id, as_json=json)
        wanted = rank_request(
            found, folder, profile=profile, engine=engine, api_base=api_base, group_by=group_by, method=method, votes=votes,
            workers=workers, scheduler=scheduler,
            budget=Budget(maximum_cost_usd=max_cost_usd, maximum_cost_usd_per_idea=max_cost_usd_per_idea, maximum_tokens=max_tokens),
        )  # fmt: skip
        asked_anew = any(option is not None for option in (profile, api_base, votes))
        return rank_and_print(wanted, session, as_json=json, stored_will_do=not asked_anew)


def rank_request(
    run: Run,
    warehouse: Path,
    *,
    profile: str | None = None,
    engine: str | None = None,
    api_base: str | None = None,
    group_by: Grouping = Grouping.GIVEN,
    method: RatingMethod | None = None,
    votes: Path | None = None,
    workers: int = 2,
    scheduler: str | None = None,
    budget: Budget | None = None,
) -> RankRequest:
    """What is to be ranked, with what was not said taken from the run.

    Raises:
        ConfigurationError: an option that cannot be understood, or a run whose profile is a file that was not named.
    """
    from flows.profiles import load_profile, shipped_profiles
    from tasks.judging.engines import parse_engine_name

    chosen = engine or run.engine
    check_api_base(api_base, chosen)
    if profile is None and run.profile not in shipped_profiles():
        raise ConfigurationError(
            f"run {run.run_id} followed the profile {run.profile}, a file of yours: name it with --profile FILE"
        )
    return RankRequest(
        run_id=run.run_id,
        warehouse=warehouse,
        profile=load_profile(profile or run.profile),
        engine=parse_engine_name(chosen).name,
        api_base=api_base,
        grouping=group_by,
        method=method or (RatingMethod.BRADLEY_TERRY if votes is None else RatingMethod.ELO),
        votes_path=votes.resolve() if votes is not None else None,
        workers=workers,
        scheduler_address=scheduler,
        budget=budget or Budget(),
    )


def rank_and_print(
    request: RankRequest, session: Session, *, as_json: bool, stored_will_do: bool
) -> int:
    """Rank a run in `session`, unless it is ranked so already, and print the ranking; the command's exit code."""
    from flows.commands.output import print_note
    from flows.commands.rank_output import print_matches

    stored = _stored(request) if stored_will_do else None
    summary = None if stored is not None else session.rank(request)
    if summary is not None:
        for line in summary.remarks:
            print_note(line)
        for failed in summary.failed_expectations:
            print_note(f"not published: {failed}")
        if not summary.published:
            return EXIT_FAILURES
    head = stored or (summary.head if summary is not None else None)
    assert head is not None
    print_matches(
        request.warehouse,
        head,
        as_json=as_json,
        report_paths=summary.report_paths if summary is not None else (),
    )
    if head.incomplete_reason is None:
        return EXIT_DONE
    return EXIT_BUDGET if head.incomplete_reason == "budget_exhausted" else EXIT_FAILURES


def _stored(request: RankRequest) -> RankingHead | None:
    """A whole ranking of the lake that is what was asked for; None when there is none."""
    from warehouse.layout import Layout
    from warehouse.queries import open_queries
    from warehouse.rankings.queries import rankings_of

    with open_queries(Layout(request.warehouse), catalogue_url=Settings().catalogue) as queries:
        rankings = rankings_of(queries, RunId(request.run_id))
    same = (
        head
        for head in rankings
        if (head.engine, head.profile, head.grouping, head.method)
        == (request.engine, request.profile.name, request.grouping, request.method)
    )
    return next(
        (head for head in same if head.incomplete_reason is None and head.vote_count == 0), None
    )
