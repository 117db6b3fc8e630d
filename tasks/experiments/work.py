"""Declaration of experiments, and their expected executions and calls."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.settings import ExperimentSettings, Settings
from schemas.works.experiment import Experiment, Stage
from schemas.works.experiment_run import (
    EXPERIMENTS,
    ExperimentHead,
    ExperimentJob,
    ExperimentOptions,
    ExperimentParameters,
    ExperimentRequest,
    TaskSource,
)
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import (
    SIDE_BY_SIDE,
    compared_count,
    failed_experiment,
    run_experiment,
)
from tasks.experiments.model_proposer import MOST_TRIES, ModelProposer
from tasks.experiments.program import tunables_of
from tasks.experiments.proposing import METHOD_VERSION, Proposer, TunableProposer
from tasks.experiments.sandbox import check_sandbox, environment
from tasks.experiments.steps import LEARN_FROM_RUNS, PROPOSE_PROGRAM, STEPS
from tasks.experiments.task_folder import (
    BASELINES,
    DATA,
    EVALUATE,
    PARENT,
    PROGRAM,
    TASK,
    TaskFolder,
    read_task,
)
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls, add_calls
from tasks.judging.step import Step
from tasks.shards.work import Cause
from tasks.work.declaration import Common, Expected, Result, Work
from tasks.work.tools import Tools
from warehouse.layout import Layout
from warehouse.parquet import write_bytes
from warehouse.stores.keyed_store import KeyedStore

TOKENS_PER_TRY = 90
TOKENS_PER_LESSON = 50
TOKENS_PER_PATCH = 600
GROWTH = 1.5
"""Ratio of the length of later proposals to that of the given program."""
SHARE_SHOWN_ANOTHER = 0.25
"""Share of proposals that combine two programs."""


def _expected(request: ExperimentRequest, _: Settings) -> Expected:
    """Estimate a run without running anything; repeated candidates and failures cost less."""
    folders = [read_task(source.folder) for source in request.units]
    executions = {stage: sum(executions_of(folder)[stage] for folder in folders) for stage in Stage}
    seconds = sum(
        sum(executions_of(folder).values()) * folder.task.limits.seconds for folder in folders
    )
    return Expected(
        per_step=add_calls(map(_expected_calls, folders)),
        counts={
            "tasks": len(folders),
            **{f"{stage}_executions": count for stage, count in executions.items()},
            "executions": sum(executions.values()),
            "limit_seconds": math.ceil(seconds),
        },
        note="nothing was run; executions are an upper bound, and their limits bound the seconds",
    )


def executions_of(folder: TaskFolder) -> dict[Stage, int]:
    """Return the most executions per stage: programs, including the parent, times replicates."""
    trials, baselines = folder.task.trials, len(folder.programs) - 1
    return {
        Stage.SCREENING: (1 + trials.candidates) * trials.screening,
        Stage.SELECTION: (1 + compared_count(trials.candidates)) * trials.selection,
        Stage.CONFIRMATION: (2 + baselines) * trials.confirmation,
        Stage.PERMUTED: trials.selection if folder.can_permute else 0,
    }


def _expected_calls(folder: TaskFolder) -> dict[Step[Any, Any], ExpectedCalls]:
    calls = folder.task.trials.candidates
    program = GROWTH * len(folder.programs[PARENT]) / CHARACTERS_PER_TOKEN
    idea = len(folder.idea.model_dump_json()) / CHARACTERS_PER_TOKEN if folder.idea else 0.0
    tries = sum(min(number, MOST_TRIES) for number in range(calls)) * TOKENS_PER_TRY
    programs_and_ideas = calls * (program * (1 + SHARE_SHOWN_ANOTHER) + idea)
    # Lessons follow every round but the last; half of the candidates are no better.
    rounds = math.ceil(calls / SIDE_BY_SIDE) - 1
    attempts = rounds * SIDE_BY_SIDE / 2
    tokens_of_attempts = attempts * (TOKENS_PER_PATCH + TOKENS_PER_TRY)
    return {
        PROPOSE_PROGRAM: ExpectedCalls(
            calls, programs_and_ideas + tries, calls * (TOKENS_PER_PATCH + program / 2)
        ),
        LEARN_FROM_RUNS: ExpectedCalls(rounds, tokens_of_attempts, attempts * TOKENS_PER_LESSON),
    }


EXECUTIONS = "executions.sqlite"
_SENT = "sent"
# Whoever sends a task shares this machine with its other users.
_MOST_SENT = {
    "scratch_bytes": 1 << 30,
    "answer_bytes": 64 << 20,
    "processes": 64,
    "runs": 2_000,  # of all trials
}


def _given(job: ExperimentJob, folder: Path) -> tuple[tuple[Path, ...], str]:
    for task in job.tasks:
        files = {
            TASK: task.task,
            PROGRAM: task.program,
            EVALUATE: task.evaluate,
            **{f"{BASELINES}/{name}.py": source for name, source in task.baselines.items()},
            **{f"{DATA}/{name}": text for name, text in task.data.items()},
        }
        for name, text in files.items():
            path = folder / "tasks" / task.task_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, text.encode("utf-8", "replace"))
    return tuple(folder / "tasks" / task.task_id for task in job.tasks), _SENT


def _resolve(
    arguments: tuple[Any, ...], options: ExperimentOptions, common: Common, settings: Settings
) -> ExperimentRequest:
    """Raises ConfigurationError: invalid tasks, two of one name, none tunable without a model, or
    a sent task above the limits.
    """
    sources: dict[str, TaskSource] = {}
    folders, *origin = arguments
    for folder in map(Path, folders):
        task_folder = read_task(folder)
        program_path = f"{folder / PROGRAM}"
        if options.engine.is_baseline and not tunables_of(
            task_folder.programs[PARENT], program_path
        ):
            raise ConfigurationError(
                f"{program_path} declares nothing tunable: write `# tunable: 0.01..10` behind"
                " NAME = NUMBER, or have a model propose programs: --engine litellm:MODEL"
            )
        if origin == [_SENT]:
            _check_limits(folder, task_folder, settings.experiments)
        if task_folder.name in sources:
            raise ConfigurationError(f"two tasks are called {task_folder.name}: rename one folder")
        sources[task_folder.name] = TaskSource(
            task_id=task_folder.name,
            folder=folder.resolve(),
            content_sha256=task_folder.content_sha256,
        )
    container = settings.experiments.container
    parameters = ExperimentParameters(method_version=METHOD_VERSION, container=container)
    units = tuple(sources[name] for name in sorted(sources))
    seeded = {**common, "profile": replace(common["profile"], seed=options.seed)}
    return ExperimentRequest(units=units, parameters=parameters, **seeded)


def _check_limits(folder: Path, task_folder: TaskFolder, settings: ExperimentSettings) -> None:
    requested_amounts = {
        **task_folder.task.limits.model_dump(),
        "runs": sum(executions_of(task_folder).values()),
    }
    maxima = {
        "seconds": settings.sent_seconds,
        "memory_bytes": settings.sent_memory_bytes,
        **_MOST_SENT,
    }
    for name, value in requested_amounts.items():
        maximum = maxima[name]
        if value > maximum:
            raise ConfigurationError(
                f"{folder / TASK} asks for {value:,} {name}, and a task that is sent may have"
                f" {maximum:,}: ask for less, or have it run by `assay experiment` there"
            )


async def _experiment(source: TaskSource, tools: Tools) -> Experiment:
    container = tools.request.parameters.container
    check_sandbox(container)
    folder = _unchanged(source)
    executor = Executor(
        folder,
        tools.run_id,
        KeyedStore(Layout(tools.request.warehouse).cache / EXECUTIONS),
        tools.processor_slots,
        container,
    )
    proposer: Proposer
    if tools.request.engine.is_baseline:
        proposer = TunableProposer(folder, tools.request.profile.seed)
    else:
        proposer = ModelProposer(tools.engine, executor, environment(container))
    experiment = await run_experiment(folder, executor, proposer)
    return replace(experiment, llm_calls=tuple(tools.ledger.llm_calls))


def _unchanged(source: TaskSource) -> TaskFolder:
    folder = read_task(source.folder)
    if folder.content_sha256 != source.content_sha256:
        raise ConfigurationError(
            f"{source.folder} was changed while it was worked on: run the command again"
        )
    return folder


def _failed(source: TaskSource, tools: Tools, cause: Cause) -> Experiment:
    container = tools.request.parameters.container
    experiment = failed_experiment(_unchanged(source), container, *cause)
    return replace(experiment, llm_calls=tuple(tools.ledger.llm_calls))


def _result(_: ExperimentHead, experiments: Sequence[Experiment]) -> Result:
    failures = tuple(
        f"{each.task_id}: {each.unscored_detail}" for each in experiments if each.finding is None
    )
    state = "failed" if failures and len(failures) == len(experiments) else "measured"
    return Result(state, in_order=not failures, lost=failures)


EXPERIMENT: Work[TaskSource, ExperimentParameters, Experiment] = Work(
    schema=EXPERIMENTS,
    job=ExperimentJob,
    given=_given,
    resolve=_resolve,
    identity=("task_id", "content_sha256"),
    sandbox=True,
    steps=lambda request: () if request.engine.is_baseline else STEPS,
    do=_experiment,
    failed=_failed,
    expects=_expected,
    result=_result,
)
