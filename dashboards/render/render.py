"""Published pages of ideas and rankings, and pages as text."""

from typing import Literal

from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.page import Page
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.ranking_page import ranking_view
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, RunId
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.units.reading import published_head
from warehouse.warehouse import Warehouse

OutputFormat = Literal["md", "html"]


def published_idea(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId, *, full: bool = False
) -> Page:
    """The first page of one idea; with `full` further concerns, evidence, references and cost too.

    Raises:
        ConfigurationError: no such lake, published run or idea.
    """
    with warehouse.queries() as queries:
        return idea_view(idea_page(queries.idea_review(run_id, idea_id)), full=full)


def written(page: Page, output_format: OutputFormat) -> str:
    """A page as text."""
    return markdown_page(page) if output_format == "md" else html_page(page)


def published_ranking(
    warehouse: Warehouse, run_id: RunId, *, ranking_id: str | None = None
) -> Page:
    """Leaderboards, dimension profiles, match matrices and reasons of a ranking.

    Args:
        ranking_id: None: the ranking that `group_rankings` shows.

    Raises:
        ConfigurationError: no such lake, published run or ranking.
    """
    with warehouse.queries() as queries:
        head = None
        if ranking_id is not None:
            head = published_head(queries.connection, RANKINGS, run_id, ranking_id)
        page = ranking_view(queries, run_id, head)
    if page is None:
        raise UnknownNameError(f"run {run_id} has no ranking by matches yet: `assay rank {run_id}`")
    return page
