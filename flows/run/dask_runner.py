"""Where shards run: a local Dask cluster of worker processes, or an existing scheduler."""

import logging
import os

import dask
from prefect_dask import DaskTaskRunner

from flows.run import worker_start

# Loading a shard's models costs seconds, so a worker is given several deaths before its shard is
# given up;
# the shard itself sets aside the idea at fault (tasks/evaluation/attempts.py).
ALLOWED_WORKER_DEATHS = 12
# On a busy machine a worker takes minutes to come back. Dask gives up on it after 15 seconds, and
# shards of which no worker is left would wait for ever.
LOST_WORKER_TIMEOUT = "10 minutes"
NO_WORKERS_TIMEOUT = "15 minutes"
LOOPBACK = "127.0.0.1"


def dask_runner(workers: int, scheduler_address: str | None) -> DaskTaskRunner:
    """A task runner on `workers` local processes of one thread each, or on the scheduler at
    `scheduler_address`.

    Local processes listen on loopback only, Dask's HTTP servers too: Dask asks nobody for a
    password.
    """
    if scheduler_address:
        return DaskTaskRunner(address=scheduler_address)
    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": ALLOWED_WORKER_DEATHS,
            "distributed.scheduler.no-workers-timeout": NO_WORKERS_TIMEOUT,
            "distributed.deploy.lost-worker-timeout": LOST_WORKER_TIMEOUT,
        }
    )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    return DaskTaskRunner(
        cluster_kwargs={
            "n_workers": workers,
            "threads_per_worker": 1,
            "processes": True,
            "host": LOOPBACK,
            "dashboard_address": f"{LOOPBACK}:0",
            "security": True,
            "silence_logs": logging.CRITICAL,
            "preload": [worker_start.__name__],
        }
    )
