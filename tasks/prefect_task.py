"""The Prefect task: the work of one shard, inside a worker."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.on_worker import work_on
from tasks.shards.work import WorksOnShards


@task(
    name="work-on-shard",
    task_run_name="{name}",
    retries=0,
    persist_result=False,
    cache_policy=NO_CACHE,
)
def work_on_shard(
    work: WorksOnShards,
    content: str,
    name: str,  # noqa: ARG001 -- of the task run
) -> int:
    """See `work_on`. Retries are Dask's, for lost workers; calls retry where they are made."""
    return work_on(work, content)
