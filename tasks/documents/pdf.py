"""PDF without GROBID: read by pypdfium2 in a child process with limits, put together by its outline
or its fonts; and problems written as comments into a copy of it.
"""

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from schemas.base import Noun
from schemas.failure import SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.documents.child import Ended, run_child, verdict
from tasks.documents.document import PagedText, ParsedDocument
from tasks.documents.headings import Line
from tasks.documents.layout import HYPHEN_AT_LINE_END, PARSER, OutlineEntry, document_of
from tasks.documents.pdf_child import (
    EXIT_DAMAGED,
    EXIT_ENCRYPTED,
    EXIT_TOO_MANY_PAGES,
    EXIT_TOO_MUCH_TEXT,
    MAXIMUM_CHARACTERS,
)
from tasks.web.calls import failure

VERSION = 1
"""Raised whenever the same PDF would give other sections: it is part of the cache key."""

_CHILD = Path(__file__).with_name("pdf_child.py")


class _Read(Noun):
    """What the child found in a PDF. It has read hostile bytes: nothing is taken unchecked."""

    page_count: int = Field(ge=0)
    title: str
    lines: tuple[Line, ...]
    outline: tuple[OutlineEntry, ...]

    @model_validator(mode="after")
    def _on_its_pages(self) -> "_Read":
        if not all(
            0 <= line.page < self.page_count
            and math.isfinite(line.size)
            and math.isfinite(line.top)
            for line in self.lines
        ):
            raise ValueError("a line lies on no page")
        if not all(entry.level >= 0 for entry in self.outline):
            raise ValueError("a bookmark lies above the first level")
        return self


async def read_pdf(
    content: bytes, name: str, settings: DocumentSettings
) -> ParsedDocument | SourceFailure:
    """Headed sections of a PDF, or why it cannot be read; costs at most `parse_seconds` of
    processor time.

    `name` stands in the failure. The child gets the document and nothing else: no secrets in its
    environment.
    """
    read = await _lines(content, name, settings)
    return (
        read
        if isinstance(read, SourceFailure)
        else await asyncio.to_thread(document_of, read.lines, read.outline, read.title)
    )


async def read_pages(
    content: bytes, name: str, settings: DocumentSettings
) -> PagedText | SourceFailure:
    """The text of every page, or why it cannot be read; within the limits of `read_pdf`.

    A page without text is empty.
    """
    read = await _lines(content, name, settings)
    if isinstance(read, SourceFailure):
        return read
    document = await asyncio.to_thread(document_of, read.lines, read.outline, read.title)
    pages: list[list[str]] = [[] for _ in range(read.page_count)]
    for line in read.lines:
        pages[line.page].append(line.text)
    return PagedText(
        title=document.title,
        pages=tuple(
            "\n".join(page).replace(HYPHEN_AT_LINE_END + "\n", "").replace(HYPHEN_AT_LINE_END, "")
            for page in pages
        ),
        headings=tuple(section.heading for section in document.sections),
    )


async def _lines(content: bytes, name: str, settings: DocumentSettings) -> _Read | SourceFailure:
    cpu_seconds = max(int(settings.parse_seconds), 1)
    limits = (cpu_seconds, settings.parse_memory_bytes, settings.maximum_pages)
    ended = await run_child((str(_CHILD), *map(str, limits)), content, cpu_seconds)
    if ended.code != 0:
        return failure(PARSER, name, *refusal(ended, settings))
    try:
        read = _Read.model_validate_json(ended.output)
    except ValidationError:
        detail = "the reader's answer is none: the PDF is damaged or hostile"
        return failure(PARSER, name, Reason.DAMAGED, detail)
    if not read.lines:
        detail = f"none of the {read.page_count} pages holds text (a scan?)"
        return failure(PARSER, name, Reason.NO_TEXT, detail)
    return read


def refusal(ended: Ended, settings: DocumentSettings) -> tuple[Reason, str]:
    """Why a child that reads PDFs gave nothing."""
    own = {
        EXIT_DAMAGED: (Reason.DAMAGED, "the PDF is damaged"),
        EXIT_ENCRYPTED: (Reason.ENCRYPTED, "the PDF needs a password"),
        EXIT_TOO_MANY_PAGES: (
            Reason.TOO_MANY_PAGES,
            f"{ended.errors.strip()[:12]} pages; the limit is {settings.maximum_pages}"
            " (ASSAY_DOCUMENTS__MAXIMUM_PAGES)",
        ),
        EXIT_TOO_MUCH_TEXT: (
            Reason.TOO_LARGE,
            f"more than {MAXIMUM_CHARACTERS:,} characters of text",
        ),
    }
    return own.get(ended.code or 0) or verdict(ended, settings, "the PDF")


class PdfComment(Noun):
    """One comment, and where it belongs."""

    text: str = Field(min_length=1, description="Shown where its quote was found.")
    elsewhere: str = Field(min_length=1, description="Shown at a page's top where it was not.")
    quote: str = Field(default="", description="Marked on the page; empty: there is nothing.")
    page: int = Field(default=1, ge=1, description="Whose top it goes to without its quote.")


class CommentedPdf(Noun):
    """The PDF with its comments.

    Attributes:
        at_quote: of each comment, whether its quote was found and marked.
    """

    content: bytes = Field(repr=False)
    at_quote: tuple[bool, ...]


async def with_comments(
    content: bytes, name: str, comments: Sequence[PdfComment], settings: DocumentSettings
) -> CommentedPdf | SourceFailure:
    """The PDF with `comments` added to those it has, or why it cannot have them; within the limits
    of `read_pdf`.

    A quote is looked for by its letters and digits alone, so that line ends, hyphens and ligatures
    make no difference; one that two pages share is marked on the page where it begins.
    """
    cpu_seconds = max(int(settings.parse_seconds), 1)
    limits = (cpu_seconds, settings.parse_memory_bytes, settings.maximum_pages)
    asked = json.dumps([comment.model_dump() for comment in comments]).encode()
    ended = await run_child(
        ("-B", "-m", "tasks.documents.pdf_comments_child", *map(str, limits)),
        asked + b"\n" + content,
        cpu_seconds,
    )
    if ended.code != 0:
        return failure(PARSER, name, *refusal(ended, settings))
    placed, _, commented = ended.output.partition(b"\n")
    try:
        return CommentedPdf(content=commented, at_quote=tuple(json.loads(placed)))
    except (ValueError, TypeError, ValidationError):
        return failure(PARSER, name, Reason.DAMAGED, "the PDF could not be written with comments")
