"""Pages as values, independent of any format.

Views build pages from strings and the values below. A renderer of `dashboards.render.formats`
escapes every string for its format, so that views do not have to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import TypeAlias

from dashboards.render import figures
from schemas.literature.naming import INVISIBLE, safe_url


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text in one style.

    Attributes:
        url: an http(s) address it links to; empty: none.
        place: path of a linked report in the same folder tree, without extension.
    """

    text: str
    strong: bool = False
    emphasis: bool = False
    code: bool = False
    url: str = ""
    place: str = ""


Line: TypeAlias = tuple[Span, ...]
# Part of a line. Numbers and dates are formatted; None prints as `unknown`.
Part: TypeAlias = str | int | date | Span | Line | None


class Align(StrEnum):
    """Alignment of a column; MARK cells are colored by their sign."""

    TEXT = "text"
    NUMBER = "number"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the title, 2 a section."""

    line: Line
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    line: Line


@dataclass(frozen=True, slots=True)
class Quote:
    """A banner, or a quotation."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of items; numbered from `first`, or with bullets.

    Attributes:
        to_do: whether each item has a checkbox.
    """

    items: tuple[tuple["Block", ...], ...]
    first: int | None = None
    to_do: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """Heading and alignment of a column."""

    heading: Line
    align: Align = Align.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has one cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing.

    Attributes:
        name: of its file, unique on a page.
        svg: with title and description; its classes are those of `chart.css`.
        description: alternative text.
        size: width and height in pixels.
        narrow_svg: the same for phones, shown on web pages; empty: none.
    """

    name: str
    title: str
    svg: str
    caption: str
    description: str
    size: tuple[int, int]
    narrow_svg: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Preformatted lines of a program or terminal."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that a web page shows after a click; `name` is its anchor."""

    title: str
    blocks: tuple["Block", ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class TwoColumns:
    """Two columns on web pages; other formats show the right one only."""

    left: tuple["Block", ...]
    right: tuple["Block", ...]


Block: TypeAlias = Heading | Paragraph | Quote | Listing | Table | Figure | Code | Fold | TwoColumns


@dataclass(frozen=True, slots=True)
class Page:
    """A title and blocks; `name` is the document's name if it differs."""

    title: Line
    blocks: tuple[Block, ...]
    name: str = ""

    @property
    def document_name(self) -> str:
        return self.name or plain_text(self.title)


def line(*parts: Part) -> Line:
    """Join parts to a line; control characters become spaces."""
    spans: list[Span] = []
    for span in (span for part in parts for span in _spans(part) if span.text):
        if spans and replace(spans[-1], text=span.text) == span:
            spans[-1] = replace(span, text=spans[-1].text + span.text)
        else:
            spans.append(span)
    return tuple(spans)


def text(*parts: Part) -> Paragraph:
    """Return a paragraph of parts."""
    return Paragraph(line(*parts))


def facts(*parts: Part) -> Paragraph:
    """Return a paragraph with dots between the parts; empty parts are left out."""
    lines = [line(part) for part in parts if part]
    return Paragraph(tuple(span for each in lines for span in (_DOT, *each))[1:])


def note(*parts: Part) -> Quote:
    """Return a banner with information that readers need first."""
    return Quote((text(*parts),))


def heading(*parts: Part, level: int = 2) -> Heading:
    return Heading(line(*parts), level)


def bullets(lines: Iterable[Part]) -> tuple[Listing, ...]:
    """Return a bullet list; empty without lines."""
    items = tuple((text(each),) for each in lines)
    return (Listing(items),) if items else ()


def numbered_list(lines: Iterable[Part]) -> Listing:
    """Return a list numbered from 1."""
    return Listing(tuple((text(each),) for each in lines), first=1)


def to_do(lines: Iterable[Part]) -> Listing:
    """Return a list with a checkbox at each item."""
    return Listing(tuple((text(each),) for each in lines), to_do=True)


def table(columns: Sequence[Part | Column], rows: Iterable[Sequence[Part]]) -> Table:
    """Return a table; a trailing colon in a heading (not shown) aligns numbers.

    A cell of None prints as `–`.
    """
    missing = (Span(figures.NOTHING),)
    cells = (tuple(missing if cell is None else line(cell) for cell in row) for row in rows)
    return Table(tuple(map(_column, columns)), tuple(cells))


def optional(block: Block | None) -> tuple[Block, ...]:
    """Return the block, or nothing for None, such as a chart without values."""
    return () if block is None else (block,)


def strong(*parts: Part) -> Line:
    return tuple(replace(span, strong=True) for span in line(*parts))


def emphasis(*parts: Part) -> Line:
    return tuple(replace(span, emphasis=True) for span in line(*parts))


def code(words: str) -> Span:
    """Return text for programs, such as an identifier."""
    return Span(_one_line(words).strip(), code=True)


def link(words: str, url: str) -> Span:
    """Return a link, or plain text unless `url` is an http(s) address."""
    return Span(_one_line(words).strip(), url=safe_url(url) or "")


def report(words: str, place: str) -> Span:
    """Return a link to another report; `place` is its relative path without extension."""
    return Span(_one_line(words), place=place)


def figures_of(blocks: Iterable[Block]) -> tuple[Figure, ...]:
    """Return the drawings in blocks, folded ones included."""
    drawings: list[Figure] = []
    for block in blocks:
        if isinstance(block, Figure):
            drawings.append(block)
        elif isinstance(block, Fold):
            drawings += figures_of(block.blocks)
    return tuple(drawings)


def plain_text(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


_DOT = Span(" · ")


def _spans(part: Part) -> Line:
    if part is None:
        return (Span("unknown"),)
    if isinstance(part, str):
        return (Span(_one_line(part)),)
    if isinstance(part, datetime):
        return (Span(figures.moment(part)),)
    if isinstance(part, int):
        return (Span(figures.count(part)),)
    if isinstance(part, date):
        return (Span(figures.day(part)),)
    return (part,) if isinstance(part, Span) else part


def _one_line(words: str) -> str:
    """Collapse whitespace; a space at either end stays, as parts are joined."""
    if words.isascii() and words.isprintable() and "  " not in words:  # nearly every cell
        return words
    visible = INVISIBLE.sub(" ", words)
    inner = " ".join(visible.split())
    if not inner:
        return " " if visible else ""
    return f"{' ' * visible[0].isspace()}{inner}{' ' * visible[-1].isspace()}"


def _column(words: Part | Column) -> Column:
    if isinstance(words, Column):
        return words
    if isinstance(words, str) and words.endswith(":"):
        return Column(line(words.removesuffix(":")), Align.NUMBER)
    return Column(line(words))
