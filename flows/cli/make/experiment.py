"""`assay experiment`: making, checking and running of tasks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dashboards.render import figures
from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, print_answer
from flows.cli.options import Commands, Json, output_option
from flows.cli.output import print_table
from flows.cli.terminal import print_note, print_warning, safe
from schemas.errors import ConfigurationError
from schemas.options.commands import DraftOptions
from schemas.settings import Settings
from schemas.works.experiment_run import ExperimentOptions
from tasks.experiments.bundled import copy_task

if TYPE_CHECKING:  # slow imports are here and in functions, as help needs none
    from flows.works.experiment.experiment_drafting import DraftedTask

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
    """Make the folder of a task: a copy of a bundled one, or a draft that tests an idea.

    task.toml holds question, metric and number of trials; program.py is the program to improve;
    evaluate.py makes data and scores answers; baselines/ holds programs to compare with. The draft
    lists objections to the idea, the closest works, and data sets, baselines and metrics that
    related papers used; fill in the marked places before running it.
    """
    if idea is not None:
        if like is not None:
            raise ConfigurationError("--like or --idea: one of both")
        from flows.works.experiment.experiment_drafting import draft_experiment

        return _print_drafted(
            draft_experiment(folder, idea, options, Settings()), folder, as_json=json
        )
    if options.run is not None:
        raise ConfigurationError("--run says which run evaluated the idea: add --idea ID")
    paths = copy_task(like or "bin_packing", folder)
    if json:
        print_answer("made", [{"path": str(path)} for path in paths], folder=str(folder))
        return EXIT_DONE
    for path in paths:
        print_note(f"made {path}")
    print_note(f"edit them, then look at it: assay experiment check {folder}")
    return EXIT_DONE


@application.command("check")
def check(task: Task, json: Json = False) -> int:
    """Run a task's own programs and compute the smallest detectable difference.

    The parent and the baselines run on full data; the variation of their gains shows the noise of
    the metric. A parent without baselines runs a second time with another seed. Nothing is stored.
    """
    from tasks.experiments.checking import check_task

    task_check = check_task(task, Settings().experiments.container)
    failures = tuple(
        f"{each.program_id} fails: {each.failure}" for each in task_check.programs if each.failure
    )
    if json:
        state = "sound" if task_check.is_sound else "failing"
        values = task_check.model_dump(exclude={"programs"})
        print_answer(state, task_check.programs, warnings=failures, **values)
        return EXIT_DONE if task_check.is_sound else EXIT_FAILURES

    print_table(  # not print_columns: the metric may be named like another column
        ["program", task_check.metric, "95 % interval", "runs", "longest"],
        [
            [
                safe(each.program_id),
                figures.measure(each.mean),
                _between(each.mean_low, each.mean_high),
                each.run_count,
                f"{each.seconds:.1f} s",
            ]
            for each in task_check.programs
        ],
    )
    for line in failures:
        print_warning(safe(line))
    if task_check.noise is not None:
        measured_quantity = (
            "the gain over the parent" if len(task_check.programs) > 1 else "the metric"
        )
        print_note(
            f"from run to run {measured_quantity} differs by {figures.measure(task_check.noise)} (standard"
            f" deviation); gains from {figures.measure(task_check.detectable_when_chosen)} show among"
            f" all candidates, from {figures.measure(task_check.detectable_when_confirmed)} on fresh"
            f" data; worth having is {figures.measure(task_check.least_difference)}"
        )
    return EXIT_DONE if task_check.is_sound else EXIT_FAILURES


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
    """Search for a better program, and confirm the best one on fresh data.

    Offline, other values of the tunable parameters in program.py are tried. A model, with --engine,
    changes the code. Programs run in a sandbox without network: first on small data, the best on
    full data, the best of those on fresh data. "No better" is a result. The same command resumes
    without repeating or paying for anything.
    """
    from flows.cli.works import run

    return run("experiment", (tasks,), options, output, as_json=json)


def _print_drafted(drafted_task: "DraftedTask", folder: Path, *, as_json: bool) -> int:
    from flows.cli.literature.recommend import recommendation_warnings
    from tasks.experiments.task_folder import FILL_IN

    resources, idea = drafted_task.recommended, drafted_task.idea
    resource_count = figures.plural(
        len(resources.recommendations),
        "data set, baseline or metric",
        "data sets, baselines and metrics",
    )
    warnings = tuple(recommendation_warnings(resources))
    if as_json:
        rows = [{"path": str(path)} for path in drafted_task.paths]
        print_answer("drafted", rows, folder=str(folder), warnings=warnings)
        return EXIT_DONE
    for path in drafted_task.paths:
        print_note(f"made {path}")
    print_note(
        f"{figures.plural(len(idea.concerns), 'concern')} and"
        f" {figures.plural(len(idea.works), 'work')} close to it;"
        f" {resource_count} of {figures.plural(resources.near_works, 'work')} near it"
    )
    for line in warnings:
        print_warning(safe(line))
    print_note(f"say what is marked {FILL_IN!r}, then look at it: assay experiment check {folder}")
    return EXIT_DONE


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{figures.measure(low)} to {figures.measure(high)}"
