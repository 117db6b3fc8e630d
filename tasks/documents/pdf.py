"""PDF parsing without GROBID (pypdfium2 in a limited child process), and PDF comments.

Sections follow from the outline if it is usable, else from font sizes.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError, model_validator

from schemas.base import Noun
from schemas.failure import SourceFailure
from schemas.literature.paper import SectionKind
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.text.patterns import DOTALL, IGNORECASE, bounded
from tasks.documents.child import ChildEnd, run_child, verdict
from tasks.documents.document import HeadedSection, PagedText, ParsedDocument
from tasks.documents.headings import Line, font_headings, kind_of, number_depth, plain
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


@dataclass(frozen=True, slots=True)
class _Place:
    """A heading at `line`; its text is `rest` of that line, then the lines from `text_from` on."""

    line: int
    text_from: int
    level: int
    heading: str
    rest: str = ""


def document_of(
    lines: Sequence[Line], outline: Sequence[OutlineEntry], title: str
) -> ParsedDocument:
    """Build a document from lines and outline.

    Running heads, page numbers and text before the first heading are dropped.
    """
    text_lines = _without_running_lines(lines)
    font_places = [
        _Place(item.line, item.line + item.line_count, item.level, item.text)
        for item in font_headings(text_lines)
    ]
    places = _outline_places(text_lines, outline)
    if len(places) < max(MINIMUM_OUTLINE_ENTRIES, len(outline) // 2):
        places = font_places
    else:
        places = [
            place
            for place in font_places
            if place.line < places[0].line and place.text_from <= places[0].line
        ] + places
    places = _with_inline_abstract(text_lines, _without_contents(places))
    sections = tuple(_sections(text_lines, places))
    return ParsedDocument(
        title=_title(text_lines, title),
        abstract=_abstract(sections),
        sections=_without_abstract(sections),
        parser=PARSER,
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


def _outline_places(lines: Sequence[Line], outline: Sequence[OutlineEntry]) -> list[_Place]:
    """Find each bookmark's heading among the lines, in order.

    A heading that is not printed is placed at the bookmark's target.
    """
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        indices = by_page.setdefault(line.page, [])
        if len(indices) < _LINES_SEARCHED_PER_PAGE:
            indices.append(index)
    printed_letters = _PrintedLetters(lines)
    places: list[_Place] = []
    earliest = 0
    for entry in outline:
        candidates = [
            index
            for page in (entry.page, entry.page + 1)
            for index in by_page.get(page, ())
            if index >= earliest
        ]
        place = _find_printed(lines, entry, candidates, printed_letters) or _find_target(
            lines, entry, candidates
        )
        if place is not None:
            places.append(place)
            earliest = max(place.text_from, place.line + 1) if not place.rest else place.line + 1
    return places


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


def _find_printed(
    lines: Sequence[Line], entry: OutlineEntry, candidates: Sequence[int], printed: _PrintedLetters
) -> _Place | None:
    letters = _letters(plain(entry.title))
    if not letters:
        return None
    for index in candidates:
        if (
            entry.top is not None
            and lines[index].page == entry.page
            and lines[index].top > entry.top + 4
        ):
            continue
        if match := printed.of(index).get(letters):
            count, rest = match
            return _Place(index, index + count, entry.level, entry.title.strip(), rest)
    return None


def _label(text: str) -> tuple[str, str, str]:
    """Split `Methods: We …` into label, mark and rest."""
    match = _RUN_IN_HEADING.match(text)
    return (match.group(1), match.group(2), match.group(3)) if match else (text, "", "")


def _find_target(
    lines: Sequence[Line], entry: OutlineEntry, candidates: Sequence[int]
) -> _Place | None:
    if entry.top is None:
        return None
    for index in candidates:
        if lines[index].page == entry.page and lines[index].top <= entry.top:
            return _Place(index, index, entry.level, entry.title.strip())
    return None


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _without_contents(places: list[_Place]) -> list[_Place]:
    """Drop the headings repeated with page numbers in a table of contents (`2 Methodology 4`)."""
    last = {_letters(place.heading): place.line for place in places}

    def listed(place: _Place) -> bool:
        match = _CONTENTS_LINE.search(place.heading)
        if match is None:
            return False
        name = place.heading[: match.start() + 1]
        return any(last.get(_letters(each), -1) > place.line for each in (name, plain(name)))

    return [place for place in places if not listed(place)]


def _with_inline_abstract(lines: Sequence[Line], places: list[_Place]) -> list[_Place]:
    """Add a section for an abstract printed in the running text (`Abstract—We …`)."""
    if any(kind_of(place.heading) is SectionKind.ABSTRACT for place in places):
        return places
    end = next(
        (
            place.line
            for place in places
            if number_depth(place.heading) or plain(place.heading) == "introduction"
        ),
        len(lines),
    )
    for index, line in enumerate(lines[:end]):
        if line.page > 2:
            break
        if match := _ABSTRACT_LINE.match(line.text):
            others = [place for place in places if place.line != index]
            return sorted(
                [*others, _Place(index, index + 1, 0, "Abstract", match.group("rest") or "")],
                key=lambda place: place.line,
            )
    return places


def _sections(lines: Sequence[Line], places: Sequence[_Place]) -> Iterator[HeadedSection]:
    for position, place in enumerate(places):
        end = places[position + 1].line if position + 1 < len(places) else len(lines)
        texts = [place.rest, *(line.text for line in lines[place.text_from : end])]
        yield HeadedSection(
            level=place.level,
            heading=place.heading[:300] or "Untitled",
            text=_paragraphs([text for text in texts if text]),
        )


def _paragraphs(texts: Sequence[str]) -> str:
    """Join lines into paragraphs; a short line that ends a sentence ends its paragraph."""
    lengths = sorted(len(text) for text in texts)
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    pieces: list[str] = []
    for text in texts:
        line = text.replace(HYPHEN_AT_LINE_END, "").replace("\r", " ").replace("\n", " ")
        ends = line.endswith((".", "!", "?", ":")) and len(text) < 0.8 * usual
        pieces.append(line + ("\n\n" if ends else " "))
    return "".join(pieces).strip()


def _abstract(sections: Sequence[HeadedSection]) -> str | None:
    pieces: list[str] = []
    level: int | None = None
    for section in sections:
        if level is None:
            if kind_of(section.heading) is SectionKind.ABSTRACT:
                level = section.level
                pieces.append(section.text)
        elif section.level > level:
            pieces.append(f"{section.heading}: {section.text}")
        else:
            break
    return "\n\n".join(piece for piece in pieces if piece) or None


def _without_abstract(sections: Sequence[HeadedSection]) -> tuple[HeadedSection, ...]:
    start = next(
        (
            index
            for index, section in enumerate(sections)
            if kind_of(section.heading) is SectionKind.ABSTRACT
        ),
        None,
    )
    if start is None:
        return tuple(sections)
    end = start + 1
    while end < len(sections) and sections[end].level > sections[start].level:
        end += 1
    return tuple(sections[end:])


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
    end = await run_child((str(_CHILD), str(settings.maximum_pages)), content, settings)
    if end.code != 0:
        return failure(PARSER, name, *refusal(end, settings))
    try:
        reply = _ChildReply.model_validate_json(end.output)
    except ValidationError:
        detail = "the reader's answer is invalid: the PDF is damaged or hostile"
        return failure(PARSER, name, Reason.DAMAGED, detail)
    if not reply.lines:
        detail = f"none of the {reply.page_count} pages holds text (a scan?)"
        return failure(PARSER, name, Reason.NO_TEXT, detail)
    return reply


def refusal(end: ChildEnd, settings: DocumentSettings) -> tuple[Reason, str]:
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
    return refusals.get(end.code or 0) or verdict(end, settings, "the PDF")


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
    end = await run_child(
        ("tasks.documents.pdf_comments_child", str(settings.maximum_pages)),
        comments_json + b"\n" + content,
        settings,
    )
    if end.code != 0:
        return failure(PARSER, name, *refusal(end, settings))
    at_quote, _, pdf = end.output.partition(b"\n")
    try:
        return CommentedPdf(content=pdf, at_quote=tuple(json.loads(at_quote)))
    except (ValueError, TypeError, ValidationError):
        return failure(PARSER, name, Reason.DAMAGED, "the PDF could not be written with comments")
