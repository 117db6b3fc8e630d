"""Experiments on the tasks of a shard; each lands as it ends.

A task that landed whole is not experimented on again.
"""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemas.base import replace
from schemas.boundary import ErrorBoundary
from schemas.errors import AssayError, ConfigurationError
from schemas.experiment import Experiment
from schemas.experiment_run import ExperimentReceipt, ExperimentRequest, TaskSource
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import run_experiment, unmeasured
from tasks.experiments.model_proposer import ModelProposer
from tasks.experiments.proposing import Proposer, TunableProposer
from tasks.experiments.sandbox import check_sandbox, environment
from tasks.experiments.task_folder import TaskFolder, read_task
from tasks.judging.opening import EngineOf, open_engines, traced
from tasks.shards.work import Shard, cause_of, each_unit
from warehouse.experiments import EXPERIMENT_RECORD, EXPERIMENTS
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout
from warehouse.units.landing import complete_receipt
from warehouse.units.record import land_unit

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

    async def at_least_a_reason(self, folder: TaskFolder, ledger: Ledger) -> Experiment:
        """Of a task over which Assay itself failed, an experiment that says so."""
        container = self.job.request.container
        executor = Executor(folder, self.job.run_id, self.store, self.slots, container)
        boundary = ErrorBoundary()
        with boundary:
            return await run_experiment(folder, executor, self.proposer(executor, ledger))
        assert boundary.error is not None
        if isinstance(boundary.error, AssayError | OSError):
            raise boundary.error
        cause = cause_of(boundary.error, f"the experiment on {folder.name!r}")
        return unmeasured(executor, Reason.WORKER_LOST, cause.text)

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
        ledger = Ledger(IdeaId(source.task_id))
        experiment = await self.at_least_a_reason(folder, ledger)
        return land_unit(
            self.layout,
            EXPERIMENT_RECORD,
            run_id,
            replace(experiment, llm_calls=tuple(ledger.llm_calls)),
            started_at,
            datetime.now(UTC),
        )


async def experiment_job(job: ExperimentJob, settings: Settings) -> tuple[ExperimentReceipt, ...]:
    """Experiment on and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`, and where the worker can make no sandbox.
    """
    request, layout = job.request, Layout(job.request.warehouse)
    check_sandbox(request.container)
    async with AsyncExitStack() as stack:
        budget = SharedBudget(layout.state / "budgets.sqlite", job.run_id, request.budget)
        stack.callback(budget.close)
        embedder = SentenceEmbedder(
            settings.embeddings, KeyedStore(layout.cache / "embeddings.sqlite")
        )
        resources = _Resources(
            job=job,
            layout=layout,
            store=KeyedStore(layout.cache / EXECUTIONS),
            slots=asyncio.Semaphore(len(os.sched_getaffinity(0))),
            engine_of=open_engines(
                request.engine,
                request.profile,
                settings,
                layout,
                api_base=request.api_base,
                embedder=embedder,
                budget=budget,
                stack=stack,
            ),
        )
        tasks_at_once = 1 if request.engine.is_baseline else TASKS_IN_FLIGHT
        return tuple(await each_unit(job.tasks, tasks_at_once, resources.landed))
