"""Ranking of the groups of a shard.

Each group lands when it ends.

Earlier matches of this or another ranking are reused. A journal stores every match on arrival, so
that a kill loses only calls in flight.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from pydantic import Field, ValidationError

from schemas.base import Noun
from schemas.boundary import ErrorBoundary
from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.committee import ReviewDimension
from schemas.judgement.ranking import (
    BRIDGES,
    GroupReceipt,
    GroupSummary,
    Match,
    RankedGroup,
    RankRequest,
)
from schemas.reasons import first_that_may_pass
from schemas.settings import Settings
from schemas.stopwatch import Stopwatch
from tasks.accounting.ledger import Ledger
from tasks.judging.opening import EngineOf, open_judging
from tasks.judging.step import Engine
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank import JoinedGroups, RankingOutcome, rank_groups
from tasks.ranking.schedule import kind_of
from tasks.shards.standstill import PutDown, StandstillError, until_standstill
from tasks.shards.work import Shard, cause_of, each_unit, land_failure
from warehouse.kinds.rankings.landing import RANKINGS, iterate_heads, landed_matches
from warehouse.layout import Layout
from warehouse.scrubbing import mask_secrets
from warehouse.units.landing import complete_receipt, read_receipt
from warehouse.units.unit_rows import land_unit


class GroupJob(Noun):
    """One group to rank, or all groups to join."""

    group: str
    joins: tuple[str, ...] = Field(
        default=(),
        description="Groups that matches between them join once they have landed; none: a group.",
    )
    dossiers: tuple[Dossier, ...]
    votes: tuple[Match, ...] = Field(default=(), description="Human votes about its ideas.")
    before: tuple[Match, ...] = Field(
        default=(), description="What the engine has judged in other rankings of the run."
    )


class RankJob(Shard):
    """Some groups of one ranking, for one worker."""

    ranking_id: str
    request: RankRequest
    dimensions: tuple[ReviewDimension, ...]
    groups: tuple[GroupJob, ...]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(group.group for group in self.groups)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse

    @property
    def files(self) -> tuple[Path, ...]:
        return self.request.profile.files


MATCH_LINE = b'{"match":'
"""Prefix of journal lines with a match."""


def journal_path(ranking_folder: Path, group: str) -> Path:
    """Return the path of a group's journal."""
    return ranking_folder / "journal" / f"{content_hash(group, length=16)}.jsonl"


@dataclass(slots=True)
class Journal:
    """The journal of one group.

    A line torn by a kill is skipped; later lines count.
    """

    path: Path
    matches: list[Match] = field(default_factory=list)

    def read(self) -> None:
        """Read the matches of an earlier attempt."""
        for line in self.path.read_bytes().split(b"\n") if self.path.exists() else ():
            try:
                entry = orjson.loads(line)
                self.matches.append(Match.model_validate_json(orjson.dumps(entry["match"])))
            except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError):
                continue

    def write(self, matches: Sequence[Match]) -> None:
        """Append `matches` in one write."""
        lines = [_line(match) for match in matches]
        self.matches.extend(matches)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(mask_secrets(b"\n" + b"".join(lines)))
            file.flush()
            os.fsync(file.fileno())


def _line(match: Match) -> bytes:
    return orjson.dumps({"match": match.model_dump(mode="json")}, option=orjson.OPT_APPEND_NEWLINE)


GROUPS_IN_FLIGHT = 4


async def rank_job(job: RankJob, settings: Settings) -> tuple[GroupReceipt, ...]:
    """Rank and land the groups without a complete receipt.

    Returns all receipts of the shard.
    """
    layout = Layout(job.request.warehouse)
    async with AsyncExitStack() as stack:
        request, path = job.request, layout.batches(job.run_id, job.ranking_id)
        batches_path = path if request.parameters.batch else None
        scope = request.spends_as(request.run_id)
        judging = open_judging(request, settings, layout, scope, stack, batches_path=batches_path)
        concurrency = settings.language_model.maximum_concurrency
        return await rank_shard(job, layout, judging.engine_of, concurrency=concurrency)


async def rank_shard(
    job: RankJob, layout: Layout, engine_of: EngineOf, *, concurrency: int
) -> tuple[GroupReceipt, ...]:
    """Rank as `rank_job` does; `engine_of(ledger)` returns engines that book their calls there.

    A group with an error lands as failed, and the others are ranked. Groups that wait for a batch, or
    for groups to join, are suspended without landing, and the shard has to be sent again.

    Raises:
        ConfigurationError: the settings allow no ranking.
        OSError: the disk fails, which concerns every group.
    """

    async def one(group: GroupJob) -> GroupReceipt | None:
        receipt = complete_receipt(
            layout, RANKINGS, job.request.run_id, job.ranking_id, group.group
        )
        if receipt is not None:
            return receipt
        if None in _receipts(layout, job, group):
            return None
        return await _rank_and_land(group, job, layout, engine_of, concurrency)

    receipts = await each_unit(job.groups, GROUPS_IN_FLIGHT, one)
    return tuple(receipt for receipt in receipts if receipt is not None)


