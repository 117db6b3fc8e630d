"""What `assay experiment` prints: what was found of each task, and by which figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dashboards.render import figures
from flows.cli.answer import print_answer
from flows.cli.exit_codes import EXIT_DONE, EXIT_FAILURES
from flows.cli.literature.recommend import recommendation_warnings
from flows.cli.output import (
    print_table,
)
from flows.cli.talk import print_note, print_warning
from flows.cli.terminal import safe
from tasks.experiments.checking import CheckedTask
from tasks.experiments.task_folder import FILL_IN

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.experiment.experiment_drafting import Drafted


def print_made(paths: Sequence[Path], folder: Path, *, as_json: bool) -> int:
    if as_json:
        print_answer("made", [{"path": str(path)} for path in paths], folder=str(folder))
        return EXIT_DONE
    for path in paths:
        print_note(f"made {path}")
    print_note(f"edit them, then look at it: assay experiment check {folder}")
    return EXIT_DONE


def print_drafted(drafted: "Drafted", folder: Path, *, as_json: bool) -> int:
    found, idea = drafted.recommended, drafted.idea
    found_count = figures.counted(
        len(found.recommendations),
        "data set, baseline or metric",
        "data sets, baselines and metrics",
    )
    warnings = tuple(recommendation_warnings(found))
    if as_json:
        rows = [{"path": str(path)} for path in drafted.paths]
        print_answer("drafted", rows, folder=str(folder), warnings=warnings)
        return EXIT_DONE
    for path in drafted.paths:
        print_note(f"made {path}")
    print_note(
        f"{figures.counted(len(idea.concerns), 'concern')} and"
        f" {figures.counted(len(idea.works), 'work')} close to it;"
        f" {found_count} of {figures.counted(found.near_works, 'work')} near it"
    )
    for line in warnings:
        print_warning(safe(line))
    print_note(f"say what is marked {FILL_IN!r}, then look at it: assay experiment check {folder}")
    return EXIT_DONE


def print_checked(checked: CheckedTask, *, as_json: bool) -> int:
    failed = tuple(
        f"{each.program_id} fails: {each.failure}" for each in checked.programs if each.failure
    )
    if as_json:
        state = "sound" if checked.is_sound else "failing"
        told = checked.model_dump(exclude={"programs"})
        print_answer(state, checked.programs, warnings=failed, **told)
        return EXIT_DONE if checked.is_sound else EXIT_FAILURES
    print_table(
        ["program", checked.metric, "95 % interval", "runs", "longest"],
        [
            [
                safe(each.program_id),
                figures.measure(each.mean),
                _between(each.mean_low, each.mean_high),
                each.run_count,
                f"{each.seconds:.1f} s",
            ]
            for each in checked.programs
        ],
    )
    for line in failed:
        print_warning(safe(line))
    if checked.noise is not None:
        what = "the gain over the parent" if len(checked.programs) > 1 else "the metric"
        chosen = figures.measure(checked.detectable_when_chosen)
        confirmed = figures.measure(checked.detectable_when_confirmed)
        print_note(
            f"from run to run {what} differs by {figures.measure(checked.noise)} (standard"
            f" deviation); gains from {chosen} show among all candidates, from {confirmed} on fresh"
            f" data; worth having is {figures.measure(checked.least_difference)}"
        )
    return EXIT_DONE if checked.is_sound else EXIT_FAILURES


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{figures.measure(low)} to {figures.measure(high)}"
