"""The Prefect task that evaluates a shard of ideas inside a worker."""

import asyncio
from pathlib import Path

from prefect import task

from schemas.settings import Settings
from tasks.evaluation.job import ShardJob
from tasks.evaluation.shard_resources import evaluate_job
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.rights import keep_private


@task(name="evaluate-shard", task_run_name="evaluate {shard_path}", retries=0, persist_result=False)
def evaluate_shard(shard_path: str) -> int:
    """Evaluate and land the ideas of the shard file; return how many of them have a receipt now.

    Retries are Dask's, for lost workers; calls retry where they are made.
    """
    job = ShardJob.model_validate_json(Path(shard_path).read_bytes())
    keep_private(job.request.warehouse)
    settings = Settings()
    with (
        reporting(settings.telemetry, "assay-worker"),
        span("shard", parent=job.trace_parent, run_id=job.run_id, ideas=len(job.ideas)),
    ):
        return len(asyncio.run(evaluate_job(job, settings)))
