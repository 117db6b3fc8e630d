"""The report on experiments: what is found of each task and why, programs side by side on fresh
data, the best one as a patch, what failed and what it took.
"""

import difflib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import duckdb

from dashboards.render import figures, wording
from dashboards.render.charts.lineage import descent, program_lineage
from dashboards.render.charts.search_chart import search_chart
from dashboards.render.page import Figure, Page
from dashboards.render.render import rendered_page
from dashboards.render.safe_text import Markdown
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.literature.naming import INVISIBLE
from schemas.works.experiment import Execution, Experiment, Fate, Program, Role, Stage
from schemas.works.experiment_run import ExperimentHead
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.lake import rows_in
from warehouse.statements import statement
from warehouse.units.reading import published_head, published_units
from warehouse.warehouse import Warehouse

_FENCE = "~~~~~~"


@dataclass(frozen=True)
class ExperimentPart:
    """One experiment on the page; `number` keeps its drawings apart from those of others.

    Attributes:
        cost: of the models that were asked, in words; empty: none was.
    """

    experiment: Experiment
    number: int = 1
    cost: str = ""

    @cached_property
    def search(self) -> Figure | None:
        """None where no candidate was scored."""
        return search_chart(f"search-{self.number}", self.experiment)

    @cached_property
    def lineage(self) -> Figure | None:
        """None where every candidate was made from the parent."""
        return program_lineage(f"lineage-{self.number}", self.experiment)

    @property
    def descent(self) -> tuple[str, ...]:
        """Which program was made from which, a line each; empty: there is no such drawing."""
        return descent(self.experiment)

    @property
    def verdict(self) -> str:
        """What is found, in a word or two."""
        found = self.experiment.finding
        return "Not measured" if found is None else wording.finding(found)

    @cached_property
    def best(self) -> Program | None:
        """The candidate that was confirmed."""
        wanted = self.experiment.best_program_id
        return next((each for each in self.experiment.programs if each.program_id == wanted), None)

    @cached_property
    def side_by_side(self) -> list[Program]:
        """Parent, baselines and the best candidate, as far as they were run on fresh data."""
        return [
            each
            for each in self.experiment.programs
            if (each.role is not Role.CANDIDATE or each.fate is Fate.CONFIRMED) and each.run_count
        ]

    @property
    def compared(self) -> list[Program]:
        """Candidates that came to full data and no further, the best first."""
        chosen = [each for each in self.experiment.programs if each.fate is Fate.COMPARED]
        return sorted(chosen, key=lambda each: -(each.gain or 0.0))

    @property
    def refused(self) -> list[Program]:
        """Proposals that could not be applied."""
        return [each for each in self.experiment.programs if each.fate is Fate.REFUSED]

    @property
    def measures(self) -> list[tuple[str, list[float | None]]]:
        """Means over fresh data of whatever else was scored, one for each program side by side."""
        fresh = [each for each in self.experiment.executions if each.stage is Stage.CONFIRMATION]
        names = sorted({name for each in fresh for name in each.measures}, key=_with_numbers)
        return [
            (
                name.replace("_", " "),
                [_mean_of(fresh, program, name) for program in self.side_by_side],
            )
            for name in names
        ]

    @property
    def patch(self) -> str:
        """From the parent to the best candidate, in the form of `diff -u`; empty: there is none."""
        parent = next((each for each in self.experiment.programs if each.role is Role.PARENT), None)
        if self.best is None or parent is None:
            return ""
        lines = difflib.unified_diff(
            parent.source.splitlines(),
            self.best.source.splitlines(),
            "program.py",
            self.best.program_id,
            lineterm="",
            n=1,
        )
        return "\n".join(INVISIBLE.sub(" ", line) for line in lines)

    @property
    def patch_block(self) -> Markdown:
        """The patch as a block of Markdown, which it cannot end."""
        return Markdown(f"{_FENCE}diff\n{self.patch.replace('~~~', '~ ~')}\n{_FENCE}")

    @property
    def failures(self) -> list[tuple[str, int, str]]:
        """Executions without a score by reason, with what the first of them said."""
        lost = [each for each in self.experiment.executions if each.unscored_reason is not None]
        counts = Counter(each.unscored_reason for each in lost)
        return [
            (
                wording.reason(reason),
                count,
                next(each.unscored_detail for each in lost if each.unscored_reason is reason),
            )
            for reason, count in counts.most_common()
            if reason is not None
        ]

    @property
    def took(self) -> str:
        """Executions and the time of their programs."""
        executions = self.experiment.executions
        seconds = sum(each.wall_seconds for each in executions)
        most = max((each.memory_bytes or 0 for each in executions), default=0)
        return (
            f"{figures.counted(len(executions), 'execution')}, {figures.duration(seconds)} of"
            f" programs{f', at most {most / 1e6:,.0f} MB of memory' if most else ''}"
        )


@dataclass(frozen=True)
class ExperimentPage(PublishedPage):
    """All of a published run."""

    head: ExperimentHead
    parts: tuple[ExperimentPart, ...]

    @property
    def units(self) -> tuple[Experiment, ...]:
        return tuple(part.experiment for part in self.parts)

    def page(self) -> Page:
        drawn = [figure for part in self.parts for figure in (part.search, part.lineage)]
        name = f"Experiment {self.head.run_id}"
        return rendered_page("experiment.md.jinja", name, drawn, page=self)

    def short_page(self) -> Page:
        """What is found of each task, with programs side by side."""
        return rendered_page("experiment_short.md.jinja", "", page=self)


def _with_numbers(name: str) -> list[tuple[bool, int, str]]:
    """By which 9 stands before 10."""
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
    """All of a published run. Raises UnknownNameError when it is not published."""
    with warehouse.reader() as connection:
        head = published_head(connection, EXPERIMENTS, run_id)
        return ExperimentPage(head, experiment_parts(connection, run_id))


def experiment_parts(
    connection: duckdb.DuckDBPyConnection, run_id: RunId
) -> tuple[ExperimentPart, ...]:
    """A part for each task of a published run."""
    found = published_units(connection, EXPERIMENTS, run_id)
    asked = {"run_id": run_id, "idea_ids": [each.task_id for each in found]}
    rows = rows_in(connection, statement("queries", "idea_costs"), asked)
    costs = {
        str(row["idea_id"]): figures.usd(row["cost_usd"], row["unknown_price_calls"])
        for row in rows
    }
    return tuple(
        ExperimentPart(each, number, costs.get(each.task_id, ""))
        for number, each in enumerate(found, start=1)
    )
