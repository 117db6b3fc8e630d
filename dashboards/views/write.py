"""Writes the reports of a run as files: an index and one page per idea, each as Markdown and as
HTML.
"""

import logging
from pathlib import Path

from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.page import Page, line, text
from dashboards.views.alarms import USUAL
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.ranking_page import ranking_page
from dashboards.views.run_page import run_page
from schemas.boundary import ErrorBoundary, in_a_word
from schemas.identifiers import IdeaId, RunId
from schemas.settings import AlarmSettings
from warehouse.answers import IdeaReview
from warehouse.layout import file_name, safe_name
from warehouse.unfinished_reports import building_folder
from warehouse.units.landing import move_into_place
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)

FIRST_PAGES, FULL_REPORTS = "ideas", "full"


def write_reports(
    warehouse: Warehouse, run_id: RunId, *, thresholds: AlarmSettings = USUAL
) -> tuple[Path, Path]:
    """Write `reports/<run_id>/index.md`, `index.html`, `ideas/<name>.md`, `.html`; the paths of
    index.html and index.md.

    A folder `full` beside `ideas`, which holds first pages, has the full reports under the same
    names.

    A run that is ranked by matches has `ranking.md` and `ranking.html` too. Ideas are read and
    written a few at a time. The folder appears whole: an earlier report is replaced at the end, or
    stays.

    Raises:
        ConfigurationError: no such lake or published run.
    """
    safe_name("run", run_id)  # refuses a run_id that cannot name a folder
    target = warehouse.reports / run_id
    with (
        warehouse.queries() as queries,
        building_folder(warehouse) as building,
    ):
        queries.run(run_id)
        for folder in (FIRST_PAGES, FULL_REPORTS):
            (building / folder).mkdir(parents=True)
        names: dict[IdeaId, str] = {}
        for review in queries.idea_reviews(run_id):
            idea_id = review.evaluation.idea.idea_id
            names[idea_id] = file_name(idea_id)
            _write_idea(building, names[idea_id], review)
        index = run_page(queries, run_id, names, thresholds)
        ranking = ranking_page(queries, run_id)
        if ranking is not None:
            _write(building / "ranking", ranking)
        _write(building / "index", index)
        move_into_place(building, target)
    return target / "index.html", target / "index.md"


def _write_idea(building: Path, name: str, review: IdeaReview) -> None:
    """All pages of an idea.

    Where one cannot be made it says so, and the other ideas have theirs.
    """
    boundary = ErrorBoundary()
    pages: dict[str, Page] = {}
    with boundary:
        page = idea_page(review)
        for folder in (FIRST_PAGES, FULL_REPORTS):
            pages[folder] = idea_view(page, full=folder == FULL_REPORTS, file_name=name)
    if boundary.error is not None:
        idea_id = review.evaluation.idea.idea_id
        logger.error("the report on idea %r cannot be made", idea_id, exc_info=boundary.error)
        why = f"This report cannot be made ({in_a_word(boundary.error)})."
        failed = Page(line(idea_id), (text(why),))
        pages = dict.fromkeys((FIRST_PAGES, FULL_REPORTS), failed)
    for folder, view in pages.items():
        _write(building / folder / name, view)


def _write(path: Path, page: Page) -> None:
    """Write `page` as Markdown and HTML; `path` has no ending."""
    path.with_name(f"{path.name}.md").write_text(markdown_page(page), "utf-8", "replace")
    path.with_name(f"{path.name}.html").write_text(html_page(page), "utf-8", "replace")
