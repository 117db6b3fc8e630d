"""The manuscript's own PDF with a comment at every problem of its check."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from dashboards.views.write_check import CheckPage
from flows.cli.talk import print_note, print_warning
from schemas.failure import SourceFailure
from schemas.settings import Settings
from schemas.text.patterns import bounded
from schemas.works.check_run import CheckRequest
from schemas.works.manuscripts import Problem
from tasks.documents.pdf import CommentedPdf, PdfComment, with_comments

_PAGE = bounded(r"\bpage (\d{1,4})")


def write_commented_pdf(page: CheckPage, request: CheckRequest, path: Path) -> tuple[Path, ...]:
    """Write the comments where `path` is a PDF and so is the one manuscript; the file.

    A manuscript that cannot have comments is a warning.
    """
    own = [source for source in request.units if source.path.suffix.lower() == ".pdf"]
    if path.suffix.lower() != ".pdf" or len(own) != 1 or len(request.units) != 1:
        return ()
    (source,), settings = own, Settings().documents
    comments = tuple(_comments(page))
    content, name = source.path.read_bytes(), source.path.name
    written = asyncio.run(with_comments(content, name, comments, settings))
    if isinstance(written, SourceFailure):
        print_warning(f"{path} is the report, without the manuscript's pages: {written.detail}")
        return ()
    path.write_bytes(written.content)
    print_note(_placed(written))
    return (path,)


def _placed(written: CommentedPdf) -> str:
    _, *at_quote = written.at_quote
    lost = at_quote.count(False)
    told = f"{at_quote.count(True)} of {len(at_quote)} comments stand at the sentence they quote"
    return f"{told}, {lost} at the top of a page" if lost else told


def _comments(page: CheckPage) -> Iterator[PdfComment]:
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
