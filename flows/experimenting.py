"""Programs tried on tasks: measured in sandboxes, landed, published and reported."""

from pathlib import Path

from dashboards.reports.write_experiment import write_experiment_report
from flows.campaign import Campaign, Plan, Summary
from flows.shards import shard_count, write_shards
from schemas.choices import EXTRACTIVE
from schemas.experiment_run import ExperimentHead, ExperimentRequest
from schemas.identifiers import RunId, content_hash
from tasks.experiments.experiment import METHOD_VERSION
from tasks.experiments.experiment_shard import ExperimentJob, experiment_job
from tasks.shards.work import ShardWork
from tasks.telemetry.reporting import traceparent
from warehouse.experiments.landing import EXPERIMENTS
from warehouse.units.landing import begun_head, complete_receipt

ExperimentSummary = Summary[ExperimentHead]


class Experimenting(Campaign[Plan[ExperimentHead], ExperimentHead]):
    """Experiments under way."""

    kind = EXPERIMENTS
    name = "experiment"
    artifact_key = "experiment"
    verb, nouns = "experimented on", "tasks"
    work = ShardWork(ExperimentJob, experiment_job, "experiment shard", "tasks")

    def __init__(self, request: ExperimentRequest) -> None:
        super().__init__(request, request.warehouse, engine=EXTRACTIVE.text)
        self.request = request

    @property
    def run_id(self) -> RunId:
        return experiment_run_id(self.request)

    def plan(self) -> Plan[ExperimentHead]:
        return Plan(
            head=begun_head(self.layout, EXPERIMENTS, self._head()),
            unit_names=tuple(source.task_id for source in self.request.tasks),
            shards=self._shards(),
        )

    def _head(self) -> ExperimentHead:
        return ExperimentHead(
            run_id=self.run_id,
            engine=EXTRACTIVE.text,
            seed=self.request.seed,
            task_count=len(self.request.tasks),
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    def _shards(self) -> dict[Path, tuple[str, ...]]:
        request, run_id = self.request, self.run_id
        waiting = [
            source
            for source in request.tasks
            if complete_receipt(self.layout, EXPERIMENTS, run_id, source.task_id) is None
        ]
        count = shard_count(request, len(waiting))
        shards = (
            ExperimentJob(
                run_id=run_id,
                request=request,
                tasks=tuple(waiting[number::count]),
                trace_parent=traceparent(),
            )
            for number in range(count)
        )
        return write_shards(self.layout.state / "experiments" / run_id, shards)

    def write_reports(self, head: ExperimentHead) -> tuple[Path, ...]:
        catalogue = self.settings.catalogue
        return write_experiment_report(self.layout, head.run_id, catalogue_url=catalogue)

    def describe(self, head: ExperimentHead) -> str:
        return f"{head.task_count} tasks; engine {head.engine}, seed {head.seed}."


def experiment_run_id(request: ExperimentRequest) -> RunId:
    """Over all that could change the outcome; not the workers or where folders lie."""
    name = content_hash(
        f"{METHOD_VERSION} {EXTRACTIVE.text} {request.seed}",
        *sorted(f"{source.task_id}:{source.content_sha256}" for source in request.tasks),
        length=12,
    )
    return RunId(f"experiment-{name}")
