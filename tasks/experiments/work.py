"""Experiments with programs: their declaration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from schemas.settings import ExperimentSettings, Settings
from schemas.works.experiment import Experiment
from schemas.works.experiment_run import (
    EXPERIMENTS,
    ExperimentHead,
    ExperimentJob,
    ExperimentOptions,
    ExperimentParameters,
    ExperimentRequest,
    SentTask,
    TaskSource,
)
from tasks.experiments.executing import Executor
from tasks.experiments.expected import executions_of, expected_experiments
from tasks.experiments.experiment import run_experiment, unmeasured
from tasks.experiments.model_proposer import ModelProposer
from tasks.experiments.program import tunables_of
from tasks.experiments.proposing import METHOD_VERSION, Proposer, TunableProposer
from tasks.experiments.sandbox.sandbox import check_sandbox, environment
from tasks.experiments.steps import STEPS
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
from tasks.shards.work import Cause
from tasks.work.declaration import Needs, Resolved, Result, Work
from tasks.work.tools import Tools
from warehouse.layout import Layout
from warehouse.parquet import write_bytes
from warehouse.stores.keyed_store import KeyedStore

EXECUTIONS = "executions.sqlite"
_SENT = "sent"


def _given(job: ExperimentJob, folder: Path) -> tuple[tuple[Path, ...], str]:
    folders = tuple(_written(folder / "tasks" / sent.task_id, sent) for sent in job.tasks)
    return folders, _SENT


def _written(folder: Path, sent: SentTask) -> Path:
    files = {
        TASK: sent.task,
        PROGRAM: sent.program,
        EVALUATE: sent.evaluate,
        **{f"{BASELINES}/{name}.py": source for name, source in sent.baselines.items()},
        **{f"{DATA}/{name}": text for name, text in sent.data.items()},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, text.encode("utf-8", "replace"))
    return folder


def _resolve(
    given: tuple[Any, ...], options: ExperimentOptions, profile: Profile, settings: Settings
) -> Resolved[TaskSource, ExperimentParameters]:
    """Raises ConfigurationError: a task that cannot be understood, one without anything tunable
    where no model is asked, two of one name, or one that was sent and asks for too much.
    """
    sources: dict[str, TaskSource] = {}
    folders, *origin = given
    for folder in map(Path, folders):
        source = _source(folder, options.engine)
        if origin == [_SENT]:
            _check_modest(folder, settings.experiments)
        if source.task_id in sources:
            raise ConfigurationError(f"two tasks are called {source.task_id}: rename one folder")
        sources[source.task_id] = source
    container = settings.experiments.container
    parameters = ExperimentParameters(method_version=METHOD_VERSION, container=container)
    in_order = tuple(sources[name] for name in sorted(sources))
    return Resolved(in_order, parameters, replace(profile, seed=options.seed))


def _check_modest(folder: Path, settings: ExperimentSettings) -> None:
    """Raises ConfigurationError: the task takes more of this machine than its owner lets programs
    have.
    """
    read = read_task(folder)
    asked = {
        **read.task.limits.model_dump(),
        "runs": sum(executions_of(read).values()),
    }
    for name, wanted in asked.items():
        most = getattr(settings, f"sent_{name}")
        if wanted > most:
            raise ConfigurationError(
                f"{folder / TASK} asks for {wanted:,} {name}, and a task that is sent may have"
                f" {most:,} (ASSAY_EXPERIMENTS__SENT_{name.upper()})"
            )


def _source(folder: Path, engine: EngineChoice) -> TaskSource:
    read = read_task(folder)
    if engine.is_baseline and not tunables_of(read.programs[PARENT], f"{folder / PROGRAM}"):
        raise ConfigurationError(
            f"{folder / PROGRAM} declares nothing tunable: write `# tunable: 0.01..10` behind"
            " NAME = NUMBER, or have a model propose programs: --engine litellm:MODEL"
        )
    return TaskSource(
        task_id=read.name, folder=folder.resolve(), content_sha256=read.content_sha256
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
    experiment = unmeasured(_unchanged(source), container, *cause)
    return replace(experiment, llm_calls=tuple(tools.ledger.llm_calls))


def _result(_: ExperimentHead, experiments: Sequence[Experiment]) -> Result:
    lost = tuple(
        f"{each.task_id}: {each.unscored_detail}" for each in experiments if each.finding is None
    )
    state = "failed" if lost and len(lost) == len(experiments) else "measured"
    return Result(state, in_order=not lost, lost=lost)


EXPERIMENT: Work[TaskSource, ExperimentParameters, Experiment] = Work(
    schema=EXPERIMENTS,
    job=ExperimentJob,
    given=_given,
    request=ExperimentRequest,
    resolve=_resolve,
    identity=("task_id", "content_sha256"),
    needs=Needs(sandbox=True),
    steps=lambda request: () if request.engine.is_baseline else STEPS,
    do=_experiment,
    failed=_failed,
    expects=expected_experiments,
    result=_result,
)
