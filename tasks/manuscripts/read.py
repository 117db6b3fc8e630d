"""Reading of one manuscript: PDF by page or by GROBID, LaTeX as one source, text as it is."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schemas.failure import Failure, SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.works.check_run import ManuscriptSource
from schemas.works.manuscripts import ManuscriptForm
from tasks.accounting.ledger import Ledger
from tasks.documents.document import (
    LatexSource,
    ParsedDocument,
    Refusal,
    decode_text,
    is_pdf,
    read_content,
)
from tasks.documents.grobid import read_with_grobid, read_without_grobid
from tasks.documents.latex import read_latex, read_latex_whole
from tasks.documents.pdf import read_pages
from tasks.manuscripts.collect import TEXT_SUFFIXES
from tasks.manuscripts.steps.reading import Reading
from tasks.text.words import sections_of_markdown

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


async def read_manuscript(
    source: ManuscriptSource,
    form: str,
    settings: DocumentSettings,
    grobid_url: str | None,
    ledger: Ledger,
    takes_pdf: Callable[[], bool],
) -> Manuscript | Refusal:
    """Read the manuscript in the requested form.

    Args:
        form: `auto` sends LaTeX as LaTeX, text as text, and a PDF as a file to engines that take one,
            else as text; `text` always sends text; `pdf` and `latex` require that format.
        takes_pdf: whether the engine reads attached PDFs; called only for `auto`.
    """
    path = source.path
    if path.is_file() and path.suffix.lower() == ".pdf":
        if form == "latex":
            detail = f"{path.name} is a PDF: use --form auto, pdf or text"
            return Refusal(Reason.WRONG_FORM, detail)
        attach = form == "pdf" or (form == "auto" and takes_pdf())
        return await _read_pdf(source, attach, settings, grobid_url, ledger)
    if form == "pdf":
        return Refusal(Reason.WRONG_FORM, f"{path.name} is no PDF: use --form auto")
    if path.is_file() and path.name.lower().endswith(TEXT_SUFFIXES):
        if form == "latex":
            detail = f"{path.name} is plain text: use --form auto or text"
            return Refusal(Reason.WRONG_FORM, detail)
        return await asyncio.to_thread(_read_text, source, settings)
    document: ParsedDocument | LatexSource | SourceFailure
    if form == "text":
        document = await read_latex(path, settings, source.included)
    else:
        document = await read_latex_whole(path, settings, source.included)
    if isinstance(document, SourceFailure):
        return Refusal(document.reason, document.detail)
    missing = {
        "missing_files": document.missing_files,
        "missing_preamble_files": document.missing_preamble_files,
    }
    if isinstance(document, ParsedDocument):
        text, headings = _flowing(document)
        return _manuscript(
            source, document.title, ManuscriptForm.TEXT, text, headings=headings, **missing
        )
    text = f"{document.body}\n\n{document.bibliography}".strip()
    return _manuscript(source, document.title, ManuscriptForm.LATEX, text, **missing)


async def _read_pdf(
    source: ManuscriptSource,
    attach: bool,
    settings: DocumentSettings,
    grobid_url: str | None,
    ledger: Ledger,
) -> Manuscript | Refusal:
    """Read the pages in any case: places such as `page 3` are checked against them."""
    name = source.path.name
    content = await asyncio.to_thread(read_content, source.path, settings.maximum_bytes)
    if isinstance(content, Refusal):
        return content
    if not is_pdf(content):
        return Refusal(Reason.NOT_A_PDF, f"{name} is not a PDF")
    document = await read_pages(content, name, settings)
    if isinstance(document, SourceFailure):
        return Refusal(document.reason, document.detail)
    text_with_marks = "\n".join(
        f"{PAGE_MARK.format(number=number)}\n{page}"
        for number, page in enumerate(document.pages, start=1)
    )
    manuscript = _manuscript(
        source,
        document.title,
        ManuscriptForm.PDF if attach else ManuscriptForm.TEXT,
        text_with_marks,
        pages=document.pages,
        headings=document.headings,
        attachment=content if attach else None,
    )
    if grobid_url is None or attach:
        return manuscript
    paper = await read_with_grobid(content, name, grobid_url, settings, ledger)
    if isinstance(paper, SourceFailure):
        return replace(manuscript, passed_over=read_without_grobid(name, paper))
    text, headings = _flowing(paper)
    return replace(manuscript, title=paper.title or manuscript.title, text=text, headings=headings)


def _read_text(source: ManuscriptSource, settings: DocumentSettings) -> Manuscript | Refusal:
    name = source.path.name
    content = read_content(source.path, settings.maximum_bytes)
    text = content if isinstance(content, Refusal) else decode_text(content, name)
    if isinstance(text, Refusal):
        return text
    lines = [bare_line for line in text.splitlines() if (bare_line := line.strip("# ").strip())]
    if not lines:
        return Refusal(Reason.NO_TEXT, f"{name} is empty")
    title = lines[0]
    if title == _FIELDS_FENCE:
        fields = itertools.takewhile(lambda line: line != _FIELDS_FENCE, lines[1:])
        titles = (line.removeprefix("title:") for line in fields if line.startswith("title:"))
        title = next(titles, "").strip(" \"'")
    headings = tuple(heading for heading, _ in sections_of_markdown(text) if heading)
    return _manuscript(source, title[:300], ManuscriptForm.TEXT, text, headings=headings)


def _manuscript(
    source: ManuscriptSource, title: str | None, form: ManuscriptForm, text: str, **fields: Any
) -> Manuscript:
    return Manuscript(
        manuscript_id=source.manuscript_id,
        name=source.path.name,
        title=title or "",
        form=form,
        content_sha256=source.content_sha256,
        text=text,
        **fields,
    )


def _flowing(document: ParsedDocument) -> tuple[str, tuple[str, ...]]:
    """Return a document as one text, and its headings."""
    pieces = [f"Abstract\n{document.abstract}"] if document.abstract else []
    pieces += [
        f"{'#' * min(section.level + 1, 6)} {section.heading}\n{section.text}"
        for section in document.sections
    ]
    return "\n\n".join(pieces), tuple(section.heading for section in document.sections)
