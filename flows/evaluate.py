"""The main job: a batch of ideas in, evidence-backed evaluations out."""

from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from dashboards.reports.write import write_reports
from flows.dask_runner import dask_runner
from flows.gateway import open_gateway
from flows.plan import RunPlan, key_batch, plan_run, unfinished
from flows.progress import progress_of
from flows.run_lock import only_command_on
from flows.shards import send_shards
from schemas.base import Noun
from schemas.errors import PublicationError
from schemas.evaluation import Receipt
from schemas.reasons import Reason
from schemas.run import Run, RunRequest, RunState
from schemas.settings import Settings
from tasks.evaluate_shard import evaluate_shard
from tasks.ideas.read import read_ideas
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.landing import read_receipts
from warehouse.layout import Layout
from warehouse.publish import publish_run
from warehouse.queries import open_queries


class RunSummary(Noun):
    """What a run came to."""

    run: Run
    published: bool
    failed_expectations: tuple[str, ...]
    report_paths: tuple[Path, ...]

    def published_run(self) -> Run:
        """The run, for who needs it in the lake. Raises PublicationError when it is not."""
        if not self.published:
            raise PublicationError(
                f"run {self.run.run_id} was not published: {'; '.join(self.failed_expectations)}"
            )
        return self.run


@flow(
    name="evaluate-batch",
    flow_run_name="evaluate {request.ideas_path.name}",
    task_runner=dask_runner(2, None),
    validate_parameters=False,
)
def evaluate_batch(request: RunRequest) -> RunSummary:
    """Read ideas, plan, evaluate, land, validate, publish, rank and report one batch.

    Running it again with the same request goes on where the last run stopped, or changes nothing.

    Raises:
        ConfigurationError: the request cannot be met: no such file, snapshot, gateway or model.
    """
    started_at = datetime.now(UTC)
    settings, layout = Settings(), Layout(request.warehouse)
    batch = read_ideas(request.ideas_path, default_cutoff=request.cutoff_date)
    with (
        reporting(settings.telemetry, "assay-run"),
        span("run", engine=request.engine.text, profile=request.profile.name) as spanned,
        open_gateway(request.literature, settings, layout) as gateway,
    ):
        keyed = key_batch(batch, request, settings, gateway)
        spanned.note(run_id=keyed.run_id, ideas=len(keyed.planned))
        with only_command_on(layout, keyed.run_id):
            plan = plan_run(keyed, request, gateway, layout)
            with progress_of(plan, layout):
                send_shards(evaluate_shard, plan.shard_paths, lambda: unfinished(plan, layout))
            summary = _publish(
                _run_row(request, plan, layout, gateway.literature, started_at), layout, settings
            )
    create_markdown_artifact(
        markdown=_artifact(summary),
        key="evaluate-batch-summary",
        description=f"Run {summary.run.run_id}",
    )
    return summary


def run_batch(request: RunRequest) -> RunSummary:
    """`evaluate_batch` on the workers the request names."""
    runner = dask_runner(request.workers, request.scheduler_address)
    return evaluate_batch.with_options(task_runner=runner)(request)


def _publish(run: Run, layout: Layout, settings: Settings) -> RunSummary:
    """Validate and publish what landed, and write its reports; a run published before as it is keeps its row."""
    publication = publish_run(layout, run, catalogue_url=settings.catalogue)
    if publication.unchanged:
        with open_queries(layout, catalogue_url=settings.catalogue) as queries:
            run = queries.run(run.run_id)
    return RunSummary(
        run=run,
        published=publication.published,
        failed_expectations=publication.failed_expectations,
        report_paths=write_reports(layout, run.run_id, catalogue_url=settings.catalogue)
        if publication.published
        else (),
    )


def _run_row(
    request: RunRequest, plan: RunPlan, layout: Layout, literature: str, started_at: datetime
) -> Run:
    receipts = read_receipts(layout, plan.run_id).values()
    complete = sum(receipt.incomplete_reason is None for receipt in receipts)
    first_started = min(
        (receipt.started_at for receipt in receipts if receipt.reused_from_run_id is None),
        default=started_at,
    )
    first_started = min(first_started, started_at)
    finished_at = max(
        datetime.now(UTC), first_started
    )  # the clock may have been set back meanwhile
    return Run(
        run_id=plan.run_id,
        label=request.label,
        profile=request.profile.name,
        engine=request.engine.text,
        literature=literature,
        modules=",".join(request.modules),
        idea_count=plan.idea_count,
        rejected_count=plan.rejected_count,
        evaluated_count=complete,
        failed_count=plan.idea_count - complete,
        state=RunState.BUDGET_EXHAUSTED if _over_budget(receipts) else RunState.PUBLISHED,
        started_at=first_started,
        finished_at=finished_at,
        duration_seconds=(finished_at - first_started).total_seconds(),
        assay_version=metadata.version("assay"),
        score_weights=request.profile.score_weights,
    )


def _over_budget(receipts: Iterable[Receipt]) -> bool:
    return any(receipt.incomplete_reason == Reason.BUDGET_EXHAUSTED for receipt in receipts)


def _artifact(summary: RunSummary) -> str:
    run = summary.run
    lines = [
        f"# Run {run.run_id}",
        "",
        f"{run.evaluated_count} of {run.idea_count} ideas evaluated, {run.failed_count} incomplete, {run.rejected_count} rejected; "
        f"profile {run.profile}, engine {run.engine}, literature {run.literature}.",
        "",
        f"Took {run.duration_seconds:.0f} s.",
        "Published."
        if summary.published
        else f"Not published: {'; '.join(summary.failed_expectations)}",
    ]
    return "\n".join(lines)
