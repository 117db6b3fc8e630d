"""Report on a ranking by matches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dashboards.render.page import Page
from dashboards.views.published_page import PublishedPage
from dashboards.views.ranking_page import ranking_view
from dashboards.views.write_run import write_reports
from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from schemas.judgement.ranking import GroupSummary, RankingHead
from schemas.run import Run
from warehouse.kinds.rankings.queries import default_ranking, group_summaries, ideas_by_ranking
from warehouse.row_models import RankedIdea
from warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class RankedRun(PublishedPage):
    """A published ranking."""

    warehouse: Warehouse
    head: RankingHead

    @cached_property
    def run(self) -> Run:
        """The ranked run."""
        with self.warehouse.queries(as_defined=False) as queries:
            return queries.run(self.head.run_id)

    @cached_property
    def units(self) -> Sequence[RankedIdea]:
        """The ideas by group and rank."""
        with self.warehouse.queries() as queries:
            return ideas_by_ranking(queries, self.head)

    @cached_property
    def groups(self) -> Sequence[GroupSummary]:
        """The summary of each group."""
        with self.warehouse.queries() as queries:
            return group_summaries(queries, self.head)

    def json_fields(self) -> dict[str, Any]:
        return {"ranking": self.head, "groups": self.groups}

    def page(self) -> Page:
        with self.warehouse.queries() as queries:
            page = ranking_view(queries, self.head.run_id, self.head)
        assert page is not None
        return page

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write all reports of the run; raise OSError on failure."""
        del folder  # write_reports replaces the whole folder
        return write_reports(self.warehouse, self.head.run_id)


def ranking_page(warehouse: Warehouse, run_id: RunId) -> RankedRun:
    """Return the ranking of a run that `group_rankings` shows.

    Raises:
        UnknownNameError: the run is not published, or was not ranked by matches.
    """
    with warehouse.queries() as queries:
        queries.run(run_id)
        head = default_ranking(queries, run_id)
    if head is None:
        raise UnknownNameError(f"run {run_id} has no ranking by matches yet: `assay rank {run_id}`")
    return RankedRun(warehouse, head)
