"""The Prefect task that works on a shard of manuscripts inside a worker."""

from prefect import task

from tasks.manuscripts.check_shard import check_job
from tasks.manuscripts.job import CheckJob
from tasks.shards.work import run_shard


@task(name="check-shard", task_run_name="check {shard_path}", retries=0, persist_result=False)
def check_shard(shard_path: str) -> int:
    """Check and land the manuscripts of the shard file; return how many have a receipt now."""
    return run_shard(shard_path, CheckJob, check_job, "check shard", "manuscripts")
