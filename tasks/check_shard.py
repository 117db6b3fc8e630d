"""The Prefect task that checks a shard of manuscripts inside a worker."""

import asyncio
from pathlib import Path

from prefect import task

from schemas.settings import Settings
from tasks.manuscripts.check_shard import check_job
from tasks.manuscripts.job import CheckJob
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.rights import keep_private


@task(name="check-shard", task_run_name="check {shard_path}", retries=0, persist_result=False)
def check_shard(shard_path: str) -> int:
    """Check and land the manuscripts of the shard file; return how many of them have a receipt now."""
    job = CheckJob.model_validate_json(Path(shard_path).read_bytes())
    keep_private(job.request.warehouse)
    settings = Settings()
    with (
        reporting(settings.telemetry, "assay-worker"),
        span(
            "check shard", parent=job.trace_parent, run_id=job.run_id, manuscripts=len(job.sources)
        ),
    ):
        return len(asyncio.run(check_job(job, settings)))
