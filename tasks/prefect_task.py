"""The Prefect task: the work of one shard, inside a worker."""

from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.shards.work import ShardWork


@task(
    name="work-on-shard",
    task_run_name="{shard_path}",
    retries=0,
    persist_result=False,
    cache_policy=NO_CACHE,
)
def work_on_shard(work: ShardWork[Any], shard_path: str) -> int:
    """Have `work` do the shard file; how many of its units have a receipt now.

    Retries are Dask's, for lost workers; calls retry where they are made.
    """
    return work(shard_path)
