"""Reports of a run of ideas: an index and pages for each idea."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dashboards.render import wording
from dashboards.render.formats.bib_file import bib_file
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.page import Page, line, text
from dashboards.views.changes import changes_of
from dashboards.views.idea.first_page import FirstPage
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.nightly_page import night_figures
from dashboards.views.published_page import PublishedPage
from dashboards.views.ranking_page import ranking_view
from dashboards.views.run_page import run_view
from schemas.base import Noun
from schemas.boundary import ErrorBoundary, error_line
from schemas.identifiers import IdeaId, RunId
from schemas.literature.paper import Paper
from schemas.run import Run
from warehouse.layout import file_name, safe_name
from warehouse.reports import building_folder
from warehouse.row_models import FailureRow, IdeaReview, IdeaScore, RankedIdea
from warehouse.units.landing import move_into_place
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)

FIRST_PAGES, FULL_REPORTS = "ideas", "full"


@dataclass(frozen=True)
class EvaluatedRun(PublishedPage):
    """A published run of ideas."""

    warehouse: Warehouse
    head: Run

    @cached_property
    def units(self) -> Sequence[RankedIdea]:
        """The ideas by group and rank."""
        with self.warehouse.queries() as queries:
            return queries.ranking(self.head.run_id)

    @cached_property
    def scores(self) -> Sequence[IdeaScore]:
        with self.warehouse.queries() as queries:
            return queries.idea_scores(self.head.run_id)

    @cached_property
    def rejections(self) -> Sequence[FailureRow]:
        """Rejected entries of the idea file."""
        with self.warehouse.queries() as queries:
            return queries.rejections(self.head.run_id)

    @cached_property
    def alarms(self) -> tuple[str, ...]:
        """The alarms, a line each."""
        with self.warehouse.queries() as queries:
            (night,) = night_figures(queries, [self.head.run_id])
        return tuple(alarm.sentence for alarm in night.alarms)

    @cached_property
    def not_covered(self) -> str:
        """Sentence on ideas outside the literature; empty if there are none."""
        with self.warehouse.queries() as queries:
            left_out = queries.left_out_groups(self.head.run_id)
        return wording.ideas_not_covered(left_out, self.head.idea_count)

    @property
    def warnings(self) -> tuple[str, ...]:
        return (
            *self.alarms,
            *self.head.reading_remarks,
            *([self.not_covered] if self.not_covered else []),
        )

    def json_fields(self) -> dict[str, Any]:
        with self.warehouse.queries() as queries:
            changes = changes_of(queries, self.head)
        idea_changes = {"changes": changes.ideas} if changes is not None else {}
        return {"rejected": self.rejections, **idea_changes}

    def page(self) -> Page:
        with self.warehouse.queries() as queries:
            return run_view(queries, self.head.run_id, {})

    def bib(self) -> str:
        papers: dict[str, Paper] = {}
        with self.warehouse.queries() as queries:
            for review in queries.idea_reviews(self.head.run_id):
                papers |= {paper.paper_id: paper for paper in review.bibliography}
        return bib_file(papers.values())

    def json(self) -> str:
        """Return the reviews."""
        with self.warehouse.queries() as queries:
            return reviews_json(queries.idea_reviews(self.head.run_id))

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the index and all idea pages; raise OSError on failure."""
        del folder  # write_reports replaces the whole folder
        return write_reports(self.warehouse, self.head.run_id)


def run_page(warehouse: Warehouse, run_id: RunId) -> EvaluatedRun:
    """Return a published run; raise UnknownNameError without any."""
    with warehouse.queries(as_defined=False) as queries:
        return EvaluatedRun(warehouse, queries.run(run_id))


class ReviewFile(Noun):
    """JSON of one review; its schema is that of the data dictionary's nouns."""

    first_page: FirstPage
    review: IdeaReview


def reviews_json(reviews: Iterable[IdeaReview]) -> str:
    """Return a JSON list of reviews, one per idea."""
    files = [ReviewFile(first_page=idea_page(each).first, review=each) for each in reviews]
    return TypeAdapter(list[ReviewFile]).dump_json(files, indent=2).decode() + "\n"


def write_reports(warehouse: Warehouse, run_id: RunId) -> tuple[Path, Path]:
    """Write the reports of a run; return the paths of index.html and index.md.

    The folder `reports/<run_id>` holds `index`, first pages in `ideas/<name>`, full reports in
    `full/<name>` and, if the run is ranked by matches, `ranking`, each as `.md` and `.html`. Ideas
    are read and written a few at a time. The folder replaces an earlier one atomically.

    Raises:
        ConfigurationError: there is no such lake or published run.
    """
    safe_name("run", run_id)  # raises for a run_id that cannot name a folder
    target = warehouse.reports / run_id
    with warehouse.queries() as queries, building_folder(warehouse) as building:
        queries.run(run_id)
        for folder in (FIRST_PAGES, FULL_REPORTS):
            (building / folder).mkdir(parents=True)
        names: dict[IdeaId, str] = {}
        for review in queries.idea_reviews(run_id):
            idea_id = review.evaluation.idea.idea_id
            names[idea_id] = file_name(idea_id)
            _write_idea(building, names[idea_id], review)
        index = run_view(queries, run_id, names)
        ranking = ranking_view(queries, run_id)
        if ranking is not None:
            _write(building / "ranking", ranking)
        _write(building / "index", index)
        move_into_place(building, target)
    return target / "index.html", target / "index.md"


def _write_idea(building: Path, name: str, review: IdeaReview) -> None:
    """Write all pages of an idea; a page that fails shows the error instead."""
    boundary = ErrorBoundary()
    pages: dict[str, Page] = {}
    with boundary:
        page = idea_page(review)
        for folder in (FIRST_PAGES, FULL_REPORTS):
            pages[folder] = idea_view(page, full=folder == FULL_REPORTS, file_name=name)
    if boundary.error is not None:
        idea_id = review.evaluation.idea.idea_id
        logger.error("the report on idea %r cannot be made", idea_id, exc_info=boundary.error)
        reason = f"This report cannot be made ({error_line(boundary.error)})."
        error_page = Page(line(idea_id), (text(reason),))
        pages = dict.fromkeys((FIRST_PAGES, FULL_REPORTS), error_page)
    for folder, view in pages.items():
        _write(building / folder / name, view)


def _write(path: Path, page: Page) -> None:
    """Write `page` as Markdown and HTML; `path` has no extension."""
    path.with_name(f"{path.name}.md").write_text(markdown_page(page), "utf-8", "replace")
    path.with_name(f"{path.name}.html").write_text(html_page(page), "utf-8", "replace")
