"""Experiment plans for the best ideas of an ideation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dashboards.render import page as pg
from dashboards.render.figures import plural
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.prose import prose, prose_line
from dashboards.views.write_ideation import ideation_page
from flows.cli.literature.recommend import recommendation_warnings
from flows.works.literature.recommendation import recommend_about
from schemas.literature.recommendation import Recommendation, ResourceKind
from schemas.options.commands import RecommendOptions
from schemas.settings import Settings
from schemas.works.ideation import IdeaVersion
from schemas.works.ideation_run import IdeationHead, IdeationRequest
from tasks.metrics.estimate import items_needed, pairs_needed
from warehouse.parquet import write_bytes
from warehouse.reports import share_reports
from warehouse.warehouse import Warehouse

RECOMMENDED = 3
DEVIATIONS = (0.5, 1.0, 2.0)
SHARE, DIFFERENCES = 0.8, (0.01, 0.02, 0.05)
_DATA_SET = ResourceKind.DATA_SET


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """Resources and sample sizes for one idea.

    The idea is compared with each baseline on each data set; there is at least one of both.

    Attributes:
        remarks: missing recommendations, with reasons.
    """

    version: IdeaVersion
    recommendations: tuple[Recommendation, ...]
    remarks: tuple[str, ...]

    def of_kind(self, kind: ResourceKind) -> tuple[Recommendation, ...]:
        """Return recommended data sets, baselines or metrics, the best first."""
        return tuple(each for each in self.recommendations if each.kind is kind)

    @property
    def comparisons(self) -> int:
        """Number of comparisons for which sample sizes are corrected."""
        baselines, data_sets = self.of_kind(ResourceKind.BASELINE), self.of_kind(_DATA_SET)
        return max(1, len(baselines)) * max(1, len(data_sets))

    @property
    def runs(self) -> Iterator[tuple[float, int, int]]:
        """Effect size in deviations of a pair, pairs per comparison, and runs in all."""
        data_sets = max(1, len(self.of_kind(_DATA_SET)))
        for size in DEVIATIONS:
            pairs = pairs_needed(size, self.comparisons)
            yield size, pairs, pairs * (self.comparisons + data_sets)


def plan_experiments(
    request: IdeationRequest, head: IdeationHead, most: int, settings: Settings
) -> tuple[Path, ...]:
    """Write plans of the best `most` ideas to the reports; none without ideas."""
    warehouse = Warehouse(request.warehouse, settings)
    best = ideation_page(warehouse, head.run_id).best[:most]
    if not best:
        return ()

    options = RecommendOptions(
        warehouse=request.warehouse, literature=request.literature, limit=RECOMMENDED
    )
    plans = []
    for version in best:
        text, cutoff = version.text or "", version.cutoff_date
        recommendation = recommend_about(text, cutoff, options, settings)
        remarks = tuple(recommendation_warnings(recommendation))
        plans.append(ExperimentPlan(version, recommendation.recommendations, remarks))
    paths = write_plans(warehouse.reports / head.run_id, plans)
    share_reports(warehouse, paths)
    return paths


def write_plans(folder: Path, plans: Sequence[ExperimentPlan]) -> tuple[Path, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    blocks = (pg.text(_BEGINNING), *(block for plan in plans for block in _plan(plan)))
    page = pg.Page(pg.line("Plans of experiments"), blocks)
    texts = {"plans.html": html_page(page), "plans.md": markdown_page(page)}
    for name, text in texts.items():
        write_bytes(folder / name, text.encode("utf-8", "replace"))
    return tuple(folder / name for name in texts)


_BEGINNING = (
    "Data sets, baselines and metrics are those that works near an idea used; no model was asked. A"
    " plan is where a person begins: tick what is settled, strike out what does not fit."
)
_KINDS = (
    (_DATA_SET, "Data sets", "name the data, their licence and their split"),
    (
        ResourceKind.BASELINE,
        "Baselines",
        "the simplest thing that could work, and the closest work",
    ),
    (ResourceKind.METRIC, "Metrics", "what a person who uses it would count"),
)


def _plan(plan: ExperimentPlan) -> Iterator[pg.Block]:
    version = plan.version
    yield pg.heading(f"{version.version_id}: {version.title}")
    yield pg.heading("Before the first run", level=3)
    wrong = "What would show the idea to be wrong is written down. "
    yield pg.to_do(
        (
            pg.line("The question is settled. ", prose_line(version.problem)),
            pg.line(wrong, prose_line(version.falsifier)),
            "One metric decides; it is named before anything is measured.",
            "The number of runs is fixed by the table below.",
        )
    )
    for kind, title, remedy in _KINDS:
        yield pg.heading(title, level=3)
        none = f"None is known from works near the idea: {remedy}."
        yield pg.to_do([*map(_recommendation_line, plan.of_kind(kind))] or [none])
    yield from map(pg.note, plan.remarks)
    yield pg.heading("How many runs", level=3)
    yield pg.text(
        f"{plural(plan.comparisons, 'comparison')} (each baseline on each data set). A difference"
        " that is there is to be seen four times of five, and a false one at most once in twenty over"
        " all comparisons together (Bonferroni). Runs of two systems with the same seed and split"
        " make a pair."
    )
    sizes = ("difference, in deviations of one pair:", "pairs for each comparison:", "runs in all:")
    yield pg.table(sizes, ((str(size), pairs, runs) for size, pairs, runs in plan.runs))
    yield pg.text(
        f"Where the metric is a share of right answers near {SHARE}, each system needs so many"
        " test items (fewer where all answer the same ones):"
    )
    items = ((str(each), items_needed(SHARE, each, plan.comparisons)) for each in DIFFERENCES)
    yield pg.table(("difference:", "test items:"), items)
    command = pg.code(f"assay experiment init FOLDER --idea {version.version_id}")
    yield pg.to_do(
        (
            "The deviation of one pair is measured by a few runs of one baseline with other seeds,"
            " and the row is chosen by it.",
            "Cost: hours and price of one run, times the runs of that row.",
            "The best is confirmed on seeds and data that were not used to choose it.",
            pg.line(command, " drafts the task, where programs can try the idea."),
        )
    )
    yield pg.heading("What the proposal says of its experiment", level=3)
    yield from prose(version.experiment)


def _recommendation_line(each: Recommendation) -> pg.Line:
    uses = "; ".join(
        f"{use.title} ({use.year or 'no year'})" + (f": “{use.quote}”" if use.quote else "")
        for use in each.uses[:2]
    )
    return pg.line(pg.strong(each.name), f". {each.reason}: {uses}")
