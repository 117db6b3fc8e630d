"""Declaration of ranking a run's ideas by matches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import (
    Grouping,
    RankedGroup,
    RankingHead,
    RankParameters,
    RankRequest,
    RatingMethod,
    RunToRank,
)
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import VOTES_IN_LAKE, RankOptions
from schemas.people.decisions import Stage
from schemas.people.job import RankJob
from schemas.run import Module, Run
from schemas.settings import Settings
from schemas.work import Summary
from tasks.calibration.calibrator_files import with_prior
from tasks.ideas.read import read_ideas
from tasks.ideas.text_files import UnreadManuscripts
from tasks.judging.batches.option import wants_batches
from tasks.ranking.expected import calls_of_ranking
from tasks.ranking.steps import STEPS
from tasks.work.declaration import Common, Expected, Follow, Result, Runs, Work
from warehouse.app.approvals import admit, load_project
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.rankings.queries import whole_ranking
from warehouse.queries import Queries
from warehouse.rows import noun_of
from warehouse.warehouse import Warehouse


def _given(job: RankJob, _: Path) -> tuple[RunToRank]:
    """Return the run by id, never a file of that name."""
    return (RunToRank(run_id=job.run_id),)


def _resolve(
    selection: tuple[RunId | None, RunRequest | None, bool],
    options: RankOptions,
    common: Common,
    _: Settings,
) -> RankRequest:
    """Resolve the options.

    Raises ConfigurationError: bridge pairs in a batch, or Elo without votes.
    """
    run_id, evaluation, stored_will_do = selection
    profile, votes = with_prior(common["profile"]), options.votes
    if options.method is RatingMethod.ELO and votes is None:
        raise ConfigurationError(
            "--method elo needs people's votes: name them with --votes FILE (or lake), or"
            " leave it out"
        )
    if options.bridge_pairs is not None:
        with_bridges = replace(profile.ranking, bridge_pairs=options.bridge_pairs)
        profile = replace(profile, ranking=with_bridges)
    assert options.engine is not None
    batch = wants_batches(options.batch, profile, options.engine)
    if batch and profile.ranking.bridge_pairs:
        raise ConfigurationError(
            "pairs between groups depend on results, which a batch does not wait for: leave out"
            " --batch or --bridge-pairs (bridge_pairs of the profile)"
        )
    has_lake_votes = votes == VOTES_IN_LAKE
    parameters = RankParameters(
        grouping=options.group_by,
        method=options.method
        or (RatingMethod.BRADLEY_TERRY if votes is None else RatingMethod.ELO),
        votes_path=None if has_lake_votes or votes is None else votes.resolve(),
        votes_in_lake=has_lake_votes,
        stored_will_do=stored_will_do,
        project=options.project,
        batch=batch,
        batch_failures=options.batch_failures,
    )
    unit = RunToRank(run_id=run_id, evaluation=evaluation)
    changed = {**common, "profile": profile}
    return RankRequest(units=(unit,), parameters=parameters, **changed)


def _rank(request: RankRequest, settings: Settings, runs: Runs) -> Summary[Any]:
    """Evaluate the run if needed, admit the ideas that the project approved, and rank."""
    (unit,) = request.units
    if unit.evaluation is not None:
        head = runs("evaluate", unit.evaluation).published_head()
        request = replace(request, units=(RunToRank(run_id=head.run_id),))
    project, warehouse = request.parameters.project, Warehouse(request.warehouse, settings)
    if project is None:
        if not request.parameters.stored_will_do:
            return runs("rank", request)
        with warehouse.queries() as queries:
            stored_ranking = whole_ranking(
                queries,
                request.run_id,
                request.engine.text,
                request.profile.name,
                request.parameters.grouping,
                request.parameters.method,
            )
        return (
            _unchanged(stored_ranking, stored_ranking.ranking_id)
            if stored_ranking
            else runs("rank", request)
        )
    admission = admit(warehouse, load_project(project), Stage.RANK, request.run_id)
    if admission.waiting:
        with warehouse.queries() as queries:
            run = queries.run(request.run_id)
        waiting = _unchanged(run, f"run {run.run_id}")
        return replace(waiting, waits_for=admission.waiting)
    left_out = admission.left_out
    parameters = replace(request.parameters, left_out=tuple(left_out))
    summary = runs("rank", replace(request, parameters=parameters))
    remarks = (f"left out: {idea_id}: {reason}" for idea_id, reason in left_out.items())
    return replace(summary, remarks=(*summary.remarks, *remarks))


def _unchanged(head: Run | RankingHead, title: str) -> Summary[Any]:
    """Return the summary of published results that the command leaves unchanged."""
    return Summary(
        name="rank",
        title=title,
        head=head,
        published=True,
        unchanged=True,
        failed_expectations=(),
        report_paths=(),
    )


def _follows(request: RankRequest, *_: object) -> tuple[Follow, ...]:
    (unit,) = request.units
    return () if unit.evaluation is None else (("evaluate", unit.evaluation, 1),)


def _expected(request: RankRequest, settings: Settings) -> Expected:
    """Estimate in the given groups.

    The schedule of a large group often ends earlier.
    """
    (unit,) = request.units
    ideas: Sequence[Idea]
    if unit.evaluation is not None:
        given_ideas, modules = unit.evaluation.ideas, unit.evaluation.parameters.modules
        ideas = read_ideas(
            given_ideas.path,
            default_cutoff=None,
            fields=given_ideas.fields,
            manuscripts=UnreadManuscripts(),
        ).ideas
    else:
        with Warehouse(request.warehouse, settings).queries() as queries:
            run = queries.run(request.run_id)
            ideas = [noun_of(Idea, row) for row in _rows(queries, run, request.parameters.left_out)]
        modules = tuple(Module(name) for name in run.modules.split(",") if name)
    groups, pairs, calls = calls_of_ranking(ideas, request.profile, modules)
    by_subject = request.parameters.grouping is Grouping.CLUSTERS
    return Expected(
        per_step=dict.fromkeys(STEPS, calls),
        counts={"ideas": len(ideas), "groups": groups, "pairs": pairs},
        note="groups as given; groups by subject are not known yet"
        if by_subject
        else "calls are an upper bound: the schedule of a large group often ends earlier",
    )


def _rows(queries: Queries, run: Run, left_out: Sequence[IdeaId]) -> list[dict[str, Any]]:
    rows = queries.rows("ideas_of_run", run_id=run.run_id)
    return [row for row in rows if row["idea_id"] not in left_out]


def _result(head: RankingHead, _: Sequence[Any]) -> Result:
    complete = head.incomplete_reason is None
    return Result("ranked" if complete else "incomplete", in_order=complete, stands=True)


RANK: Work[RunToRank, RankParameters, RankedGroup] = Work(
    job=RankJob,
    given=_given,
    resolve=_resolve,
    schema=RANKINGS,
    steps=lambda _: STEPS,
    do="flows.works.rank.ranking:Ranking",
    expects=_expected,
    result=_result,
    run=_rank,
    follows=_follows,
)
