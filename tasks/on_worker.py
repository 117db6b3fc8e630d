"""Work on one shard in a worker, counted in its Prometheus metrics.

Separate from the Prefect task, whose module Prefect sends with every task.
"""

from tasks.shards.work import WorksOnShards
from tasks.telemetry.figures import SHARDS, UNITS


def work_on(work: WorksOnShards, content: str) -> int:
    """Run a shard with this JSON content; return the number of units with a receipt."""
    outcome = "failed"
    try:
        count = work(content)
        outcome = "ended"
    finally:
        SHARDS.labels(work.span_name, outcome).inc()
    UNITS.labels(work.span_name).inc(count)
    return count
