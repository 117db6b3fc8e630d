"""Experiments on the tasks of a shard; each lands as it ends.

A task that landed whole is not experimented on again.
"""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.works.experiment import Experiment
from schemas.works.experiment_run import ExperimentRequest, TaskSource
from tasks.accounting.ledger import Ledger
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import run_experiment, unmeasured
from tasks.experiments.model_proposer import ModelProposer
from tasks.experiments.proposing import Proposer, TunableProposer
from tasks.experiments.sandbox.sandbox import check_sandbox, environment
from tasks.experiments.task_folder import read_task
from tasks.judging.opening import EngineOf, open_judging, traced
from tasks.shards.work import Shard, each_unit, land_once, or_failure
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore

EXECUTIONS = "executions.sqlite"
TASKS_IN_FLIGHT = 4
"""Where a model is asked: tasks of which some wait for it leave the processors to others."""


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

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(source.folder for source in self.tasks)


@dataclass(frozen=True, slots=True)
class _Resources:
    """Shared by the tasks of one shard; lives in one event loop."""

    job: ExperimentJob
    layout: Layout
    store: KeyedStore
    slots: asyncio.Semaphore
    engine_of: EngineOf

    def proposer(self, executor: Executor, ledger: Ledger) -> Proposer:
        """Who proposes programs of one task; what is asked of a model is booked in the ledger."""
        request = self.job.request
        if request.engine.is_baseline:
            return TunableProposer(executor.folder, request.seed)
        engine = traced(self.engine_of(ledger))
        return ModelProposer(engine, executor, environment(request.container))

    async def experiment(self, source: TaskSource) -> Experiment:
        """What came of one task; a failure of Assay's own ends it, with a reason."""
        unit = EXPERIMENTS.unit_path(self.layout, self.job.run_id, source.task_id)
        folder, ledger = read_task(source.folder), Ledger(IdeaId(source.task_id), unit)
        if folder.content_sha256 != source.content_sha256:
            raise ConfigurationError(
                f"{source.folder} was changed while it was worked on: run the command again"
            )
        container = self.job.request.container
        executor = Executor(folder, self.job.run_id, self.store, self.slots, container)
        experiment = await or_failure(
            run_experiment(folder, executor, self.proposer(executor, ledger)),
            f"the experiment on {folder.name!r}",
            lambda cause: unmeasured(executor, *cause),
        )
        return replace(experiment, llm_calls=tuple(ledger.llm_calls))

    async def landed(self, source: TaskSource) -> UnitReceipt:
        """The receipt of one task, which is experimented on unless it landed whole."""
        return await land_once(
            self.layout,
            EXPERIMENTS,
            self.job.run_id,
            source.task_id,
            lambda: self.experiment(source),
        )


async def experiment_job(job: ExperimentJob, settings: Settings) -> tuple[UnitReceipt, ...]:
    """Experiment on and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`, and where the worker can make no sandbox.
    """
    request, layout = job.request, Layout(job.request.warehouse)
    check_sandbox(request.container)
    async with AsyncExitStack() as stack:
        judging = open_judging(request, settings, layout, job.run_id, stack)
        resources = _Resources(
            job=job,
            layout=layout,
            store=KeyedStore(layout.cache / EXECUTIONS),
            slots=asyncio.Semaphore(len(os.sched_getaffinity(0))),
            engine_of=judging.engine_of,
        )
        tasks_at_once = 1 if request.engine.is_baseline else TASKS_IN_FLIGHT
        return tuple(await each_unit(job.tasks, tasks_at_once, resources.landed))
