"""PDF parsing without GROBID (pypdfium2 in a limited child process), and PDF comments.

Sections follow from the outline if it is usable, else from font sizes.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError, model_validator

from schemas.base import Noun
from schemas.failure import SourceFailure
from schemas.literature.paper import SectionKind
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.text.patterns import DOTALL, IGNORECASE, bounded
from tasks.documents.child import run_child, verdict
from tasks.documents.document import HeadedSection, PagedText, ParsedDocument
from tasks.documents.headings import Heading, Line, font_headings, kind_of, number_depth, plain
from tasks.documents.pdf_child import (
    EXIT_DAMAGED,
    EXIT_ENCRYPTED,
    EXIT_TOO_MANY_PAGES,
    EXIT_TOO_MUCH_TEXT,
    MAXIMUM_CHARACTERS,
)
from tasks.web.calls import failure

PARSER = "pdf"
MINIMUM_OUTLINE_ENTRIES = 3
HYPHEN_AT_LINE_END = "\ufffe"
_ABSTRACT_LINE = bounded(
    r"^(?:abstract|a b s t r a c t|summary)\s*+(?:[.:—–-]++\s*+(?P<rest>\S.*+)?)?$",
    IGNORECASE | DOTALL,
)
_CONTENTS_LINE = bounded(r"\D[\s.]\d{1,4}$")
_DIGITS = bounded(r"\d+")
_RUN_IN_HEADING = bounded(r"^(.{2,60}?)([:.—–])\s++(\S.*)", DOTALL)
_FILE_NAME = bounded(r"\.(?:docx?|tex|dvi|pdf|indd)$|^microsoft word", IGNORECASE)
_RUNNING_LINES = 2
_LINES_SEARCHED_PER_PAGE = 1_000
"""Lines searched for outline headings; ten times those of a full page."""


class OutlineEntry(NamedTuple):
    """A bookmark; `top` is None if it points to a whole page."""

    title: str
    level: int
    page: int
    top: float | None


def document_of(
    lines: Sequence[Line], outline: Sequence[OutlineEntry], title: str
) -> ParsedDocument:
    """Build a document from lines and outline.

    Running heads, page numbers and text before the first heading are dropped.
    """
    text_lines = _without_running_lines(lines)
    headings = font_headings(text_lines)
    outline_headings = _outline_headings(text_lines, outline)
    if len(outline_headings) >= max(MINIMUM_OUTLINE_ENTRIES, len(outline) // 2):
        first = outline_headings[0].line
        headings = [
            *(each for each in headings if each.line < first and each.text_from <= first),
            *outline_headings,
        ]
    headings = _with_inline_abstract(text_lines, _without_contents(headings))
    abstract, sections = _split_abstract(list(_sections(text_lines, headings)))
    return ParsedDocument(
        title=_title(text_lines, title), abstract=abstract, sections=sections, parser=PARSER
    )


def _without_running_lines(lines: Sequence[Line]) -> list[Line]:
    pages: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        pages.setdefault(line.page, []).append(index)
    edges = {
        index
        for indices in pages.values()
        for index in [*indices[:_RUNNING_LINES], *indices[-_RUNNING_LINES:]]
    }
    shapes = Counter(_shape(lines[index].text) for index in edges)
    often = max(3, len(pages) * 2 // 5)
    return [
        line
        for index, line in enumerate(lines)
        if not (
            index in edges
            and (shapes[_shape(line.text)] >= often or line.text.strip(" -–—|").isdigit())
        )
    ]


def _shape(text: str) -> str:
    return _DIGITS.sub("#", text).strip()


def _outline_headings(lines: Sequence[Line], outline: Sequence[OutlineEntry]) -> list[Heading]:
    """Find each bookmark's heading among the lines, in order.

    A heading that is not printed is placed at the bookmark's target.
    """
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        indices = by_page.setdefault(line.page, [])
        if len(indices) < _LINES_SEARCHED_PER_PAGE:
            indices.append(index)
    printed_letters = _PrintedLetters(lines)
    headings: list[Heading] = []
    earliest = 0
    for entry in outline:
        candidates = [
            index
            for page in (entry.page, entry.page + 1)
            for index in by_page.get(page, ())
            if index >= earliest
        ]
        heading = _find_heading(lines, entry, candidates, printed_letters)
        if heading is not None:
            headings.append(heading)
            after = heading.line + 1
            earliest = after if heading.rest else max(heading.text_from, after)
    return headings


class _PrintedLetters:
    """The letters of lines: alone, with the following lines, or as a run-in label.

    Computed once for each line, because a hostile outline may have thousands of entries.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._known: dict[int, dict[str, tuple[int, str]]] = {}

    def of(self, index: int) -> dict[str, tuple[int, str]]:
        """Return (number of lines, rest of the line after a label) by letters."""
        entry = self._known.get(index)
        if entry is None:
            label, mark, rest = _label(self._lines[index].text)
            entry = self._known[index] = (
                {_letters(plain(label)): (1, rest)} if mark and rest else {}
            )
            for count in (3, 2, 1):
                text = " ".join(line.text for line in self._lines[index : index + count])
                entry |= {_letters(text): (count, ""), _letters(plain(text)): (count, "")}
        return entry


