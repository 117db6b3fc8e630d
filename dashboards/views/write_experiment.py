"""Report on experiments: findings, programs on fresh data, the best patch."""

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.lineage import program_lineage
from dashboards.render.charts.search_chart import search_chart
from dashboards.render.prose import prose
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.literature.naming import INVISIBLE
from schemas.works.experiment import Execution, Experiment, Fate, Program, Role, Stage
from schemas.works.experiment_run import EXPERIMENTS, ExperimentHead
from warehouse.lake import rows_in
from warehouse.statements import statement
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class ExperimentPart:
    """One experiment; `number` makes the names of its drawings unique.

    Attributes:
        cost: of model calls, in words; empty: none were made.
    """

    experiment: Experiment
    number: int = 1
    cost: str = ""

    @property
    def verdict(self) -> str:
        """The finding, in a word or two."""
        finding = self.experiment.finding
        return "Not measured" if finding is None else wording.finding(finding)

    @property
    def refused_programs(self) -> list[Program]:
        """Proposals that could not be applied."""
        return [each for each in self.experiment.programs if each.fate is Fate.REFUSED]


@dataclass(frozen=True)
class ExperimentPage(PublishedPage):
    """The report on experiments."""

    head: ExperimentHead
    parts: tuple[ExperimentPart, ...]

    @property
    def units(self) -> tuple[Experiment, ...]:
        return tuple(part.experiment for part in self.parts)

    def page(self) -> pg.Page:
        title = figures.plural(len(self.parts), "experiment")
        return pg.Page(pg.line(title), tuple(self._blocks()), f"Experiment {self.head.run_id}")

    def _blocks(self) -> Iterator[pg.Block]:
        head = self.head
        engine = pg.line("engine ", pg.code(head.engine))
        yield pg.facts(pg.code(head.run_id), engine, f"seed {head.seed}")
        yield pg.note(
            "Findings are measurements within a task: they say what these programs did on these"
            " data, and nothing of the literature."
        )
        if head.incomplete_reason is not None:
            yield pg.note(wording.early_end(head.incomplete_reason))
        for part in self.parts:
            yield from _experiment_blocks(part)

    def short_page(self) -> pg.Page:
        """Return the finding of each task, with programs side by side."""
        return pg.Page((), tuple(block for part in self.parts for block in _in_short(part)))


def _experiment_blocks(part: ExperimentPart) -> Iterator[pg.Block]:
    experiment = part.experiment
    yield pg.heading(f"{experiment.task_id}: {part.verdict.lower()}")
    yield from prose(experiment.question)
    if experiment.unscored_reason is not None:
        yield pg.text(pg.strong("Nothing was measured:"), f" {experiment.unscored_detail}")
    else:
        threshold = figures.measure(experiment.least_difference)
        yield pg.text(
            *(
                pg.strong(f"{part.verdict}:"),
                f" {experiment.because}. ",
                pg.code(experiment.metric),
            ),
            f", {experiment.direction.better}; a difference worth having is {threshold} or more.",
            f" {experiment.explanation}" if experiment.explanation else "",
        )
    if search := search_chart(f"search-{part.number}", experiment):
        yield search
    if experiment.side_by_side:
        yield from _side_by_side(experiment)
    programs = {each.program_id: each for each in experiment.programs}
    if best := programs.get(experiment.best_program_id or ""):
        yield from _best(experiment, best)
    if lineage := program_lineage(f"lineage-{part.number}", experiment):
        yield from (pg.heading("Which program was made from which", level=3), lineage)
    yield from _other_candidates(part)
    refused_note = (
        f", {len(part.refused_programs):,} of them refused" if part.refused_programs else ""
    )
    cost = f"; models cost {part.cost}" if part.cost else ""
    executions = experiment.executions
    seconds = figures.duration(sum(each.wall_seconds for each in executions))
    bytes_used = max((each.memory_bytes or 0 for each in executions), default=0)
    memory = f", at most {figures.megabytes(bytes_used)} of memory" if bytes_used else ""
    yield pg.text(
        f"{figures.plural(experiment.proposed_count, 'candidate')} proposed{refused_note},"
        f" {experiment.tried_count:,} run, {experiment.failed_count:,} failed;"
        f" {figures.plural(len(executions), 'execution')}, {seconds} of programs{memory}{cost}."
        f" {experiment.environment}."
    )


def _in_short(part: ExperimentPart) -> Iterator[pg.Block]:
    experiment = part.experiment
    yield pg.heading(f"{experiment.task_id}: {part.verdict.lower()}")
    if experiment.unscored_reason is not None:
        yield pg.text(f"Nothing was measured: {experiment.unscored_detail}")
        return
    yield pg.text(f"{experiment.because}.")
    if experiment.side_by_side:
        yield from _side_by_side(experiment)
    refused_note = (
        f", {len(part.refused_programs):,} could not be applied" if part.refused_programs else ""
    )
    yield pg.text(
        f"{figures.plural(experiment.tried_count, 'candidate')} run of"
        f" {experiment.proposed_count:,} proposed, {experiment.failed_count:,} failed{refused_note}."
    )


_ROLES = {Role.BASELINE: ", a baseline", Role.CANDIDATE: ", the best candidate"}


