"""The options of `assay experiment`, resolved into an `ExperimentRequest`: every mistake named in
one line.
"""

from collections.abc import Sequence
from pathlib import Path

from flows.profiles import load_profile
from flows.works.evaluate.request import check_api_base, check_judging, check_warehouse
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.options.commands import ExperimentOptions
from schemas.settings import Settings
from schemas.works.experiment_run import ExperimentRequest, TaskSource
from tasks.experiments.program import tunables_of
from tasks.experiments.sandbox.sandbox import check_sandbox
from tasks.experiments.task_folder import PARENT, PROGRAM, read_task


def resolve_experiment(
    folders: Sequence[Path], options: ExperimentOptions, settings: Settings
) -> ExperimentRequest:
    """Resolve the options of `assay experiment run`.

    Raises:
        ConfigurationError: an option or task that cannot be understood, a task without anything
            tunable where no model is asked, two of one name, or no sandbox on this machine.
    """
    check_warehouse(options.warehouse)
    check_api_base(options.api_base, options.engine)
    profile = load_profile(options.profile)
    check_judging(profile, options.engine)
    sources: dict[str, TaskSource] = {}
    for folder in folders:
        source = _source(folder, options.engine)
        if source.task_id in sources:
            raise ConfigurationError(f"two tasks are called {source.task_id}: rename one folder")
        sources[source.task_id] = source
    container = settings.experiments.container
    check_sandbox(container)
    return ExperimentRequest(
        tasks=tuple(sources.values()),
        warehouse=options.warehouse.resolve(),
        profile=profile,
        engine=options.engine,
        api_base=options.api_base,
        seed=options.seed,
        container=container,
        budget=options.budget,
        workers=options.workers,
        scheduler_address=options.scheduler,
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
