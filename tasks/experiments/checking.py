"""Check of a task before an experiment: its programs, noise and detectable differences."""

import asyncio
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.interpreter import processor_count
from schemas.works.experiment import Container, Execution, Stage
from tasks.experiments.executing import EvaluatorError, Executor
from tasks.experiments.record import interval
from tasks.experiments.sandbox import check_sandbox
from tasks.experiments.task_folder import TaskFolder, read_task
from tasks.metrics.estimate import detectable
from warehouse.stores.keyed_store import KeyedStore


class CheckedProgram(Noun):
    """Results of one of the task's own programs on full data."""

    program_id: str
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    run_count: int = Field(ge=0)
    seconds: float = Field(ge=0, description="Longest run, by the clock.")
    failure: str = Field(description="What the first run without a score said; empty: none.")


class CheckedTask(Noun):
    """Results of the check of a task."""

    task_id: str
    metric: str
    least_difference: float
    programs: tuple[CheckedProgram, ...]
    noise: float | None = Field(
        description="Standard deviation of the gain of a baseline over the parent in one run, over"
        " all baselines; without a baseline that of the parent between two seeds on the same data."
        " None: a program fails, or nothing varies."
    )
    detectable_when_chosen: float | None = Field(
        description="Gain seen four times of five among all candidates."
    )
    detectable_when_confirmed: float | None = Field(
        description="Gain seen four times of five on fresh data."
    )

    @property
    def is_sound(self) -> bool:
        """Return whether every program gave a score in every run."""
        return all(each.mean is not None for each in self.programs)


def check_task(path: Path, container: Container | None = None) -> CheckedTask:
    """Run the parent and the baselines on selection data, a lone parent twice.

    Args:
        container: the sandbox; None for bubblewrap.

    Raises:
        ConfigurationError: the task is invalid, `evaluate.py` fails, or there is no sandbox.
    """
    folder = read_task(path)
    check_sandbox(container)
    with tempfile.TemporaryDirectory(prefix="assay-") as scratch:
        store = KeyedStore(Path(scratch) / "executions.sqlite")
        try:
            executions = asyncio.run(_executions(folder, store, container))
        except* EvaluatorError as errors:
            raise ConfigurationError(f"{path}: {errors.exceptions[0]}") from errors
    trials = folder.task.trials
    count = trials.selection
    by_program = {
        name: [each for each in executions if each.program_id == name] for name in folder.programs
    }
    noise = _noise([[each.value for each in runs] for runs in by_program.values()], count)
    return CheckedTask(
        task_id=folder.name,
        metric=folder.task.metric,
        least_difference=folder.task.least_difference,
        programs=tuple(_program(name, runs[:count]) for name, runs in by_program.items()),
        noise=noise,
        detectable_when_chosen=noise and noise * detectable(count, trials.candidates),
        detectable_when_confirmed=noise and noise * detectable(trials.confirmation, 1),
    )


async def _executions(
    folder: TaskFolder, store: KeyedStore, container: Container | None
) -> list[Execution]:
    slots = asyncio.Semaphore(processor_count())
    executor = Executor(folder, "check", store, slots, container)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(executor.execute(name, source, Stage.SELECTION, replicate, again))
            for name, source in folder.programs.items()
            for again in ((0, 1) if len(folder.programs) == 1 else (0,))
            for replicate in range(folder.task.trials.selection)
        ]
    return [task.result() for task in tasks]


def _noise(values: Sequence[Sequence[float | None]], count: int) -> float | None:
    """Return the deviation of one paired gain; `values` by program, parent first, by run."""
    if any(value is None for values_of_program in values for value in values_of_program):
        return None
    runs = [np.array(values_of_program, dtype=np.float64) for values_of_program in values]
    pairs = [other - runs[0] for other in runs[1:]] or [runs[0][count:] - runs[0][:count]]
    # Constant programs say nothing about the variation of a candidate's gain.
    return math.sqrt(float(np.mean([np.var(pair, ddof=1) for pair in pairs]))) or None


def _program(name: str, executions: list[Execution]) -> CheckedProgram:
    values = [each.value for each in executions if each.value is not None]
    mean = interval(values) if len(values) == len(executions) else None
    return CheckedProgram(
        program_id=name,
        mean=mean.mean if mean else None,
        mean_low=mean.low if mean else None,
        mean_high=mean.high if mean else None,
        run_count=len(executions),
        seconds=max(each.wall_seconds for each in executions),
        failure=next((each.unscored_detail for each in executions if each.value is None), ""),
    )
