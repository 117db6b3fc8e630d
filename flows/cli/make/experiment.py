"""`assay experiment`: make a task, look at it, and try programs on it."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Commands, Json, output_option
from schemas.errors import ConfigurationError
from schemas.options.commands import DraftOptions
from schemas.settings import Settings
from schemas.works.experiment_run import ExperimentOptions
from tasks.experiments.bundled import copy_task

application = Commands()

Tasks = Annotated[
    list[Path], typer.Argument(metavar="TASK...", help="Folders of tasks.", show_default=False)
]
Task = Annotated[Path, typer.Argument(metavar="TASK", help="Folder of a task.")]


@application.command("init")
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where the task is made; not there yet.")
    ],
    options: DraftOptions,
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="NAME",
            help="The bundled task it begins as: bin_packing (the default), classification or"
            " laplacian.",
        ),
    ] = None,
    idea: Annotated[
        str | None,
        typer.Option(
            "--idea",
            metavar="ID|FILE",
            help="The idea it is drafted from: one that was evaluated, or a file that holds it.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Make the folder of a task: a copy of a bundled one, or the draft of one that tries an idea.

    task.toml says what is asked, the metric and how much is tried; program.py is what is to be
    improved; evaluate.py makes data and scores answers; baselines/ holds what it is held against.
    A draft holds what was objected to the idea, the works closest to it, and data sets, baselines
    and metrics that works near it used; what you have to say is marked, and until you have the
    task is refused.
    """
    if idea is not None:
        if like is not None:
            raise ConfigurationError("--like or --idea: one of both")
        from flows.cli.make.experiment_output import print_drafted
        from flows.works.experiment.experiment_drafting import draft_experiment

        return print_drafted(
            draft_experiment(folder, idea, options, Settings()), folder, as_json=json
        )
    if options.run is not None:
        raise ConfigurationError("--run says which run evaluated the idea: add --idea ID")
    from flows.cli.make.experiment_output import print_made

    return print_made(copy_task(like or "bin_packing", folder), folder, as_json=json)


@application.command("check")
def check(task: Task, json: Json = False) -> int:
    """Run a task's own programs and say what difference could be seen at all.

    The parent and the baselines run on full data; the parent runs a second time with another seed,
    which says how noisy the metric is. Nothing is stored.
    """
    from flows.cli.make.experiment_output import print_checked
    from tasks.experiments.checking import check_task

    return print_checked(check_task(task, Settings().experiments.container), as_json=json)


@application.command("run")
def try_programs(
    tasks: Tasks,
    options: ExperimentOptions,
    output: Annotated[
        Path | None,
        output_option(
            "Write here instead of to stdout, by the ending: html, pdf, docx or json; else"
            " Markdown."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Look for a better program, and confirm the best on fresh data.

    Offline, other values of what program.py declares as tunable are tried. A model, with --engine,
    changes its code. Programs run in a sandbox without network: first on small data, the best on
    full data, the best of those on data that chose nothing. "No better" is a result. The same
    command goes on where it stopped; nothing is run or paid for twice.
    """
    from flows.cli.works import run

    return run("experiment", (tasks,), options, output, as_json=json)