def _find_heading(
    lines: Sequence[Line],
    entry: OutlineEntry,
    candidates: Sequence[int],
    printed_letters: _PrintedLetters,
) -> Heading | None:
    """Find the heading of a bookmark as it is printed, else its target."""
    letters, top, title = _letters(plain(entry.title)), entry.top, entry.title.strip()
    for index in candidates if letters else ():
        line = lines[index]
        is_above = top is not None and line.page == entry.page and line.top > top + 4
        if not is_above and (match := printed_letters.of(index).get(letters)):
            count, rest = match
            return Heading(index, index + count, entry.level, title, rest)
    for index in candidates:
        if top is not None and lines[index].page == entry.page and lines[index].top <= top:
            return Heading(index, index, entry.level, title)
    return None


def _label(text: str) -> tuple[str, str, str]:
    """Split `Methods: We …` into label, mark and rest."""
    match = _RUN_IN_HEADING.match(text)
    return (match.group(1), match.group(2), match.group(3)) if match else (text, "", "")


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _without_contents(headings: list[Heading]) -> list[Heading]:
    """Drop the headings repeated with page numbers in a table of contents (`2 Methodology 4`)."""
    last = {_letters(heading.text): heading.line for heading in headings}

    def listed(heading: Heading) -> bool:
        match = _CONTENTS_LINE.search(heading.text)
        name = heading.text[: match.start() + 1] if match else ""
        names = (name, plain(name)) if match else ()
        return any(last.get(_letters(each), -1) > heading.line for each in names)

    return [heading for heading in headings if not listed(heading)]


def _with_inline_abstract(lines: Sequence[Line], headings: list[Heading]) -> list[Heading]:
    """Add a section for an abstract printed in the running text (`Abstract—We …`)."""
    if any(kind_of(heading.text) is SectionKind.ABSTRACT for heading in headings):
        return headings
    body_lines = (
        heading.line
        for heading in headings
        if number_depth(heading.text) or plain(heading.text) == "introduction"
    )
    for index, line in enumerate(lines[: next(body_lines, len(lines))]):
        if line.page > 2:
            break
        if match := _ABSTRACT_LINE.match(line.text):
            abstract = Heading(index, index + 1, 0, "Abstract", match.group("rest") or "")
            other_headings = [heading for heading in headings if heading.line != index]
            return sorted([*other_headings, abstract], key=lambda heading: heading.line)
    return headings


def _sections(lines: Sequence[Line], headings: Sequence[Heading]) -> Iterator[HeadedSection]:
    ends = [*(heading.line for heading in headings[1:]), len(lines)]
    for heading, end in zip(headings, ends, strict=False):
        texts = [heading.rest, *(line.text for line in lines[heading.text_from : end])]
        yield HeadedSection(
            level=heading.level,
            heading=heading.text[:300] or "Untitled",
            text=_paragraphs([text for text in texts if text]),
        )


