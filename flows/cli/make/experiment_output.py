"""What `assay experiment` prints: what was found of each task, and by which figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboards.render import figures
from flows.cli.answer import Answer, answer_of, print_answer, write_answer
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.literature.recommend import recommendation_warnings
from flows.cli.output import (
    ended_early,
    print_steps,
    print_table,
    print_where,
    was_published,
)
from flows.cli.talk import print_note, print_warning
from flows.cli.terminal import safe
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.experiment import Experiment, Fate, Program, Role
from schemas.works.experiment_run import ExperimentHead, ExperimentRequest
from tasks.experiments.checking import CheckedTask
from tasks.experiments.task_folder import FILL_IN
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.units.reading import published_units
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.experiment.experiment_drafting import Drafted
    from flows.works.experiment.experiment_estimate import ExperimentEstimate
    from flows.works.experiment.experimenting import ExperimentSummary


def print_made(paths: Sequence[Path], folder: Path, *, as_json: bool) -> int:
    """Print the files of a task that was made; the command's exit code."""
    if as_json:
        print_answer("made", [{"path": str(path)} for path in paths], folder=str(folder))
        return EXIT_DONE
    for path in paths:
        print_note(f"made {path}")
    print_note(f"edit them, then look at it: assay experiment check {folder}")
    return EXIT_DONE


def print_drafted(drafted: "Drafted", folder: Path, *, as_json: bool) -> int:
    """Print the files of a draft and what it rests on; the command's exit code."""
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
    """Print how a task's own programs fare; the command's exit code."""
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
        chosen = figures.measure(checked.detectable_when_chosen)
        confirmed = figures.measure(checked.detectable_when_confirmed)
        print_note(
            f"between two seeds the metric differs by {figures.measure(checked.noise)} (standard"
            f" deviation); gains from {chosen} show among all candidates, from {confirmed} on fresh"
            f" data; worth having is {figures.measure(checked.least_difference)}"
        )
    return EXIT_DONE if checked.is_sound else EXIT_FAILURES


def print_expected_experiment(estimate: "ExperimentEstimate", *, as_json: bool) -> int:
    """Print what a run would take at most; the command's exit code."""
    if as_json:
        told = estimate.model_dump(exclude={"stages"})
        print_answer("expected", estimate.stages, **told)
        return EXIT_DONE
    print_table(
        ["task", "stage", "programs", "runs of each", "executions"],
        [
            [safe(each.task_id), each.stage.value, each.programs, each.replicates, each.executions]
            for each in estimate.stages
        ],
    )
    if estimate.steps:
        print_steps("step", estimate.steps)
        print_note(
            f"about {estimate.model_calls:,} model calls for {figures.usd(estimate.cost_usd)}"
        )
    print_note(
        f"at most {figures.counted(estimate.executions, 'execution')}, which their limits bound to"
        f" {figures.duration(estimate.limit_seconds)} of programs; nothing was run or asked"
    )
    return EXIT_DONE


def print_experiments(
    request: ExperimentRequest, summary: "ExperimentSummary", settings: Settings, *, as_json: bool
) -> int:
    """Print what was found; the command's exit code."""
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    head = summary.head
    warehouse, reason = Warehouse(request.warehouse, settings), head.incomplete_reason
    with warehouse.reader() as connection:
        experiments = published_units(connection, EXPERIMENTS, head.run_id)
    early = ended_early(
        "the experiment", reason, request.warehouse, head.run_id, request.budget, "task"
    )
    if as_json:
        told = {"reports": summary.report_paths, "log": summary.log_path}
        write_answer(experiments_answer(head, experiments, early, **told))
    else:
        for experiment in experiments:
            _print(experiment)
        print_where(summary, early)
    if reason is Reason.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    unmeasured = any(each.finding is None for each in experiments)
    return EXIT_FAILURES if unmeasured or reason else EXIT_DONE


def experiments_answer(
    head: ExperimentHead,
    experiments: Sequence[Experiment],
    warnings: Sequence[str] = (),
    **told: Any,
) -> Answer:
    """What `--json` says of published experiments; `told`: what stands beside."""
    lost = [
        f"{each.task_id}: {each.unscored_detail}" for each in experiments if each.finding is None
    ]
    state = "failed" if lost and len(lost) == len(experiments) else "measured"
    state = "incomplete" if head.incomplete_reason else state
    return answer_of(state, experiments, run=head, warnings=(*warnings, *lost), **told)


def _print(experiment: Experiment) -> None:
    if experiment.finding is None:
        print_warning(safe(f"{experiment.task_id} was not measured: {experiment.unscored_detail}"))
        return
    found = experiment.finding.value.replace("_", " ")
    print_note(safe(f"{experiment.task_id}: {found}; {experiment.because}"))
    shown = [each for each in experiment.programs if _on_fresh_data(each)]
    refused = sum(each.fate is Fate.REFUSED for each in experiment.programs)
    print_table(
        ["program", experiment.metric, "runs", "gain", "95 % interval"],
        [
            [
                safe(each.program_id),
                figures.measure(each.mean),
                each.run_count,
                "" if each.gain is None else figures.measure(each.gain),
                "" if each.gain_low is None else _between(each.gain_low, each.gain_high),
            ]
            for each in shown
        ],
    )
    if experiment.baseline_gain is not None:
        reach = _between(experiment.baseline_low, experiment.baseline_high)
        gain = figures.measure(experiment.baseline_gain)
        print_note(safe(f"over the strongest baseline, {experiment.baseline_id}: {gain} ({reach})"))
    print_note(
        f"{figures.counted(experiment.tried_count, 'candidate')} run of"
        f" {experiment.proposed_count:,} proposed, {experiment.failed_count:,} failed"
        f"{f', {refused:,} could not be applied' if refused else ''}"
    )


def _on_fresh_data(program: Program) -> bool:
    fate = Fate.CONFIRMED if program.role is Role.CANDIDATE else None
    return program.fate is fate and program.run_count > 0


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{figures.measure(low)} to {figures.measure(high)}"
