"""Check of manuscripts: critical problems, votes of judges, landed, validated, published, reported."""

from datetime import UTC, datetime
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from dashboards.reports.write_check import write_check_report
from flows.check_plan import CheckPlan, check_run_id, plan_check, unchecked
from flows.dask_runner import dask_runner
from flows.progress import Watched, progress
from flows.run_lock import only_command_on
from flows.shards import count_landed, first_incomplete_reason, send_shards
from schemas.base import Noun, replace
from schemas.check_run import CheckHead, CheckRequest
from schemas.settings import Settings
from tasks.check_shard import check_shard
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.layout import Layout
from warehouse.manuscripts.landing import iterate_check_receipts, land_check_head, read_check_head
from warehouse.manuscripts.publish import publish_check


class CheckSummary(Noun):
    """What a check came to."""

    head: CheckHead
    published: bool
    unchanged: bool
    failed_expectations: tuple[str, ...]
    report_paths: tuple[Path, ...]


@flow(
    name="check-manuscripts",
    flow_run_name="check {request.engine}",
    task_runner=dask_runner(2, None),
    validate_parameters=False,
)
def check_manuscripts(request: CheckRequest) -> CheckSummary:
    """Check the manuscripts, land, validate, publish and report.

    Running it again with the same request goes on where the last one stopped, or changes nothing.

    Raises:
        ConfigurationError: the request cannot be met: no such model, no key.
    """
    settings, layout, run_id = Settings(), Layout(request.warehouse), check_run_id(request)
    with (
        reporting(settings.telemetry, "assay-run"),
        span("check", run_id=run_id, engine=request.engine.text),
        only_command_on(layout, run_id),
    ):
        plan = plan_check(request, layout)
        if plan.shard_paths:
            with progress(_watched(plan, layout)):
                send_shards(check_shard, plan.shard_paths, lambda: unchecked(plan, layout))
        summary = _publish(plan, layout, settings)
    create_markdown_artifact(
        markdown=_artifact(summary), key="check-summary", description=f"Check {summary.head.run_id}"
    )
    return summary


def run_check(request: CheckRequest) -> CheckSummary:
    """`check_manuscripts` on the workers the request names."""
    runner = dask_runner(request.workers, request.scheduler_address)
    return check_manuscripts.with_options(task_runner=runner)(request)


def _publish(plan: CheckPlan, layout: Layout, settings: Settings) -> CheckSummary:
    head = _ended(plan, layout)
    if head != read_check_head(layout, head.run_id):
        land_check_head(layout, head)
    publication = publish_check(layout, head, catalogue_url=settings.catalogue)
    reports = (
        write_check_report(layout, head.run_id, catalogue_url=settings.catalogue)
        if publication.published
        else ()
    )
    return CheckSummary(
        head=head,
        published=publication.published,
        unchanged=publication.unchanged,
        failed_expectations=publication.failed_expectations,
        report_paths=reports,
    )


def _ended(plan: CheckPlan, layout: Layout) -> CheckHead:
    """The head as the receipts tell: a manuscript whose worker was lost for good is missing, and said to be."""
    receipts = {
        receipt.part: receipt for receipt in iterate_check_receipts(layout, plan.head.run_id)
    }
    finished_at = datetime.now(UTC) if plan.shard_paths else plan.head.finished_at
    return replace(
        plan.head,
        incomplete_reason=first_incomplete_reason(plan.manuscript_ids, receipts),
        finished_at=finished_at,
    )


def _watched(plan: CheckPlan, layout: Layout) -> Watched:
    folder = layout.check(plan.head.run_id)
    return Watched(
        done=lambda: count_landed(folder, "part="),
        total=lambda: plan.head.manuscript_count,
        verb="checked",
        nouns="manuscripts",
        artifact_key="check-progress",
        description=f"Manuscripts checked in {plan.head.run_id}",
    )


def _artifact(summary: CheckSummary) -> str:
    head = summary.head
    ended = (
        f" It ended early: {head.incomplete_reason.replace('_', ' ')}."
        if head.incomplete_reason
        else ""
    )
    lines = [
        f"# Check {head.run_id}",
        "",
        f"{head.manuscript_count} manuscripts; engine {head.engine}; judges: {', '.join(head.judges) or 'none'}.{ended}",
        "",
        "Published."
        if summary.published
        else f"Not published: {'; '.join(summary.failed_expectations)}",
    ]
    return "\n".join(lines)