def _paragraphs(texts: Sequence[str]) -> str:
    """Join lines into paragraphs; a short line that ends a sentence ends its paragraph."""
    lengths = sorted(len(text) for text in texts)
    usual_length = lengths[len(lengths) * 3 // 4] if lengths else 0
    pieces: list[str] = []
    for text in texts:
        line = text.replace(HYPHEN_AT_LINE_END, "").replace("\r", " ").replace("\n", " ")
        is_paragraph_end = line.endswith((".", "!", "?", ":")) and len(text) < 0.8 * usual_length
        pieces.append(line + ("\n\n" if is_paragraph_end else " "))
    return "".join(pieces).strip()


def _split_abstract(
    sections: Sequence[HeadedSection],
) -> tuple[str | None, tuple[HeadedSection, ...]]:
    """Return the abstract with its parts, and the sections behind it, else all sections."""
    kinds = [kind_of(section.heading) for section in sections]
    if SectionKind.ABSTRACT not in kinds:
        return None, tuple(sections)
    first, *others = sections[kinds.index(SectionKind.ABSTRACT) :]
    parts = list(takewhile(lambda each: each.level > first.level, others))
    pieces = [first.text, *(f"{part.heading}: {part.text}" for part in parts)]
    return "\n\n".join(each for each in pieces if each) or None, tuple(others[len(parts) :])


def _title(lines: Sequence[Line], property_title: str) -> str | None:
    """Return the title of the file properties if plausible, else the largest text of page one."""
    if len(property_title.split()) >= 3 and not _FILE_NAME.search(property_title):
        return " ".join(property_title.split())
    first = [line for line in lines if line.page == 0]
    largest = max((line.size for line in first if len(line.text) > 3), default=None)
    title = " ".join(line.text for line in first if line.size == largest).replace(
        HYPHEN_AT_LINE_END, ""
    )
    return title[:500] or None


VERSION = 1
"""Part of the cache key; increased whenever the same PDF gives other sections."""

_CHILD = Path(__file__).with_name("pdf_child.py")


class _ChildReply(Noun):
    """The child's reply. It has read hostile bytes, so everything is validated."""

    page_count: int = Field(ge=0)
    title: str
    lines: tuple[Line, ...]
    outline: tuple[OutlineEntry, ...]

    @model_validator(mode="after")
    def _on_its_pages(self) -> "_ChildReply":
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
    """Parse a PDF into sections, or return the failure.

    Limited to `parse_seconds` of processor time in a child process without secrets. `name` is used
    in failures.
    """
    reply = await _lines(content, name, settings)
    return (
        reply
        if isinstance(reply, SourceFailure)
        else await asyncio.to_thread(document_of, reply.lines, reply.outline, reply.title)
    )


async def read_pages(
    content: bytes, name: str, settings: DocumentSettings
) -> PagedText | SourceFailure:
    """Read the text of every page, or return the failure; limits as for `read_pdf`.

    A page without text is empty.
    """
    reply = await _lines(content, name, settings)
    if isinstance(reply, SourceFailure):
        return reply
    document = await asyncio.to_thread(document_of, reply.lines, reply.outline, reply.title)
    pages: list[list[str]] = [[] for _ in range(reply.page_count)]
    for line in reply.lines:
        pages[line.page].append(line.text)
    return PagedText(
        title=document.title,
        pages=tuple(
            "\n".join(page).replace(HYPHEN_AT_LINE_END + "\n", "").replace(HYPHEN_AT_LINE_END, "")
            for page in pages
        ),
        headings=tuple(section.heading for section in document.sections),
    )


async def _lines(
    content: bytes, name: str, settings: DocumentSettings
) -> _ChildReply | SourceFailure:
    output = await _run_child(content, name, settings)
    if isinstance(output, SourceFailure):
        return output
    try:
        reply = _ChildReply.model_validate_json(output)
    except ValidationError:
        detail = "the reader's answer is invalid: the PDF is damaged or hostile"
        return failure(PARSER, name, Reason.DAMAGED, detail)
    if not reply.lines:
        detail = f"none of the {reply.page_count} pages holds text (a scan?)"
        return failure(PARSER, name, Reason.NO_TEXT, detail)
    return reply


async def _run_child(
    content: bytes, name: str, settings: DocumentSettings, *arguments: str
) -> bytes | SourceFailure:
    arguments = (str(_CHILD), str(settings.maximum_pages), *arguments)
    end = await run_child(arguments, content, settings)
    refusals = {
        EXIT_DAMAGED: (Reason.DAMAGED, "the PDF is damaged"),
        EXIT_ENCRYPTED: (Reason.ENCRYPTED, "the PDF needs a password"),
        EXIT_TOO_MANY_PAGES: (
            Reason.TOO_MANY_PAGES,
            f"{end.errors.strip()[:12]} pages; the limit is {settings.maximum_pages}"
            " (ASSAY_DOCUMENTS__MAXIMUM_PAGES)",
        ),
        EXIT_TOO_MUCH_TEXT: (
            Reason.TOO_LARGE,
            f"more than {MAXIMUM_CHARACTERS:,} characters of text",
        ),
    }
    if end.code == 0:
        return end.output
    refusal = refusals.get(end.code or 0) or verdict(end, settings, "the PDF")
    return failure(PARSER, name, *refusal)


class PdfComment(Noun):
    """A comment and its place."""

    text: str = Field(min_length=1, description="Shown at its quote, if found.")
    elsewhere: str = Field(
        min_length=1, description="Shown at the top of the page if the quote was not found."
    )
    quote: str = Field(default="", description="Marked on the page; empty: no quote.")
    page: int = Field(default=1, ge=1, description="Page of a comment without its quote.")


class CommentedPdf(Noun):
    """A PDF with comments.

    Attributes:
        at_quote: for each comment, whether its quote was found and marked.
    """

    content: bytes = Field(repr=False)
    at_quote: tuple[bool, ...]


async def with_comments(
    content: bytes, name: str, comments: Sequence[PdfComment], settings: DocumentSettings
) -> CommentedPdf | SourceFailure:
    """Add comments to a PDF, or return the failure; limits as for `read_pdf`.

    Quotes are matched by letters and digits alone, ignoring line ends, hyphens and ligatures. A
    quote across two pages is marked on the first.
    """
    comments_json = json.dumps([comment.model_dump() for comment in comments]).encode()
    output = await _run_child(comments_json + b"\n" + content, name, settings, "comments")
    if isinstance(output, SourceFailure):
        return output
    at_quote, _, pdf = output.partition(b"\n")
    try:
        return CommentedPdf(content=pdf, at_quote=tuple(json.loads(at_quote)))
    except (ValueError, TypeError, ValidationError):
        return failure(PARSER, name, Reason.DAMAGED, "the PDF could not be written with comments")
