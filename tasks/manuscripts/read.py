"""Reading of one manuscript: PDF by page or by GROBID, LaTeX as one source, text as it is."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from schemas.failure import Failure, SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.text.plain_files import PlainFileError, read_file
from schemas.works.check_run import ManuscriptSource
from schemas.works.manuscripts import ManuscriptForm
from tasks.accounting.ledger import Ledger
from tasks.documents.document import ParsedDocument
from tasks.documents.grobid import read_with_grobid
from tasks.documents.latex import read_latex, read_latex_whole
from tasks.documents.pdf import read_pages
from tasks.manuscripts.collect import TEXT_SUFFIXES
from tasks.manuscripts.steps.reading import Reading
from tasks.text.words import sections_of_markdown

# Manuscripts after reading.

PAGE_MARK = "[page {number}]"
_FIELDS_FENCE = "---"
"""Delimiter of the fields (title, authors, date) at the start of a Markdown manuscript."""


@dataclass(frozen=True)
class Manuscript:
    """Manuscript as a checker gets it; places named in a reply are checked against it.

    Attributes:
        text: with a line `[page N]` before each page if pages are known; LaTeX as one source.
        pages: text of each page; empty without pages.
        attachment: the PDF for engines that read one; None if the text is sent.
        passed_over: failure of a better parser if another one was used instead.
        missing_files: included files that are missing or cannot be followed.
        missing_preamble_files: likewise for files included by the preamble.
    """

    manuscript_id: str
    name: str
    title: str
    form: ManuscriptForm
    content_sha256: str
    text: str = field(repr=False)
    pages: tuple[str, ...] = field(default=(), repr=False)
    headings: tuple[str, ...] = field(default=(), repr=False)
    bibliography: str = field(default="", repr=False)
    attachment: bytes | None = field(default=None, repr=False)
    passed_over: Failure | None = None
    missing_files: tuple[str, ...] = ()
    missing_preamble_files: tuple[str, ...] = ()

    @property
    def shown_form(self) -> str:
        """Return the form shown in prompts: `latex`, `text`, or `pdf` for text with pages."""
        return "pdf" if self.pages else self.form.value

    @cached_property
    def reading(self) -> Reading:
        return Reading(self.shown_form, self.text)

    @property
    def word_count(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A manuscript that cannot be read."""

    reason: Reason
    detail: str


TakesPdf = Callable[[], bool]


async def read_manuscript(
    source: ManuscriptSource,
    form: str,
    settings: DocumentSettings,
    grobid_url: str | None,
    ledger: Ledger,
    takes_pdf: TakesPdf,
) -> Manuscript | Unreadable:
    """Read the manuscript in the requested form.

    Args:
        form: `auto` sends LaTeX as LaTeX, text as text, and a PDF as a file to engines that take one,
            else as text; `text` always sends text; `pdf` and `latex` require that format.
        takes_pdf: whether the engine reads attached PDFs; called only for `auto`.
    """
    path = source.path
    if path.is_file() and path.suffix.lower() == ".pdf":
        if form == "latex":
            return Unreadable(
                Reason.WRONG_FORM, f"{path.name} is a PDF: use --form auto, pdf or text"
            )
        return await _read_pdf(
            source, form == "pdf" or (form == "auto" and takes_pdf()), settings, grobid_url, ledger
        )
    if form == "pdf":
        return Unreadable(Reason.WRONG_FORM, f"{path.name} is no PDF: use --form auto")
    if path.is_file() and path.name.lower().endswith(TEXT_SUFFIXES):
        if form == "latex":
            return Unreadable(
                Reason.WRONG_FORM, f"{path.name} is plain text: use --form auto or text"
            )
        return await _read_text(source, settings)
    return await _read_latex(source, settings, as_text=form == "text")


