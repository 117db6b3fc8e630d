"""A check as a file: its report, or the manuscript's own PDF with a comment at every problem."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from dashboards.render.formats.any_format import data, file_of
from dashboards.render.formats.report_format import ReportFormat, format_of
from dashboards.views.write_check import CheckPage, check_page
from flows.cli.talk import print_note, print_warning
from schemas.errors import ConfigurationError
from schemas.failure import SourceFailure
from schemas.identifiers import RunId
from schemas.text.patterns import bounded
from schemas.works.check_run import CheckRequest, ManuscriptSource
from schemas.works.manuscripts import Problem
from tasks.documents.pdf import CommentedPdf, PdfComment, with_comments
from warehouse.warehouse import Warehouse

_PAGE = bounded(r"\bpage (\d{1,4})")


def check_output(path: Path, request: CheckRequest) -> None:
    """Raises ConfigurationError when nothing could be written there, before anything is read."""
    chosen = format_of(path.name)
    if chosen is ReportFormat.BIB:
        raise ConfigurationError(
            f"--output {path}: a check cites no papers; end it in .md or .html"
        )
    if any(path.resolve() == source.path.resolve() for source in request.sources):
        raise ConfigurationError(f"--output {path} is the manuscript itself: name another file")
    if chosen is ReportFormat.PDF:
        _only_pdf(request, path)


def _only_pdf(request: CheckRequest, path: Path) -> ManuscriptSource:
    """The manuscript whose pages take the comments."""
    if len(request.sources) > 1:
        raise ConfigurationError(
            f"--output {path}: comments go on the pages of one PDF, and"
            f" {len(request.sources)} manuscripts are named; end it in .html, .md or .json"
        )
    (source,) = request.sources
    if source.path.suffix.lower() != ".pdf":
        raise ConfigurationError(
            f"--output {path}: comments go on the pages of a PDF, and {source.path.name} is none;"
            " end it in .html, .md, .docx or .json"
        )
    return source


def write_check(path: Path, request: CheckRequest, run_id: RunId) -> None:
    """Write the published check in the format of the ending, in place of what was there; a PDF
    that cannot have comments is a warning.
    """
    warehouse = Warehouse(request.warehouse)
    chosen = format_of(path.name)
    if chosen is ReportFormat.PDF:
        told = _write_comments(path, request, run_id, warehouse)
        if told is None:
            return
        print_note(told)
    elif chosen is ReportFormat.JSON:
        path.write_bytes(data(warehouse, run_id, None, chosen))
    else:
        path.write_bytes(file_of(check_page(warehouse, run_id), chosen))
    print_note(f"written: {path}")


def _write_comments(
    path: Path, request: CheckRequest, run_id: RunId, warehouse: Warehouse
) -> str | None:
    """Where the comments stand, in a sentence; None: nothing was written, which was said."""
    source = _only_pdf(request, path)
    page = check_page(warehouse, run_id)
    comments = tuple(_comments(page))
    written = asyncio.run(
        with_comments(
            source.path.read_bytes(), source.path.name, comments, warehouse.settings.documents
        )
    )
    if isinstance(written, SourceFailure):
        print_warning(f"{path} was not written: {written.detail}")
        return None
    path.write_bytes(written.content)
    return _placed(written)


def _placed(written: CommentedPdf) -> str:
    _, *at_quote = written.at_quote
    lost = at_quote.count(False)
    told = f"{at_quote.count(True)} of {len(at_quote)} comments stand at the sentence they quote"
    return f"{told}, {lost} at the top of a page" if lost else told


def _comments(page: CheckPage) -> Iterator[PdfComment]:
    """One on the first page that says what was done, and one for each problem that is shown."""
    (check,) = page.checks
    attempts = [one for one in check.attempts if one.problem_count is not None]
    behind = sum(len(page.behind(check, attempt)) for attempt in attempts)
    more = f" {behind} more that stand are in the report." if behind else ""
    told = f"Check by {page.head.engine}: {page.verdict} {page.tested}{more}"
    yield PdfComment(text=told, elsewhere=told)
    for attempt in attempts:
        for number, problem in enumerate(page.problems(check, attempt), start=1):
            yield _comment(f"{number}. {problem.problem}\n\n{problem.explanation}", problem)


def _comment(said: str, problem: Problem) -> PdfComment:
    told = f"{said}\n\nSecond look: {problem.second_look}" if problem.second_look else said
    where = f"Where: {problem.location or 'not said'}."
    lost = (
        f"The sentence it points at was not found on the pages: “{problem.quote}”"
        if problem.quote
        else "It points at no sentence."
    )
    page = _PAGE.search(problem.location)
    return PdfComment(
        text=told,
        elsewhere=f"{told}\n\n{where} {lost}",
        quote=problem.quote,
        page=max(int(page[1]), 1) if page else 1,
    )
