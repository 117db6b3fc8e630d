"""The Prefect task that ranks a shard of groups inside a worker."""

import asyncio
from pathlib import Path

from prefect import task

from schemas.settings import Settings
from tasks.ranking.job import RankJob
from tasks.ranking.rank_shard import rank_job
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.rights import keep_private


@task(name="rank-shard", task_run_name="rank {shard_path}", retries=0, persist_result=False)
def rank_shard(shard_path: str) -> int:
    """Rank and land the groups of the shard file; return how many of them have a receipt now."""
    job = RankJob.model_validate_json(Path(shard_path).read_bytes())
    keep_private(job.request.warehouse)
    settings = Settings()
    with (
        reporting(settings.telemetry, "assay-worker"),
        span(
            "rank shard", parent=job.trace_parent, run_id=job.request.run_id, groups=len(job.groups)
        ),
    ):
        return len(asyncio.run(rank_job(job, settings)))