def _side_by_side(experiment: Experiment) -> Iterator[pg.Block]:
    measure, programs = figures.measure, experiment.side_by_side
    yield pg.heading("On data that chose nothing", level=3)
    rows = [
        (
            f"{each.program_id}{_ROLES.get(each.role, '')}",
            measure(each.mean),
            each.run_count,
            "" if each.gain is None else measure(each.gain),
            "" if each.gain_low is None else _reach(each.gain_low, each.gain_high),
        )
        for each in programs
    ]
    columns = ("Program", f"Mean of {experiment.metric}:", "Runs:", "Gain over the parent:")
    yield pg.table((*columns, "95 % interval:"), rows)
    low, high = experiment.baseline_low, experiment.baseline_high
    if experiment.baseline_gain is not None and low is not None and high is not None:
        conclusion = "the interval of the difference includes 0"
        if low > 0 or high < 0:
            conclusion = (
                "it is better than what was known" if low > 0 else "what was known is better"
            )
        gain = f"{measure(experiment.baseline_gain)} ({_reach(low, high)})"
        baseline = pg.code(experiment.baseline_id or "")
        best = f", the best candidate gains {gain}: {conclusion}."
        yield pg.text("Over the strongest baseline, ", baseline, best)
    fresh = [each for each in experiment.executions if each.stage is Stage.CONFIRMATION]
    means = [
        (name.replace("_", " "), *(measure(_mean_of(fresh, program, name)) for program in programs))
        for name in sorted({name for each in fresh for name in each.measures}, key=_with_numbers)
    ]
    if means:
        yield pg.table(("Mean", *(f"{each.program_id}:" for each in programs)), means)


def _best(experiment: Experiment, best: Program) -> Iterator[pg.Block]:
    measure = figures.measure
    yield pg.heading("The best candidate", level=3)
    choice = f"Chosen among {figures.plural(experiment.tried_count, 'candidate')} on other data"
    if experiment.selected_gain is not None:
        reach = _reach(experiment.selected_low, experiment.selected_high)
        gain = measure(experiment.selected_gain)
        choice += f": gain {gain}, and {reach} corrected for all of them"
    permutation_note = ""
    if experiment.permuted_mean is not None:
        permutation_note = f" With permuted labels it reaches {measure(experiment.permuted_mean)}."
    yield pg.text(f"{choice}.{permutation_note}")
    if best.rationale:
        source = f", from {best.parent_program_id}" if best.parent_program_id != "parent" else ""
        source += f", borrowing from {best.borrowed_from}" if best.borrowed_from else ""
        proposer = pg.code(best.proposed_by) if best.proposed_by else "unknown"
        yield pg.text("Proposed by ", proposer, f"{source}: {best.rationale}")
    parent = next((each for each in experiment.programs if each.role is Role.PARENT), None)
    if parent is None:
        yield pg.Code("", "diff")
        return
    before, after = parent.source.splitlines(), best.source.splitlines()
    names = ("program.py", best.program_id)
    patch = difflib.unified_diff(before, after, *names, lineterm="", n=1)
    yield pg.Code("\n".join(INVISIBLE.sub(" ", each) for each in patch), "diff")


def _other_candidates(part: ExperimentPart) -> Iterator[pg.Block]:
    experiment = part.experiment
    candidates = [each for each in experiment.programs if each.fate is Fate.COMPARED]
    if candidates:
        yield pg.heading("Other candidates on full data", level=3)
        rows = [
            (
                each.program_id,
                figures.measure(each.mean),
                figures.measure(each.gain),
                _reach(each.gain_low, each.gain_high),
                ", ".join(f"{name} = {value}" for name, value in each.settings.items()),
            )
            for each in sorted(candidates, key=lambda each: -(each.gain or 0.0))
        ]
        columns = ("Candidate", "Mean:", "Gain:", "Interval, corrected:", "Settings")
        yield pg.table(columns, rows)
    if part.refused_programs:
        refusals = [(each.program_id, each.refusal) for each in part.refused_programs]
        yield pg.table(("Refused", "Why"), refusals)
    unscored_runs = [each for each in experiment.executions if each.unscored_reason is not None]
    failures = [
        (
            wording.reason(reason or ""),
            count,
            next(each.unscored_detail for each in unscored_runs if each.unscored_reason is reason),
        )
        for reason, count in Counter(each.unscored_reason for each in unscored_runs).most_common()
    ]
    if failures:
        yield pg.table(("Executions without a score", ":", "The first said"), failures)


def _reach(low: float | None, high: float | None) -> str:
    return f"{figures.measure(low)} to {figures.measure(high)}"


def _with_numbers(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts 9 before 10."""
    parts = name.split("_")
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _mean_of(executions: list[Execution], program: Program, name: str) -> float | None:
    values = [
        each.measures[name]
        for each in executions
        if each.program_id == program.program_id and name in each.measures
    ]
    return sum(values) / len(values) if values else None


def experiment_page(warehouse: Warehouse, run_id: RunId) -> ExperimentPage:
    """Return published experiments; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(EXPERIMENTS), run_id)
        experiments = published_units(connection, kind_of(EXPERIMENTS), run_id)
        tasks = {"run_id": run_id, "idea_ids": [each.task_id for each in experiments]}
        rows = rows_in(connection, statement("queries", "idea_costs"), tasks)
    costs = {
        str(row["idea_id"]): figures.usd(row["cost_usd"], row["unknown_price_calls"])
        for row in rows
    }
    parts = (
        ExperimentPart(each, number, costs.get(each.task_id, ""))
        for number, each in enumerate(experiments, start=1)
    )
    return ExperimentPage(head, tuple(parts))
