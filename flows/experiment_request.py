"""The options of `assay experiment`, resolved into an `ExperimentRequest`: every mistake named in
one line.
"""

from collections.abc import Sequence
from pathlib import Path

from flows.request import check_warehouse
from schemas.errors import ConfigurationError
from schemas.experiment_run import ExperimentRequest, TaskSource
from schemas.options import ExperimentOptions
from tasks.experiments.program import tunables_of
from tasks.experiments.sandbox import check_sandbox
from tasks.experiments.task_folder import PARENT, PROGRAM, read_task


def resolve_experiment(folders: Sequence[Path], options: ExperimentOptions) -> ExperimentRequest:
    """Resolve the options of `assay experiment run`.

    Raises:
        ConfigurationError: a task that cannot be understood or holds nothing tunable, two of one
            name, or no sandbox on this machine.
    """
    check_warehouse(options.warehouse)
    sources: dict[str, TaskSource] = {}
    for folder in folders:
        source = _source(folder)
        if source.task_id in sources:
            raise ConfigurationError(f"two tasks are called {source.task_id}: rename one folder")
        sources[source.task_id] = source
    check_sandbox()
    return ExperimentRequest(
        tasks=tuple(sources.values()),
        warehouse=options.warehouse.resolve(),
        seed=options.seed,
        workers=options.workers,
        scheduler_address=options.scheduler,
    )


def _source(folder: Path) -> TaskSource:
    read = read_task(folder)
    if not tunables_of(read.programs[PARENT], f"{folder / PROGRAM}"):
        raise ConfigurationError(
            f"{folder / PROGRAM} declares nothing tunable: write `# tunable: 0.01..10` behind"
            " NAME = NUMBER"
        )
    return TaskSource(
        task_id=read.name, folder=folder.resolve(), content_sha256=read.content_sha256
    )
