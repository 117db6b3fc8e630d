"""One shard on a worker, counted in the figures that it serves.

Apart from the Prefect task, whose module Prefect sends along with every task.
"""

from tasks.shards.work import WorksOnShards
from tasks.telemetry.figures import SHARDS, UNITS


def work_on(work: WorksOnShards, content: str) -> int:
    """Have `work` do the shard with this content, as JSON; how many of its units have a receipt."""
    outcome = "failed"
    try:
        count = work(content)
        outcome = "ended"
    finally:
        SHARDS.labels(work.span_name, outcome).inc()
    UNITS.labels(work.span_name).inc(count)
    return count
