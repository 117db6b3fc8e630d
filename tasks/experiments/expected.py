"""What experiments will run at most, and what a model that proposes programs will be asked."""

import math

from schemas.settings import Settings
from schemas.works.experiment import Stage
from schemas.works.experiment_run import ExperimentRequest
from tasks.experiments.experiment import SIDE_BY_SIDE, compared_count
from tasks.experiments.showing import MOST_TRIES
from tasks.experiments.steps.learn_from_runs import LEARN_FROM_RUNS
from tasks.experiments.steps.propose_program import PROPOSE_PROGRAM
from tasks.experiments.task_folder import PARENT, TaskFolder, read_task
from tasks.judging.expected import CHARACTERS_PER_TOKEN, Asked, together
from tasks.work.declaration import Expected

TOKENS_PER_TRY = 90
TOKENS_PER_LESSON = 50
TOKENS_PER_PATCH = 600
GROWTH = 1.5
"""Programs that are proposed later are longer than the one that was given."""
SHARE_SHOWN_ANOTHER = 0.25
"""Of proposals, those that combine two programs."""


def expected_experiments(request: ExperimentRequest, _: Settings) -> Expected:
    """Predict a run of which nothing has landed yet; nothing is run or asked.

    Repeated candidates and failures take less.

    Raises:
        ConfigurationError: as `read_task`.
    """
    folders = [read_task(source.folder) for source in request.units]
    executions = {stage: sum(executions_of(folder)[stage] for folder in folders) for stage in Stage}
    seconds = sum(
        sum(executions_of(folder).values()) * folder.task.limits.seconds for folder in folders
    )
    return Expected(
        asked=together(
            {PROPOSE_PROGRAM: _proposals(folder), LEARN_FROM_RUNS: _lessons(folder)}
            for folder in folders
        ),
        counts={
            "tasks": len(folders),
            **{f"{stage}_executions": count for stage, count in executions.items()},
            "executions": sum(executions.values()),
            "limit_seconds": math.ceil(seconds),
        },
        note="nothing was run; executions are the most there may be, and their limits bound the"
        " seconds",
    )


def executions_of(folder: TaskFolder) -> dict[Stage, int]:
    """The most that each stage of a task runs: programs, the parent among them, and replicates."""
    trials, baselines = folder.task.trials, len(folder.programs) - 1
    return {
        Stage.SCREENING: (1 + trials.candidates) * trials.screening,
        Stage.SELECTION: (1 + compared_count(trials.candidates)) * trials.selection,
        Stage.CONFIRMATION: (2 + baselines) * trials.confirmation,
        Stage.PERMUTED: trials.selection if folder.can_permute else 0,
    }


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
