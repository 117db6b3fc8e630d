"""How much an experiment will run, before it does."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.works.experiment import Stage
from tasks.experiments.experiment import compared_count
from tasks.experiments.task_folder import TaskFolder, read_task


class ExpectedStage(Noun):
    """The most that one stage of one task runs; repeated candidates and failures take less."""

    task_id: str
    stage: Stage
    programs: int = Field(ge=0, description="The parent among them.")
    replicates: int = Field(ge=0)
    executions: int = Field(ge=0)
    limit_seconds: float = Field(ge=0, description="Where every one of them took all its time.")


def expected_experiments(folders: Iterable[Path]) -> tuple[ExpectedStage, ...]:
    """Every stage of each task. Raises ConfigurationError as `read_task`."""
    return tuple(stage for folder in folders for stage in _stages(read_task(folder)))


def _stages(folder: TaskFolder) -> list[ExpectedStage]:
    trials, baselines = folder.task.trials, len(folder.programs) - 1
    planned = [
        (Stage.SCREENING, 1 + trials.candidates, trials.screening),
        (Stage.SELECTION, 1 + compared_count(trials.candidates), trials.selection),
        (Stage.CONFIRMATION, 2 + baselines, trials.confirmation),
        (Stage.PERMUTED, 1 if folder.can_permute else 0, trials.selection),
    ]
    return [
        ExpectedStage(
            task_id=folder.name,
            stage=stage,
            programs=programs,
            replicates=replicates,
            executions=programs * replicates,
            limit_seconds=programs * replicates * folder.task.limits.seconds,
        )
        for stage, programs, replicates in planned
        if programs
    ]
