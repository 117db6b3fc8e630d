"""One shard on a worker: beside the command's files, or where nothing but a network joins the two.

Apart from the Prefect task, whose module Prefect sends along with every task.
"""

import ssl
from typing import Any

from distributed import Worker, get_worker

from schemas.settings import Settings
from tasks.shards.elsewhere import brought
from tasks.shards.work import ShardWork
from tasks.telemetry.figures import SHARDS, UNITS
from tasks.web.owner import Reach, RemoteOwner
from warehouse.layout import Layout
from warehouse.owner import asking
from warehouse.units.landing import hand_over


def work_on(work: ShardWork[Any], content: str, reach: Reach | None) -> int:
    """Have `work` do the shard; how many of its units have a receipt now.

    Args:
        content: of the shard, as JSON.
        reach: where the command is asked for what its workers share; None: they are its own
            processes, and look into its files.
    """
    outcome = "failed"
    try:
        count = _worked_on(work, content, reach)
        outcome = "ended"
    finally:
        SHARDS.labels(work.span_name, outcome).inc()
    UNITS.labels(work.span_name).inc(count)
    return count


def _worked_on(work: ShardWork[Any], content: str, reach: Reach | None) -> int:
    shard = work.kind.model_validate_json(content)
    if reach is None:
        return work.on(shard)
    with RemoteOwner(reach, tls_of(get_worker())) as owner, asking(owner):
        if owner.has_landing:
            layout = own_folder(Settings())
            hand_over(layout, owner, layout.landing / reach.folder)
            shard = brought(shard, owner, layout)
        return work.on(shard)


def own_folder(settings: Settings) -> Layout:
    """Where a worker keeps caches and logs that does not see the command's folder."""
    return Layout((settings.home / "worker").resolve())


def tls_of(worker: Worker) -> ssl.SSLContext | None:
    """A worker's certificates, for what it asks of the command; None: the cluster has none."""
    context = worker.security.get_connection_args("worker")["ssl_context"]
    assert context is None or isinstance(context, ssl.SSLContext)
    return context
