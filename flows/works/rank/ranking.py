"""Grouped ranking of a published run by pairwise matches."""

from collections.abc import Mapping
from pathlib import Path

from dashboards.views.write_run import write_reports
from flows.profiles import shipped_profiles
from flows.run.batch_waves import BatchWaves
from flows.run.campaign import Campaign
from flows.run.progress import ProgressSource
from flows.run.requests import request_of
from flows.works.evaluate.runs_of_ideas import find_run
from flows.works.rank.rank_plan import RankingPlan, plan_ranking
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.ranking import RankingHead, RankRequest, RunToRank
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import RankOptions
from schemas.run import Run
from schemas.settings import Settings
from schemas.work import Summary
from tasks.evaluation.work import EVALUATE
from tasks.ranking.rank_shard import MATCH_LINE, RankJob, journal_path, rank_job
from tasks.shards.work import ShardWork
from warehouse.kinds.rankings.landing import RANKINGS, failed_groups
from warehouse.units.landing import complete_receipt
from warehouse.warehouse import Warehouse

RankSummary = Summary[RankingHead]


class Ranking(Campaign[RankingPlan, RankingHead]):
    """A ranking of a run; it holds the lock of the run."""

    kind = RANKINGS
    name, command = "ranking", "rank"
    artifact_key = "rank-run"
    verb, nouns = "given", "verdicts"
    work = ShardWork(RankJob, rank_job, "rank shard", "groups")

    def __init__(self, request: RankRequest) -> None:
        super().__init__(request, engine=request.engine.text)

    @staticmethod
    def complete_options(
        arguments: tuple[str | RunToRank | None], options: RankOptions, settings: Settings
    ) -> tuple[tuple[RunId | None, RunRequest | None, bool], RankOptions]:
        """Find the run, or build the evaluation request of an idea file.

        Engine and profile of the run are the defaults.

        Raises:
            ConfigurationError: as `find_run`; or the run used a profile file that is not named.
        """
        (run_name,), evaluation = arguments, None
        run: Run | None
        if isinstance(run_name, RunToRank):  # a program names a published run, never a file
            assert run_name.run_id is not None
            with Warehouse(options.warehouse, settings).queries() as queries:
                run = queries.run(run_name.run_id)
        else:
            run = find_run(run_name, options)
        if run is None:
            evaluation = request_of(EVALUATE, (Path(f"{run_name}"),), options.evaluation, settings)
            engine, profile = evaluation.engine, options.evaluation.profile
        else:
            engine, profile = EngineChoice.parse(run.engine), run.profile
            if options.profile is None and profile not in shipped_profiles():
                raise ConfigurationError(
                    f"run {run.run_id} followed the profile {profile}, a file of yours: name it"
                    " with --profile FILE"
                )
        completed_options = replace(
            options,
            engine=options.engine or engine,
            profile=options.profile or profile,
            literature=None,
            max_requests=None,
        )
        asked_anew = (options.profile, options.api_base, options.votes, options.bridge_pairs)
        stored_will_do = not any(each is not None for each in (*asked_anew, options.project))
        return (None if run is None else run.run_id, evaluation, stored_will_do), completed_options

    @property
    def run_id(self) -> RunId:
        return RunId(self.request.run_id)

    def plan(self) -> RankingPlan:
        self.planned = plan_ranking(self.request, self.warehouse)
        return self.planned

    def waves(self) -> "BatchWaves | _GroupsFirst | None":
        if not self.request.parameters.batch:
            return None if self.planned.across is None else _GroupsFirst(self.planned.across)
        names = self.run_id, self.planned.head.ranking_id
        return BatchWaves(self.request, names, self.request.spends_as(self.run_id), self.warehouse)

    def progress_source(self, plan: RankingPlan) -> ProgressSource:
        verdicts = VerdictProgress(self.warehouse, plan.head, plan.most_matches)
        return ProgressSource(
            done=verdicts.done,
            total=verdicts.total,
            suffix=verdicts.groups,
            verb=self.verb,
            nouns=self.nouns,
            artifact_key=f"{self.artifact_key}-progress",
            description=f"Verdicts given in {plan.head.ranking_id}",
        )

    def remarks(self) -> tuple[str, ...]:
        head, votes = self.planned.head, self.planned.rejected_votes
        unranked_groups = failed_groups(self.warehouse, head.run_id, head.ranking_id)
        return (
            *(f"vote not counted: {vote.location}: {vote.detail}" for vote in votes),
            *(
                (
                    f"the prior was fitted on {fitted_on} of these ideas: they are expected to be"
                    " as good as the mean of the others",
                )
                if (fitted_on := self.planned.fitted_on_count)
                else ()
            ),
            *(f"group not ranked: {each.group}: {each.ended_because}" for each in unranked_groups),
        )

    def current_reports(self) -> tuple[Path, ...]:
        folder = self.warehouse.reports / self.run_id
        reports = tuple(folder / name for name in ("index.html", "index.md"))
        return reports if all(path.exists() for path in reports) else ()

    def write_reports(self, head: RankingHead) -> tuple[Path, ...]:
        return write_reports(self.warehouse, head.run_id)

    def describe(self, head: RankingHead) -> str:
        return (
            f"{head.idea_count} ideas of run {head.run_id} in {head.group_count} groups; "
            f"engine {head.engine}, profile {head.profile}."
        )


class _GroupsFirst:
    """Implements `Waves`: the group across groups waits for all other groups."""

    def __init__(self, across: str) -> None:
        self._across = across
        self._has_started = False

    def __str__(self) -> str:
        return ""

    def is_waiting(self, unit: str) -> bool:
        return unit == self._across and not self._has_started

    def next(self) -> bool:
        had_started, self._has_started = self._has_started, True
        return not had_started


class VerdictProgress:
    """Counts verdicts, done and at most, from receipts and open journals.

    Two ideas that meet in both orders along three dimensions are six verdicts, so the progress of
    one large group is visible. A group that ends early lowers the total.
    """

    def __init__(
        self, warehouse: Warehouse, head: RankingHead, most_matches: Mapping[str, int]
    ) -> None:
        self._warehouse = warehouse
        self._head = head
        self._maximums = most_matches
        self._verdicts_by_group: dict[str, int] = {}
        self._journals: dict[str, _Journal] = {}

    def done(self) -> int:
        self._look()
        under_way = (
            (name, journal.matches)
            for name, journal in self._journals.items()
            if name not in self._verdicts_by_group
        )
        return sum(self._verdicts_by_group.values()) + sum(
            min(matches, self._maximums[name]) for name, matches in under_way
        )

    def total(self) -> int:
        return sum(self._verdicts_by_group.get(name, most) for name, most in self._maximums.items())

    def groups(self) -> str:
        return f", {len(self._verdicts_by_group):,} of {len(self._maximums):,} groups ranked"

    def _look(self) -> None:
        folder = RANKINGS.folder(self._warehouse, self._head.run_id, self._head.ranking_id)
        for name in self._maximums:
            if name in self._verdicts_by_group:
                continue
            receipt = complete_receipt(
                self._warehouse, RANKINGS, self._head.run_id, self._head.ranking_id, name
            )
            if receipt is not None:
                self._verdicts_by_group[name] = receipt.rows.get("matches", 0)
            else:
                self._journals.setdefault(name, _Journal(journal_path(folder, name))).look()


class _Journal:
    """Counts the matches of a journal, reading only new lines."""

    def __init__(self, path: Path) -> None:
        self.matches = 0
        self._path = path
        self._read_bytes = 0

    def look(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self._read_bytes += len(line)
                    self.matches += line.startswith(MATCH_LINE)
        except FileNotFoundError:
            return
