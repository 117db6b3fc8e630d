"""The Prefect task that works on a shard of ideas inside a worker."""

from prefect import task

from tasks.evaluation.job import ShardJob
from tasks.evaluation.shard_resources import evaluate_job
from tasks.shards.work import run_shard


@task(name="evaluate-shard", task_run_name="evaluate {shard_path}", retries=0, persist_result=False)
def evaluate_shard(shard_path: str) -> int:
    """Evaluate and land the ideas of the shard file; return how many of them have a receipt now.

    Retries are Dask's, for lost workers; calls retry where they are made.
    """
    return run_shard(shard_path, ShardJob, evaluate_job, "shard", "ideas")
