"""Experiments on the tasks of a shard; each lands as it ends.

A task that landed whole is not experimented on again.
"""

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemas.boundary import ErrorBoundary
from schemas.errors import AssayError, ConfigurationError
from schemas.experiment import Experiment
from schemas.experiment_run import ExperimentReceipt, ExperimentRequest, TaskSource
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import run_experiment, unmeasured
from tasks.experiments.sandbox import check_sandbox
from tasks.experiments.task_folder import TaskFolder, read_task
from tasks.shards.work import Shard, cause_of, each_unit
from warehouse.experiments.landing import EXPERIMENTS, land_experiment
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout
from warehouse.units.landing import complete_receipt

EXECUTIONS = "executions.sqlite"


class ExperimentJob(Shard):
    """Some tasks of one run, for one worker."""

    request: ExperimentRequest
    tasks: tuple[TaskSource, ...]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(source.task_id for source in self.tasks)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse


@dataclass(frozen=True, slots=True)
class _Resources:
    """Shared by the tasks of one shard; lives in one event loop."""

    job: ExperimentJob
    layout: Layout
    store: KeyedStore
    slots: asyncio.Semaphore

    async def at_least_a_reason(self, folder: TaskFolder) -> Experiment:
        """Of a task over which Assay itself failed, an experiment that says so."""
        executor = Executor(folder, self.job.run_id, self.store, self.slots)
        boundary = ErrorBoundary()
        with boundary:
            return await run_experiment(folder, executor, self.job.request.seed)
        assert boundary.error is not None
        if isinstance(boundary.error, AssayError | OSError):
            raise boundary.error
        cause = cause_of(boundary.error, f"the experiment on {folder.name!r}")
        return unmeasured(folder, Reason.WORKER_LOST, cause.text)

    async def landed(self, source: TaskSource) -> ExperimentReceipt:
        """The receipt of one task, which is experimented on unless it landed whole."""
        run_id = self.job.run_id
        done = complete_receipt(self.layout, EXPERIMENTS, run_id, source.task_id)
        if done is not None:
            return done
        started_at, folder = datetime.now(UTC), read_task(source.folder)
        if folder.content_sha256 != source.content_sha256:
            raise ConfigurationError(
                f"{source.folder} was changed while it was worked on: run the command again"
            )
        experiment = await self.at_least_a_reason(folder)
        return land_experiment(self.layout, run_id, experiment, started_at, datetime.now(UTC))


async def experiment_job(job: ExperimentJob, settings: Settings) -> tuple[ExperimentReceipt, ...]:
    """Experiment on and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`, and where the worker can make no sandbox.
    """
    del settings
    check_sandbox()
    layout = Layout(job.request.warehouse)
    resources = _Resources(
        job=job,
        layout=layout,
        store=KeyedStore(layout.cache / EXECUTIONS),
        slots=asyncio.Semaphore(len(os.sched_getaffinity(0))),
    )
    return tuple(await each_unit(job.tasks, 1, resources.landed))
