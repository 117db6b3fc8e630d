"""Reports as files of any format."""

from dashboards.render.formats.bib_file import bib_file
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.formats.report_format import ReportFormat
from dashboards.render.page import Page
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.pages_by_kind import page_of, published_view
from dashboards.views.published_page import PublishedPage
from dashboards.views.write_ranking import ranking_page
from dashboards.views.write_run import reviews_json
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from warehouse.units.published_work import published_kind
from warehouse.warehouse import Warehouse


def report_file(
    warehouse: Warehouse,
    run_id: RunId,
    idea_id: IdeaId | None,
    output_format: ReportFormat,
    *,
    ranking: bool = False,
    full: bool = False,
) -> bytes:
    """Return the report of published work, of an idea, or of a ranking by matches.

    Args:
        full: the whole report of an idea, not just the first page; `bib` and `json` are always
            whole.

    Raises:
        ConfigurationError: there is no such lake, the report cannot have this format, or `full` is
            given without an idea.
        UnknownNameError: there is no such run, idea or ranking.
    """
    if full and idea_id is None:
        raise ConfigurationError("a full report is of one idea: name the idea")
    if output_format in (ReportFormat.BIB, ReportFormat.JSON):
        if ranking:
            raise ConfigurationError(
                f"a ranking cannot be written as {output_format}; leave out --ranking"
            )
        return data(warehouse, run_id, idea_id, output_format)
    if ranking:
        page = ranking_page(warehouse, run_id).page()
    elif idea_id is not None:
        page = published_idea(warehouse, run_id, idea_id, full=full)
    else:
        page = published_view(warehouse, run_id)
    return document(page, output_format)


def document(page: Page, output_format: ReportFormat) -> bytes:
    """Return a page as `md`, `html`, `pdf` or `docx`.

    Raises:
        ConfigurationError: Typst or Pandoc refuses, in its words.
    """
    if output_format is ReportFormat.PDF:
        from dashboards.render.formats.pandoc import pdf_file

        return pdf_file(page)
    if output_format is ReportFormat.DOCX:
        from dashboards.render.formats.pandoc import word_file

        return word_file(page)
    write = html_page if output_format is ReportFormat.HTML else markdown_page
    return write(page).encode("utf-8", "replace")


def published_idea(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId, *, full: bool = False
) -> Page:
    """Return the first page of an idea; with `full` the whole report.

    Raises:
        ConfigurationError: there is no such lake, published run or idea.
    """
    with warehouse.queries() as queries:
        return idea_view(idea_page(queries.idea_review(run_id, idea_id)), full=full)


def data(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId | None, output_format: ReportFormat
) -> bytes:
    """Return cited papers as `bib`, or units as `json`, of a run or one idea.

    Raises:
        ConfigurationError: there is no such lake, published work or idea; or it has no such format.
    """
    if idea_id is None:
        with warehouse.queries() as queries:
            kind = published_kind(queries.connection, run_id)
        return file_of(page_of(kind, warehouse, run_id), output_format)
    with warehouse.queries() as queries:
        review = queries.idea_review(run_id, idea_id)
    if output_format is ReportFormat.JSON:
        return reviews_json([review]).encode()
    papers = {paper.paper_id: paper for paper in review.bibliography}
    return bib_file(papers.values()).encode("utf-8", "replace")


def file_of(page: PublishedPage, output_format: ReportFormat) -> bytes:
    """Return the page of published work as a file.

    Raises:
        ConfigurationError: the page cites no papers.
    """
    if output_format is ReportFormat.JSON:
        return page.json().encode()
    if output_format is not ReportFormat.BIB:
        return document(page.page(), output_format)
    bibliography = page.bib()
    if bibliography is None:
        raise ConfigurationError(
            f"it cites no works and cannot be written as {output_format}: choose md, html, pdf,"
            " docx or json"
        )
    return bibliography.encode("utf-8", "replace")
