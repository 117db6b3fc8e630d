"""The PDF of a manuscript with a comment at each problem."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from dashboards.views.write_check import CheckPage
from flows.cli.terminal import print_note, print_warning
from schemas.failure import SourceFailure
from schemas.settings import Settings
from schemas.text.patterns import bounded
from schemas.works.check_run import CheckRequest
from schemas.works.manuscripts import Problem
from tasks.documents.pdf import PdfComment, with_comments

_PAGE = bounded(r"\bpage (\d{1,4})")


def write_commented_pdf(page: CheckPage, request: CheckRequest, path: Path) -> tuple[Path, ...]:
    """Write the commented PDF of a check's only manuscript; return its path.

    Nothing if `path` or the manuscript is no PDF. A manuscript that cannot be commented is a
    warning.
    """
    pdf_sources = [source for source in request.units if source.path.suffix.lower() == ".pdf"]
    if path.suffix.lower() != ".pdf" or len(pdf_sources) != 1 or len(request.units) != 1:
        return ()
    (source,), settings = pdf_sources, Settings().documents
    comments = tuple(_comments(page))
    content, name = source.path.read_bytes(), source.path.name
    commented_pdf = asyncio.run(with_comments(content, name, comments, settings))
    if isinstance(commented_pdf, SourceFailure):
        print_warning(
            f"{path} is the report, without the manuscript's pages: {commented_pdf.detail}"
        )
        return ()
    path.write_bytes(commented_pdf.content)
    _, *at_quote = commented_pdf.at_quote
    lost_count = at_quote.count(False)
    sentence = f"{at_quote.count(True)} of {len(at_quote)} comments are at the sentence they quote"
    print_note(f"{sentence}, {lost_count} at the top of a page" if lost_count else sentence)
    return (path,)


def _comments(page: CheckPage) -> Iterator[PdfComment]:
    (check,) = page.checks
    attempts = [one for one in check.attempts if one.problem_count is not None]
    further_count = sum(len(page.further_problems(check, attempt)) for attempt in attempts)
    more = f" {further_count} more are in the report." if further_count else ""
    overview = f"Check by {page.head.engine}: {page.verdict} {page.scope_in_words}{more}"
    yield PdfComment(text=overview, elsewhere=overview)
    for attempt in attempts:
        for number, problem in enumerate(page.problems(check, attempt), start=1):
            yield _comment(f"{number}. {problem.problem}\n\n{problem.explanation}", problem)


def _comment(text: str, problem: Problem) -> PdfComment:
    body = f"{text}\n\nSecond look: {problem.second_look}" if problem.second_look else text
    place_text = f"Where: {problem.location or 'not said'}."
    location_note = (
        f"The sentence it points at was not found on the pages: “{problem.quote}”"
        if problem.quote
        else "It points at no sentence."
    )
    page = _PAGE.search(problem.location)
    return PdfComment(
        text=body,
        elsewhere=f"{body}\n\n{place_text} {location_note}",
        quote=problem.quote,
        page=max(int(page[1]), 1) if page else 1,
    )
