"""A page as values: what a reader sees, before any format.

Views build pages of strings and of the values below. A renderer of `dashboards.render.formats`
escapes every string for its format, once, so that no view does.
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
    """A stretch of text of one appearance.

    Attributes:
        url: an http(s) address it links to; empty: none.
        place: another report in the same folder tree it links to, without the file's ending.
    """

    text: str
    strong: bool = False
    emphasis: bool = False
    code: bool = False
    url: str = ""
    place: str = ""


Line: TypeAlias = tuple[Span, ...]
Part: TypeAlias = str | int | date | Span | Line | None
"""Of a line. Counts and days are written as everywhere; None prints as `unknown`, not as a number.
"""


class Align(StrEnum):
    """How the cells of a column stand; those of MARK are coloured by their sign."""

    TEXT = "text"
    NUMBER = "number"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Heading:
    """Level 1 is that of the title, 2 of the sections."""

    line: Line
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    line: Line


@dataclass(frozen=True, slots=True)
class Quote:
    """A banner, or words of others."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Items, each of blocks; numbered from `first`, or with bullets.

    Attributes:
        to_do: whether each has a box to tick.
    """

    items: tuple[tuple["Block", ...], ...]
    first: int | None = None
    to_do: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column and how its cells stand."""

    heading: Line
    align: Align = Align.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many cells as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing.

    Attributes:
        name: of its file, unique on a page.
        svg: with its title and description; its classes are those of `chart.css`.
        description: what it shows, for those who cannot see it.
        size: width and height in pixels.
    """

    name: str
    title: str
    svg: str
    caption: str
    description: str
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a program or for a terminal, as they are."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that a web page shows once a reader opens them; `name`: its anchor there."""

    title: str
    blocks: tuple["Block", ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class TwoColumns:
    """Blocks that a web page shows in two columns; the left ones are on no other page."""

    left: tuple["Block", ...]
    right: tuple["Block", ...]


Block: TypeAlias = Heading | Paragraph | Quote | Listing | Table | Figure | Code | Fold | TwoColumns


@dataclass(frozen=True, slots=True)
class Page:
    """A title and what follows; `name` is that of the document, where it is another."""

    title: Line
    blocks: tuple[Block, ...]
    name: str = ""

    @property
    def document_name(self) -> str:
        return self.name or plain_text(self.title)


def line(*parts: Part) -> Line:
    """Join parts to a line; of text every control character becomes a space."""
    joined: list[Span] = []
    for span in (span for part in parts for span in _spans(part) if span.text):
        if joined and replace(joined[-1], text=span.text) == span:
            joined[-1] = replace(span, text=joined[-1].text + span.text)
        else:
            joined.append(span)
    return tuple(joined)


def text(*parts: Part) -> Paragraph:
    """A paragraph of parts."""
    return Paragraph(line(*parts))


def facts(*parts: Part) -> Paragraph:
    """A paragraph of what is known, with dots between; empty parts are left out."""
    lines = [line(part) for part in parts if part]
    return Paragraph(tuple(span for each in lines for span in (_DOT, *each))[1:])


def note(*parts: Part) -> Quote:
    """A banner: what a reader must know first."""
    return Quote((text(*parts),))


def heading(*parts: Part, level: int = 2) -> Heading:
    return Heading(line(*parts), level)


def bullets(lines: Iterable[Part]) -> tuple[Listing, ...]:
    """A list of lines; nothing of none."""
    items = tuple((text(each),) for each in lines)
    return (Listing(items),) if items else ()


def numbered_list(lines: Iterable[Part]) -> Listing:
    """A list with numbers from 1."""
    return Listing(tuple((text(each),) for each in lines), first=1)


def to_do(lines: Iterable[Part]) -> Listing:
    """A list with a box to tick at each item."""
    return Listing(tuple((text(each),) for each in lines), to_do=True)


def table(columns: Sequence[Part | Column], rows: Iterable[Sequence[Part]]) -> Table:
    """A table; a heading that ends with a colon, which is not shown, is of numbers."""
    return Table(
        tuple(map(_column, columns)), tuple(tuple(line(cell) for cell in row) for row in rows)
    )


def optional(block: Block | None) -> tuple[Block, ...]:
    """Return what may be missing, such as a chart without a value."""
    return () if block is None else (block,)


def strong(*parts: Part) -> Line:
    return tuple(replace(span, strong=True) for span in line(*parts))


def emphasis(*parts: Part) -> Line:
    return tuple(replace(span, emphasis=True) for span in line(*parts))


def code(words: str) -> Span:
    """Words that a program reads, such as an identifier."""
    return Span(_one_line(words).strip(), code=True)


def link(words: str, url: str) -> Span:
    """A link, or the words alone unless `url` is an http(s) address."""
    return Span(_one_line(words).strip(), url=safe_url(url) or "")


def report(words: str, place: str) -> Span:
    """A link to another report; `place` is its path from here, without the ending."""
    return Span(_one_line(words), place=place)


def figures_of(blocks: Iterable[Block]) -> tuple[Figure, ...]:
    """The drawings of blocks, also of folded ones."""
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
    """Keep a space at either end: it may stand between two parts."""
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
