"""Plan of a ranking: its id, its groups, and shards with their dossiers."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flows.run.campaign import Plan, shard_count, write_shards
from schemas.base import replace
from schemas.boundary import ErrorBoundary
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.judgement.calibration import Prior
from schemas.judgement.committee import ReviewDimension
from schemas.judgement.ranking import Grouping, Match, RankingHead, RankRequest
from schemas.profile import RankingParameters
from schemas.run import Run
from schemas.settings import Settings
from schemas.stopwatch import Stopwatch
from tasks.calibration.calibrator_files import load_prior
from tasks.calibration.examples import item_sha256
from tasks.calibration.text import WORDS
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.identity import model_identity, prompts_of, run_id_of, sampling_identity
from tasks.ranking.contests import votes_on_ideas
from tasks.ranking.dimensions import dimensions_of
from tasks.ranking.dossier import Dossier, dossier_of
from tasks.ranking.expected import calls_of, most_calls
from tasks.ranking.groups import find_groups
from tasks.ranking.rank import UNGROUPED
from tasks.ranking.rank_shard import GroupJob, RankJob, land_failed_group, matches_elsewhere
from tasks.ranking.schedule import FIXED, kind_of, most_bridges
from tasks.ranking.steps import STEPS
from tasks.ranking.votes import RejectedVote, Votes, read_votes
from tasks.telemetry.reporting import traceparent
from warehouse.app.contests import human_votes
from warehouse.app.records import fold_into_lake
from warehouse.kinds.rankings.landing import RANKINGS, basis_of
from warehouse.queries import Queries
from warehouse.stores.keyed_store import KeyedStore
from warehouse.units.landing import complete_receipt, resumed_head
from warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class RankingPlan(Plan[RankingHead]):
    """Plan of a ranking.

    Attributes:
        most_matches: upper bound by group.
        across: name of the group that joins all groups; None: there is none.
        fitted_on_count: ideas that the prior was fitted on, for which it is not used.
    """

    most_matches: Mapping[str, int]
    across: str | None
    rejected_votes: tuple[RejectedVote, ...]
    fitted_on_count: int = 0


def plan_ranking(request: RankRequest, warehouse: Warehouse) -> RankingPlan:
    """Group the ideas of the run, and write unfinished groups to shard files.

    Raises:
        ConfigurationError: the run is not published or has no ideas, no vote counts, or the votes
            or the profile's dimensions cannot be read.
    """
    started_at = datetime.now(UTC)
    dimensions = dimensions_of(request.profile)
    if request.parameters.votes_in_lake:
        fold_into_lake(warehouse)
    names = tuple(dimension.name for dimension in dimensions)
    with warehouse.queries() as queries:
        if not queries.run(request.run_id).idea_count:
            raise ConfigurationError(f"run {request.run_id} holds no ideas: there is none to rank")
        basis = basis_of(queries.connection, request.run_id)
        group_of = _groups(queries, request, warehouse)
        members: dict[str, list[IdeaId]] = {}
        for idea_id, group in group_of.items():
            members.setdefault(group, []).append(idea_id)
        votes = _votes(request, queries, group_of, names)
        prior = _prior(request, queries.run(request.run_id))
        parameters, matches, settings = request.profile.ranking, votes.matches, warehouse.settings
        ranking_id = _ranking_id(request, settings, basis, dimensions, matches, prior, members)
        head = RankingHead(
            ranking_id=ranking_id,
            run_id=request.run_id,
            engine=request.engine.text,
            profile=request.profile.name,
            seed=request.profile.seed,
            grouping=request.parameters.grouping,
            method=request.parameters.method,
            dimensions=names,
            group_count=len(members),
            idea_count=len(group_of),
            vote_count=len(matches),
            basis_sha256=basis,
            started_at=started_at,
            finished_at=started_at,
        )
        template = RankJob(
            run_id=request.run_id,
            ranking_id=ranking_id,
            request=request,
            dimensions=dimensions,
            groups=(),
            trace_parent=traceparent(),
        )
        fitted_on = 0
        if prior is not None:
            training_items = frozenset(prior.calibrator.training_items)
            rows = queries.rows("ideas_of_run", run_id=request.run_id)
            fitted_on = sum(item_sha256(row["text"]) in training_items for row in rows)
        across = _across(members, parameters)
        shards = _write_shards(queries, head, template, warehouse, members, across, matches, prior)
    return RankingPlan(
        head=resumed_head(warehouse, RANKINGS, head),
        unit_names=(*members, *(() if across is None else (across,))),
        shards=shards,
        most_matches=_most_matches(members, across, parameters, len(dimensions)),
        across=across,
        rejected_votes=votes.rejected,
        fitted_on_count=fitted_on,
    )


def _most_matches(
    members: Mapping[str, Sequence[IdeaId]],
    across: str | None,
    parameters: RankingParameters,
    dimension_count: int,
) -> dict[str, int]:
    """Return the upper bound of matches for every group and across groups."""
    bounds = {
        name: most_calls(len(ideas), parameters) * dimension_count
        for name, ideas in members.items()
    }
    if across is not None:
        pairs = most_bridges(len(members), parameters)
        bounds[across] = calls_of(pairs, parameters) * dimension_count
    return bounds


def _prior(request: RankRequest, run: Run) -> Prior | None:
    """Load the prior that the profile names.

    Raises:
        ConfigurationError: it cannot be read, or was fitted with another engine.
    """
    path = request.profile.ranking.prior
    if path is None:
        return None
    prior = load_prior(path)
    calibrator = prior.calibrator
    if calibrator.engine != run.engine and any(one.name != WORDS for one in calibrator.features):
        raise ConfigurationError(
            f"prior {path} was fitted on evidence graded by {calibrator.engine}, not by {run.engine}:"
            " fit one for it"
        )
    return prior


def _votes(
    request: RankRequest,
    queries: Queries,
    group_of: Mapping[IdeaId, str],
    dimensions: tuple[str, ...],
) -> Votes:
    path = request.parameters.votes_path
    if request.parameters.votes_in_lake:
        matches = votes_on_ideas(human_votes(queries), group_of)
        if not matches:
            raise ConfigurationError(
                f"the lake holds no votes on the ideas of run {request.run_id}: the dashboard's"
                " page Vote takes them, or leave out --votes"
            )
        return Votes(matches, ())
    if path is None:
        return Votes((), ())
    votes = read_votes(path, group_of, dimensions)
    if votes.matches:
        return votes
    if not votes.rejected:
        raise ConfigurationError(f"votes file {path.name} holds no vote: leave out --votes")
    first, count = votes.rejected[0], len(votes.rejected)
    raise ConfigurationError(
        f"none of the {count:,} votes of {path.name} can be counted; {first.location}:"
        f" {first.detail}"
    )


def _groups(queries: Queries, request: RankRequest, warehouse: Warehouse) -> Mapping[IdeaId, str]:
    all_rows = queries.rows("ideas_of_run", run_id=request.run_id)
    rows = [row for row in all_rows if row["idea_id"] not in request.parameters.left_out]
    if request.parameters.grouping is Grouping.CLUSTERS:
        dossiers = [
            Dossier(idea_id=row["idea_id"], title=row["title"], text=row["text"]) for row in rows
        ]
        embedder = SentenceEmbedder(
            warehouse.settings.embeddings, KeyedStore(warehouse.cache / "embeddings.sqlite")
        )
        group_of = asyncio.run(find_groups(dossiers, embedder))
    else:
        names = {row["group"] for row in rows}
        rest = UNGROUPED
        while rest in names:
            rest = f"{rest} others"
        group_of = {row["idea_id"]: rest if row["group"] is None else row["group"] for row in rows}
    if not group_of:
        raise ConfigurationError(f"every idea of run {request.run_id} was rejected: none is ranked")
    return dict(sorted(group_of.items(), key=lambda pair: (pair[1], pair[0])))


def _ranking_id(
    request: RankRequest,
    settings: Settings,
    basis: str,
    dimensions: Sequence[ReviewDimension],
    votes: Sequence[Match],
    prior: Prior | None,
    members: Mapping[str, Sequence[IdeaId]],
) -> str:
    profile, batch = request.profile, request.parameters.batch
    sizes = {len(ideas) for ideas in members.values()}
    kinds = {kind_of(size, profile.ranking, beforehand=batch) for size in sizes}
    return run_id_of(
        "ranking",
        basis,
        *model_identity(request.engine, settings, request.api_base),
        sampling_identity(profile),
        profile.model_dump_json(include={"name", "ranking"}),
        request.parameters.grouping,
        *(
            dimension.model_dump_json(include={"name", "question", "scale"})
            for dimension in dimensions
        ),
        *prompts_of(STEPS),
        *(vote.match_id for vote in votes),
        *((f"prior {prior.sha256}",) if prior is not None else ()),
        *(f"without {idea_id}" for idea_id in sorted(request.parameters.left_out)),
        *((FIXED,) if FIXED in kinds else ()),  # fixed pairs are part of the identity
    )


def _write_shards(
    queries: Queries,
    head: RankingHead,
    template: RankJob,
    warehouse: Warehouse,
    members: Mapping[str, Sequence[IdeaId]],
    across: str | None,
    votes: Sequence[Match],
    prior: Prior | None,
) -> dict[Path, tuple[str, ...]]:
    """Write the shards; the group across groups is the last, by itself."""
    open_groups = [name for name in members if _is_open(head, warehouse, name)]
    by_shard: list[list[str]] = [[] for _ in range(shard_count(template.request, len(open_groups)))]
    loads = [0] * len(by_shard)
    # Largest group first, each into the shard with the fewest ideas.
    for name in sorted(open_groups, key=lambda name: (-len(members[name]), name)):
        lightest = loads.index(min(loads))
        by_shard[lightest].append(name)
        loads[lightest] += len(members[name])

    def jobs() -> Iterator[RankJob]:
        for names in by_shard:
            groups = _groups_of(queries, template, warehouse, names, members, votes, prior)
            yield replace(template, groups=groups)
        if across is not None and _is_open(head, warehouse, across):
            ranked_groups = _groups_of(
                queries, template, warehouse, tuple(members), members, votes, prior
            )
            dossiers = tuple(dossier for group in ranked_groups for dossier in group.dossiers)
            before = matches_elsewhere(warehouse, template, across)
            joining_job = GroupJob(
                group=across, joins=tuple(members), dossiers=dossiers, before=before
            )
            yield replace(template, groups=(joining_job,))

    return write_shards(warehouse.work(head.run_id, head.ranking_id), jobs())


def _across(members: Mapping[str, Sequence[IdeaId]], parameters: RankingParameters) -> str | None:
    if len(members) < 2 or not parameters.bridge_pairs:
        return None
    name = "across groups"
    while name in members:
        name = f"{name} given"
    return name


def _groups_of(
    queries: Queries,
    template: RankJob,
    warehouse: Warehouse,
    names: Sequence[str],
    members: Mapping[str, Sequence[IdeaId]],
    votes: Sequence[Match],
    prior: Prior | None,
) -> tuple[GroupJob, ...]:
    """Return the groups with the dossiers of their ideas.

    A group whose dossier cannot be built is landed as failed.
    """
    group_of = {idea_id: name for name in names for idea_id in members[name]}
    dossiers: dict[str, list[Dossier]] = {name: [] for name in names}
    errors: dict[str, Exception] = {}
    for review in queries.idea_reviews(template.request.run_id, tuple(group_of)):
        group = group_of[review.evaluation.idea.idea_id]
        boundary = ErrorBoundary()
        with boundary:
            dossiers[group].append(dossier_of(review, group, prior))
        if boundary.error is not None:
            errors[group] = boundary.error
    for name, error in errors.items():
        if _is_open(template, warehouse, name):
            land_failed_group(warehouse, template, name, members[name], error, Stopwatch())
    return tuple(
        GroupJob(
            group=name,
            dossiers=tuple(sorted(dossiers[name], key=lambda dossier: dossier.idea_id)),
            votes=tuple(vote for vote in votes if vote.group == name),
            before=matches_elsewhere(warehouse, template, name),
        )
        for name in names
        if name not in errors
    )


def _is_open(work: RankingHead | RankJob, warehouse: Warehouse, name: str) -> bool:
    return complete_receipt(warehouse, RANKINGS, work.run_id, work.ranking_id, name) is None
