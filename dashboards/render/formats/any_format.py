"""A report in any of the formats."""

from dashboards.render.formats.bib_file import bib_file
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.formats.report_format import ReportFormat
from dashboards.render.page import Page
from dashboards.views.any_run import any_view, page_of
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
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
    """The report of a run, a check, a survey or a benchmark; of one idea of a run; or of a run's
    ranking by matches.

    Args:
        full: of an idea all of it, not the first page alone; `bib` and `json` hold all anyway.

    Raises:
        ConfigurationError: no such lake, a format the report cannot have, or `full` without an
            idea.
        UnknownNameError: no such run, idea or ranking.
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
        page = any_view(warehouse, run_id)
    return document(page, output_format)


def document(page: Page, output_format: ReportFormat) -> bytes:
    """A page as `md`, `html`, `pdf` or `docx`.

    Raises:
        ConfigurationError: Typst or Pandoc refuses, in its words.
    """
    if output_format is ReportFormat.PDF:
        from dashboards.render.formats.pdf import pdf_file

        return pdf_file(page)
    if output_format is ReportFormat.DOCX:
        from dashboards.render.formats.pandoc import word_file

        return word_file(page)
    write = html_page if output_format is ReportFormat.HTML else markdown_page
    return write(page).encode("utf-8", "replace")


def published_idea(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId, *, full: bool = False
) -> Page:
    """The first page of one idea; with `full` further concerns, evidence, references and cost too.

    Raises:
        ConfigurationError: no such lake, published run or idea.
    """
    with warehouse.queries() as queries:
        return idea_view(idea_page(queries.idea_review(run_id, idea_id)), full=full)


def data(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId | None, output_format: ReportFormat
) -> bytes:
    """Every cited paper as `bib`, or the reviews as `json`, of one idea or of all of a run; the
    papers and the surveys of a survey; of a check of manuscripts `json` alone.

    Raises:
        ConfigurationError: no such lake, published run, survey, check or idea; or what cannot be
            written so.
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
    """The page of a published run as a file.

    Raises:
        ConfigurationError: such a page cites no works.
    """
    if output_format is ReportFormat.JSON:
        return page.json().encode()
    if output_format is not ReportFormat.BIB:
        return document(page.page(), output_format)
    works = page.bib()
    if works is None:
        raise ConfigurationError(
            f"it cites no works and cannot be written as {output_format}: choose md, html, pdf,"
            " docx or json"
        )
    return works.encode("utf-8", "replace")
