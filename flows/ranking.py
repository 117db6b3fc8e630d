"""Grouped ranking of a published run: groups, pairwise matches, ratings, ranking."""

from datetime import UTC, datetime
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from pydantic import Field

from dashboards.reports.write import write_reports
from flows.dask_runner import dask_runner
from flows.progress import Watched, progress
from flows.rank_plan import RankingPlan, plan_ranking, unranked
from flows.rank_progress import PlayedMatches
from flows.run_lock import only_command_on
from flows.shards import first_incomplete_reason, send_shards
from schemas.base import Noun, replace
from schemas.identifiers import RunId
from schemas.ranking import RankingHead, RankRequest
from schemas.settings import Settings
from tasks.rank_shard import rank_shard
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.layout import Layout
from warehouse.rankings.landing import failed_groups, iterate_group_receipts, land_head, read_head
from warehouse.rankings.publish import publish_ranking


class RankSummary(Noun):
    """What a ranking came to."""

    head: RankingHead
    published: bool
    unchanged: bool
    failed_expectations: tuple[str, ...]
    rejected_votes: tuple[str, ...]
    failed_groups: tuple[str, ...] = Field(
        description="Each with why; the next run of the command tries them again."
    )
    report_paths: tuple[Path, ...]


@flow(
    name="rank-run",
    flow_run_name="rank {request.run_id}",
    task_runner=dask_runner(2, None),
    validate_parameters=False,
)
def rank_run(request: RankRequest) -> RankSummary:
    """Group the ideas of a run, play their matches, rate, land, validate, publish and report.

    Running it again with the same request goes on where the last one stopped, or changes nothing.

    Raises:
        ConfigurationError: the request cannot be met: no such run, model or votes.
        PublicationError: the run was evaluated again meanwhile.
    """
    settings, layout = Settings(), Layout(request.warehouse)
    with (
        reporting(settings.telemetry, "assay-run"),
        span("ranking", run_id=request.run_id, engine=request.engine.text),
        only_command_on(layout, request.run_id),
    ):
        plan = plan_ranking(request, settings, layout)
        if plan.shard_paths:
            with progress(_watched(plan, layout)):
                send_shards(rank_shard, plan.shard_paths, lambda: unranked(plan, layout))
        summary = _publish(plan, layout, settings)
    create_markdown_artifact(
        markdown=_artifact(summary),
        key="rank-run-summary",
        description=f"Ranking {summary.head.ranking_id}",
    )
    return summary


def run_ranking(request: RankRequest) -> RankSummary:
    """`rank_run` on the workers the request names."""
    runner = dask_runner(request.workers, request.scheduler_address)
    return rank_run.with_options(task_runner=runner)(request)


def _publish(plan: RankingPlan, layout: Layout, settings: Settings) -> RankSummary:
    head = _ended(plan, layout)
    if head != read_head(layout, head.run_id, head.ranking_id):
        land_head(layout, head)
    publication = publish_ranking(layout, head, catalogue_url=settings.catalogue)
    return RankSummary(
        head=head,
        published=publication.published,
        unchanged=publication.unchanged,
        failed_expectations=publication.failed_expectations,
        rejected_votes=tuple(f"{vote.location}: {vote.detail}" for vote in plan.rejected_votes),
        failed_groups=tuple(
            f"{failed.group}: {failed.ended_because}"
            for failed in failed_groups(layout, head.run_id, head.ranking_id)
        ),
        report_paths=_reports(layout, head.run_id, settings, changed=not publication.unchanged)
        if publication.published
        else (),
    )


def _reports(
    layout: Layout, run_id: RunId, settings: Settings, *, changed: bool
) -> tuple[Path, ...]:
    written = tuple(layout.reports / run_id / name for name in ("index.html", "index.md"))
    if changed or not all(path.exists() for path in written):
        return write_reports(layout, run_id, catalogue_url=settings.catalogue)
    return written


def _ended(plan: RankingPlan, layout: Layout) -> RankingHead:
    """The head as its groups' receipts tell: a group whose worker was lost for good is missing, and said to be."""
    receipts = {
        receipt.group: receipt
        for receipt in iterate_group_receipts(layout, plan.head.run_id, plan.head.ranking_id)
    }
    finished_at = datetime.now(UTC) if plan.shard_paths else plan.head.finished_at
    return replace(
        plan.head,
        incomplete_reason=first_incomplete_reason(plan.most_matches, receipts),
        finished_at=finished_at,
    )


def _watched(plan: RankingPlan, layout: Layout) -> Watched:
    played = PlayedMatches(layout, plan.head, plan.most_matches)
    return Watched(
        done=played.done,
        total=played.total,
        beside=played.groups,
        verb="played",
        nouns="matches",
        artifact_key="rank-run-progress",
        description=f"Matches played in {plan.head.ranking_id}",
    )


def _artifact(summary: RankSummary) -> str:
    head = summary.head
    ended = (
        f" It ended early: {head.incomplete_reason.replace('_', ' ')}."
        if head.incomplete_reason
        else ""
    )
    lines = [
        f"# Ranking {head.ranking_id} of run {head.run_id}",
        "",
        f"{head.idea_count} ideas in {head.group_count} groups; engine {head.engine}, profile {head.profile}.{ended}",
        "",
        *(f"Group not ranked: {line}\n" for line in summary.failed_groups),
        "Published."
        if summary.published
        else f"Not published: {'; '.join(summary.failed_expectations)}",
    ]
    return "\n".join(lines)