async def _read_pdf(
    source: ManuscriptSource,
    attach: bool,
    settings: DocumentSettings,
    grobid_url: str | None,
    ledger: Ledger,
) -> Manuscript | Unreadable:
    """Read the pages in any case: places such as `page 3` are checked against them."""
    content = await _content(source.path, settings.maximum_bytes)
    if isinstance(content, Unreadable):
        return content
    if b"%PDF-" not in content[:1024]:
        return Unreadable(Reason.NOT_A_PDF, f"{source.path.name} is not a PDF")
    document = await read_pages(content, source.path.name, settings)
    if isinstance(document, SourceFailure):
        return Unreadable(document.reason, document.detail)
    text_with_marks = "\n".join(
        f"{PAGE_MARK.format(number=number)}\n{page}"
        for number, page in enumerate(document.pages, start=1)
    )
    manuscript = Manuscript(
        manuscript_id=source.manuscript_id,
        name=source.path.name,
        title=document.title or "",
        form=ManuscriptForm.PDF if attach else ManuscriptForm.TEXT,
        content_sha256=source.content_sha256,
        text=text_with_marks,
        pages=document.pages,
        headings=document.headings,
        attachment=content if attach else None,
    )
    if grobid_url is None or attach:
        return manuscript
    paper = await read_with_grobid(content, source.path.name, grobid_url, settings, ledger)
    if isinstance(paper, SourceFailure):
        detail = f"{paper.detail}; read without GROBID"
        return replace(
            manuscript,
            passed_over=Failure(
                stage="documents", subject=source.path.name, reason=paper.reason, detail=detail
            ),
        )
    return replace(
        manuscript,
        title=paper.title or manuscript.title,
        text=_flowing(paper),
        headings=_headings(paper),
    )


async def _read_latex(
    source: ManuscriptSource, settings: DocumentSettings, *, as_text: bool
) -> Manuscript | Unreadable:
    reader = read_latex if as_text else read_latex_whole
    document = await reader(source.path, settings, source.included)
    if isinstance(document, SourceFailure):
        return Unreadable(document.reason, document.detail)
    if isinstance(document, ParsedDocument):
        manuscript = _manuscript(
            source, document.title, ManuscriptForm.TEXT, _flowing(document), _headings(document)
        )
    else:
        text = f"{document.body}\n\n{document.bibliography}".strip()
        manuscript = _manuscript(source, document.title, ManuscriptForm.LATEX, text, ())
    return replace(
        manuscript,
        missing_files=document.missing_files,
        missing_preamble_files=document.missing_preamble_files,
    )


async def _read_text(
    source: ManuscriptSource, settings: DocumentSettings
) -> Manuscript | Unreadable:
    content = await _content(source.path, settings.maximum_bytes)
    if isinstance(content, Unreadable):
        return content
    try:
        text = content.decode("utf-8-sig").replace("\x00", "")
    except UnicodeDecodeError:
        return Unreadable(Reason.DAMAGED, f"{source.path.name} is no UTF-8 text: save it as UTF-8")
    lines = [
        stripped_line for line in text.splitlines() if (stripped_line := line.strip("# ").strip())
    ]
    if not lines:
        return Unreadable(Reason.NO_TEXT, f"{source.path.name} is empty")
    headings = tuple(heading for heading, _ in sections_of_markdown(text) if heading)
    return _manuscript(source, _title(lines)[:300], ManuscriptForm.TEXT, text, headings)


def _title(lines: Sequence[str]) -> str:
    """Return the title field of a leading block between dashes, else the first line."""
    if lines[0] != _FIELDS_FENCE:
        return lines[0]
    fields = itertools.takewhile(lambda line: line != _FIELDS_FENCE, lines[1:])
    titles = (line.removeprefix("title:") for line in fields if line.startswith("title:"))
    return next(titles, "").strip(" \"'")


def _manuscript(
    source: ManuscriptSource,
    title: str | None,
    form: ManuscriptForm,
    text: str,
    headings: tuple[str, ...],
) -> Manuscript:
    return Manuscript(
        manuscript_id=source.manuscript_id,
        name=source.path.name,
        title=title or "",
        form=form,
        content_sha256=source.content_sha256,
        text=text,
        headings=headings,
    )


async def _content(path: Path, maximum_bytes: int) -> bytes | Unreadable:
    try:
        return await asyncio.to_thread(read_file, path, maximum_bytes)
    except PlainFileError as error:
        return Unreadable(error.reason, error.named)
    except OSError as error:
        return Unreadable(Reason.UNREACHABLE, f"{path.name} cannot be read: {error.strerror}")


def _flowing(document: ParsedDocument) -> str:
    pieces = [f"Abstract\n{document.abstract}"] if document.abstract else []
    return "\n\n".join(
        [
            *pieces,
            *(
                f"{'#' * min(section.level + 1, 6)} {section.heading}\n{section.text}"
                for section in document.sections
            ),
        ]
    )


def _headings(document: ParsedDocument) -> tuple[str, ...]:
    return tuple(section.heading for section in document.sections)
