"""Programs tried on tasks: measured in sandboxes, landed, published and reported."""

from pathlib import Path

from dashboards.views.write_experiment import experiment_page
from flows.run.campaign import Campaign, Plan
from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.experiment_run import ExperimentHead, ExperimentRequest, TaskSource
from tasks.experiments.experiment_shard import ExperimentJob, experiment_job
from tasks.experiments.proposing import METHOD_VERSION
from tasks.experiments.steps import STEPS
from tasks.judging.identity import model_identity, prompts_of, run_id_of, sampling_identity
from tasks.shards.work import ShardWork
from tasks.telemetry.reporting import traceparent
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.units.landing import begun_head

ExperimentSummary = Summary[ExperimentHead]


class Experimenting(Campaign[Plan[ExperimentHead], ExperimentHead]):
    """Experiments under way."""

    kind = EXPERIMENTS
    name = "experiment"
    artifact_key = "experiment"
    verb, nouns = "experimented on", "tasks"
    work = ShardWork(ExperimentJob, experiment_job, "experiment shard", "tasks")

    def __init__(self, request: ExperimentRequest) -> None:
        super().__init__(request, request.warehouse, engine=request.engine.text)
        self.request = request

    @property
    def run_id(self) -> RunId:
        return experiment_run_id(self.request, self.warehouse.settings)

    def plan(self) -> Plan[ExperimentHead]:
        tasks = {source.task_id: source for source in self.request.tasks}
        return Plan(
            head=begun_head(self.warehouse, EXPERIMENTS, self._head()),
            unit_names=tuple(tasks),
            shards=self.shards_of(tasks, self._job),
        )

    def _head(self) -> ExperimentHead:
        return ExperimentHead(
            run_id=self.run_id,
            engine=self.request.engine.text,
            seed=self.request.seed,
            task_count=len(self.request.tasks),
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    def _job(self, tasks: tuple[TaskSource, ...]) -> ExperimentJob:
        return ExperimentJob(
            run_id=self.run_id, request=self.request, tasks=tasks, trace_parent=traceparent()
        )

    def write_reports(self, head: ExperimentHead) -> tuple[Path, ...]:
        page = experiment_page(self.warehouse, head.run_id)
        return page.write(self.warehouse.reports / head.run_id)

    def describe(self, head: ExperimentHead) -> str:
        return f"{head.task_count} tasks; engine {head.engine}, seed {head.seed}."


def experiment_run_id(request: ExperimentRequest, settings: Settings) -> RunId:
    """The identity of an experiment; without a model no step is asked."""
    container = request.container
    within = f" {container.runtime} {container.image}" if container is not None else ""
    asked = (sampling_identity(request.profile), *prompts_of(STEPS))
    return run_id_of(
        "experiment",
        f"{METHOD_VERSION} {request.seed}{within}",
        *model_identity(request.engine, settings, request.api_base),
        *(() if request.engine.is_baseline else asked),
        *sorted(f"{source.task_id}:{source.content_sha256}" for source in request.tasks),
    )