async def _rank_and_land(
    group: GroupJob, job: RankJob, layout: Layout, engine_of: EngineOf, concurrency: int
) -> GroupReceipt | None:
    watch = Stopwatch()
    ranking_folder = RANKINGS.folder(layout, job.request.run_id, job.ranking_id)
    journal = Journal(journal_path(ranking_folder, group.group))
    journal.read()
    folder = RANKINGS.unit_path(layout, job.request.run_id, job.ranking_id, group.group)
    ledgers = {dossier.idea_id: Ledger(dossier.idea_id, folder) for dossier in group.dossiers}
    boundary = ErrorBoundary()
    waiting = PutDown(layout.waiting(job.run_id, job.ranking_id))
    with boundary:
        ranking = _rank(group, job, layout, engine_of, concurrency, journal, ledgers)
        outcome = await (until_standstill(ranking) if job.request.parameters.batch else ranking)
        unit = _unit(outcome, job, _receipts(layout, job, group), ledgers)
        receipt = _land(layout, job, unit, watch)
    if isinstance(boundary.error, StandstillError):
        waiting.wait(group.group)
        return None
    waiting.end(group.group)
    if boundary.error is not None:
        ideas = tuple(dossier.idea_id for dossier in group.dossiers)
        return land_failed_group(
            layout,
            job,
            group.group,
            ideas,
            boundary.error,
            watch,
            calls=_calls_of(ledgers),
            joins=bool(group.joins),
        )
    if receipt.incomplete_reason is None:
        journal.path.unlink(missing_ok=True)
    return receipt


def land_failed_group(
    layout: Layout,
    job: RankJob,
    group: str,
    ideas: Sequence[IdeaId],
    error: Exception,
    watch: Stopwatch,
    *,
    calls: tuple[LlmCall, ...] = (),
    joins: bool = False,
) -> GroupReceipt | None:
    """Land a group without ratings as failed.

    Returns None if that cannot be written either.

    A group that cannot land counts as lost. Its journal stays for the next attempt.

    Raises:
        ConfigurationError: `error` concerns every group.
        OSError: the disk fails.
    """
    cause = cause_of(error, f"group {group!r}")
    failed_group = RankedGroup(
        ranking_id=job.ranking_id,
        summary=GroupSummary(
            group=group,
            idea_count=len(ideas),
            match_count=0,
            unscored_match_count=0,
            schedule=BRIDGES
            if joins
            else kind_of(
                len(ideas), job.request.profile.ranking, beforehand=job.request.parameters.batch
            ),
            ended_because=f"it failed: {cause.text}",
        ),
        llm_calls=calls,
        incomplete_reason=cause.reason,
    )
    return land_failure(lambda: _land(layout, job, failed_group, watch), f"group {group!r}")


def _land(layout: Layout, job: RankJob, unit: RankedGroup, watch: Stopwatch) -> GroupReceipt:
    run_id = job.request.run_id
    return land_unit(layout, RANKINGS, run_id, unit, watch.started_at, watch.finished_at)


def _receipts(layout: Layout, job: RankJob, group: GroupJob) -> list[GroupReceipt | None]:
    return [
        read_receipt(layout, RANKINGS, job.request.run_id, job.ranking_id, name)
        for name in group.joins
    ]


def _calls_of(ledgers: Mapping[IdeaId, Ledger]) -> tuple[LlmCall, ...]:
    return tuple(call for ledger in ledgers.values() for call in ledger.llm_calls)


async def _rank(
    group: GroupJob,
    job: RankJob,
    layout: Layout,
    engine_of: EngineOf,
    concurrency: int,
    journal: Journal,
    ledgers: Mapping[IdeaId, Ledger],
) -> RankingOutcome:
    profile, engine_name = job.request.profile, job.request.engine.text
    engines: dict[IdeaId, Engine] = {
        idea_id: engine_of(ledger) for idea_id, ledger in ledgers.items()
    }

    def landed(name: str) -> tuple[Match, ...]:
        return landed_matches(layout, job.request.run_id, job.ranking_id, name)

    async def deliver(matches: tuple[Match, ...]) -> None:
        journal.write(matches)

    return await rank_groups(
        group.dossiers,
        profile.ranking,
        engines[group.dossiers[0].idea_id],
        profile.seed,
        dimensions=job.dimensions,
        stored=[
            *group.before,
            # Matches of an earlier attempt; votes only come with the request.
            *(match for match in landed(group.group) if match.judge == engine_name),
            *journal.matches,
            *group.votes,
        ],
        concurrency=concurrency,
        deliver=deliver,
        engine_of=engines.__getitem__,
        joined=JoinedGroups(group.group, [each for name in group.joins for each in landed(name)])
        if group.joins
        else None,
        beforehand=job.request.parameters.batch,
        with_votes=job.request.parameters.counts_votes,
    )


def _unit(
    outcome: RankingOutcome,
    job: RankJob,
    receipts: Sequence[GroupReceipt | None],
    ledgers: Mapping[IdeaId, Ledger],
) -> RankedGroup:
    """Build the unit.

    It is incomplete if one of the `joined` groups is.
    """
    (summary,) = outcome.groups
    reason = first_that_may_pass(match.unscored_reason for match in outcome.matches) or next(
        (
            receipt.incomplete_reason
            for receipt in receipts
            if receipt and receipt.incomplete_reason
        ),
        None,
    )
    joins_groups = summary.joins_groups
    return RankedGroup(
        ranking_id=job.ranking_id,
        summary=summary,
        matches=outcome.matches,
        ratings=() if joins_groups else outcome.ratings,
        ratings_across_groups=outcome.ratings if joins_groups else (),
        llm_calls=_calls_of(ledgers),
        incomplete_reason=reason,
    )


def matches_elsewhere(layout: Layout, job: RankJob, group: str) -> tuple[Match, ...]:
    """Return this group's matches in other rankings of the run by the same engine."""
    run_id, engine = job.request.run_id, job.request.engine.text
    ids = {head.ranking_id for head in iterate_heads(layout, run_id) if head.engine == engine}
    matches = (
        match
        for ranking_id in sorted(ids - {job.ranking_id})
        for match in landed_matches(layout, run_id, ranking_id, group)
    )
    return tuple(match for match in matches if match.judge == engine)
