"""The Prefect task that works on a shard of groups inside a worker."""

from prefect import task

from tasks.ranking.job import RankJob
from tasks.ranking.rank_shard import rank_job
from tasks.shards.work import run_shard


@task(name="rank-shard", task_run_name="rank {shard_path}", retries=0, persist_result=False)
def rank_shard(shard_path: str) -> int:
    """Rank and land the groups of the shard file; return how many of them have a receipt now."""
    return run_shard(shard_path, RankJob, rank_job, "rank shard", "groups")
