"""Plans of experiments for the leading ideas of an ideation, from what works near them used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dashboards.render.render import rendered_page, written
from dashboards.views.write_ideation import ideation_page
from flows.cli.literature.recommend import recommendation_warnings
from flows.works.literature.recommending import recommend_about
from schemas.literature.recommendation import Recommendation, ResourceKind
from schemas.options.literature_options import RecommendOptions
from schemas.settings import Settings
from schemas.works.ideation import IdeaVersion
from schemas.works.ideation_run import IdeationHead, IdeationRequest
from tasks.metrics.estimate import items_needed, pairs_needed
from warehouse.objects.shared_reports import share_reports
from warehouse.parquet import write_bytes
from warehouse.warehouse import Warehouse

RECOMMENDED = 3
DEVIATIONS = (0.5, 1.0, 2.0)
SHARE, DIFFERENCES = 0.8, (0.01, 0.02, 0.05)


@dataclass(frozen=True, slots=True)
class PlannedExperiment:
    """What stands in the plan of one idea.

    Attributes:
        remarks: what could not be recommended, and why.
        comparisons: how many are made, for which `runs` and `items` are corrected.
        runs: by a difference in deviations of one pair, pairs for each comparison and runs in all.
        items: by a difference in the share of right answers, test items.
        share: the share that `items` begin from.
    """

    version: IdeaVersion
    recommendations: tuple[Recommendation, ...]
    remarks: tuple[str, ...]
    comparisons: int
    runs: tuple[tuple[float, int, int], ...]
    items: tuple[tuple[float, int], ...]
    share: float

    def of_kind(self, kind: str) -> tuple[Recommendation, ...]:
        """Recommended data sets, baselines or metrics, the best first."""
        return tuple(each for each in self.recommendations if each.kind == ResourceKind(kind))


def plan_experiments(
    request: IdeationRequest, head: IdeationHead, most: int, settings: Settings
) -> tuple[Path, ...]:
    """Write the plans of the best `most` ideas beside the report; none where there is no idea."""
    warehouse = Warehouse(request.warehouse, settings)
    best = ideation_page(warehouse, head.run_id).best[:most]
    if not best:
        return ()

    def planned() -> Iterator[PlannedExperiment]:
        asked = RecommendOptions(
            warehouse=request.warehouse,
            literature=request.literature,
            limit=RECOMMENDED,
        )
        for version in best:
            text, cutoff = version.text or "", version.cutoff_date
            found = recommend_about(text, cutoff, asked, settings)
            remarks = tuple(recommendation_warnings(found))
            yield planned_experiment(version, found.recommendations, remarks)

    paths = write_plans(warehouse.reports / head.run_id, tuple(planned()))
    share_reports(warehouse, paths)
    return paths


def planned_experiment(
    version: IdeaVersion, recommendations: tuple[Recommendation, ...], remarks: tuple[str, ...]
) -> PlannedExperiment:
    """One with the runs it takes: the idea meets each baseline on each data set, and where none is
    known there has to be one.
    """
    kinds = [each.kind for each in recommendations]
    baselines, sets = (
        max(1, kinds.count(kind)) for kind in (ResourceKind.BASELINE, ResourceKind.DATA_SET)
    )
    comparisons = baselines * sets
    needed = [(size, pairs_needed(size, comparisons)) for size in DEVIATIONS]
    return PlannedExperiment(
        version,
        recommendations,
        remarks,
        comparisons,
        tuple((size, pairs, pairs * (1 + baselines) * sets) for size, pairs in needed),
        tuple((each, items_needed(SHARE, each, comparisons)) for each in DIFFERENCES),
        SHARE,
    )


def write_plans(folder: Path, plans: Sequence[PlannedExperiment]) -> tuple[Path, ...]:
    """Write `plans.html` and `plans.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    page = rendered_page("plans.md.jinja", "Plans of experiments", plans=plans)
    texts = {"plans.html": written(page, "html"), "plans.md": written(page, "md")}
    for name, text in texts.items():
        write_bytes(folder / name, text.encode("utf-8", "replace"))
    return tuple(folder / name for name in texts)
