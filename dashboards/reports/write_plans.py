"""Plans of experiments for leading ideas: a checklist that a person can start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dashboards.reports.html_page import html_page
from dashboards.reports.render import rendered
from schemas.ideation import IdeaVersion
from schemas.recommendation import Recommendation, ResourceKind
from warehouse.parquet import write_bytes


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


def write_plans(folder: Path, plans: Sequence[PlannedExperiment]) -> tuple[Path, ...]:
    """Write `plans.html` and `plans.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    markdown = rendered("plans.md.jinja", plans=plans)
    texts = {"plans.html": html_page(markdown, title="Plans of experiments"), "plans.md": markdown}
    for name, text in texts.items():
        write_bytes(folder / name, text.encode("utf-8", "replace"))
    return tuple(folder / name for name in texts)
