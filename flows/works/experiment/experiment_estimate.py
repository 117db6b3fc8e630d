"""What an experiment will run at most, and what a model that proposes programs will be asked."""

import math
from typing import Any

from pydantic import Field

from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from schemas.settings import Settings
from schemas.works.experiment_run import ExperimentRequest
from tasks.experiments.expected import ExpectedStage, expected_experiments
from tasks.experiments.experiment import SIDE_BY_SIDE
from tasks.experiments.showing import MOST_TRIES
from tasks.experiments.steps.learn_from_runs import LEARN_FROM_RUNS
from tasks.experiments.steps.propose_program import PROPOSE_PROGRAM
from tasks.experiments.task_folder import PARENT, TaskFolder, read_task
from tasks.judging.expected import CHARACTERS_PER_TOKEN, Asked, StepEstimate
from tasks.judging.step import Step

TOKENS_PER_TRY = 90
TOKENS_PER_LESSON = 50
TOKENS_PER_PATCH = 600
GROWTH = 1.5
"""Programs that are proposed later are longer than the one that was given."""
SHARE_SHOWN_ANOTHER = 0.25
"""Of proposals, those that combine two programs."""


class ExperimentEstimate(WorkEstimate):
    """What a whole run is expected to take; `steps` of all tasks together."""

    stages: tuple[ExpectedStage, ...]
    executions: int = Field(ge=0, description="At most.")
    limit_seconds: float = Field(ge=0, description="Where every one of them took all its time.")


def estimate_experiment(request: ExperimentRequest, settings: Settings) -> ExperimentEstimate:
    """Predict a run of which nothing has landed yet; nothing is run or asked.

    Raises:
        ConfigurationError: as `read_task`.
    """
    folders = [read_task(source.folder) for source in request.tasks]
    stages = expected_experiments(source.folder for source in request.tasks)
    steps = _steps(folders, request, settings)
    return ExperimentEstimate.of(
        steps,
        stages=stages,
        executions=sum(stage.executions for stage in stages),
        limit_seconds=sum(stage.limit_seconds for stage in stages),
    )


def _steps(
    folders: list[TaskFolder], request: ExperimentRequest, settings: Settings
) -> list[StepEstimate]:
    asked: dict[Step[Any, Any], Asked] = {
        PROPOSE_PROGRAM: _sum([_proposals(folder) for folder in folders]),
        LEARN_FROM_RUNS: _sum([_lessons(folder) for folder in folders]),
    }
    return estimate_steps(asked, request.profile.judging, request.engine, settings)


def _proposals(folder: TaskFolder) -> Asked:
    calls = folder.task.trials.candidates
    program = GROWTH * len(folder.programs[PARENT]) / CHARACTERS_PER_TOKEN
    idea = len(folder.idea.model_dump_json()) / CHARACTERS_PER_TOKEN if folder.idea else 0.0
    tries = sum(min(number, MOST_TRIES) for number in range(calls)) * TOKENS_PER_TRY
    shown = calls * (program * (1 + SHARE_SHOWN_ANOTHER) + idea)
    return Asked(calls, shown + tries, calls * (TOKENS_PER_PATCH + program / 2))


def _lessons(folder: TaskFolder) -> Asked:
    """After every round but the last; half of what is tried is no better."""
    rounds = math.ceil(folder.task.trials.candidates / SIDE_BY_SIDE) - 1
    attempts = rounds * SIDE_BY_SIDE / 2
    shown = attempts * (TOKENS_PER_PATCH + TOKENS_PER_TRY)
    return Asked(rounds, shown, attempts * TOKENS_PER_LESSON)


def _sum(asked: list[Asked]) -> Asked:
    return Asked(
        sum(each.calls for each in asked),
        sum(each.data_tokens for each in asked),
        sum(each.answer_tokens for each in asked),
    )
