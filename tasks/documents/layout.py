"""From the lines of a PDF to headed sections: by its outline where it has a usable one, else by
font sizes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from schemas.literature.paper import SectionKind
from schemas.text.patterns import DOTALL, IGNORECASE, bounded
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.headings import Line, font_headings, kind_of, number_depth, plain

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
"""For the headings of the outline: ten times what a page can show."""


class OutlineEntry(NamedTuple):
    """One bookmark; `top` is None where it leads to a page as a whole."""

    title: str
    level: int
    page: int
    top: float | None


@dataclass(frozen=True, slots=True)
class _Place:
    """A heading at `line`; its own text continues at `text_from`, after `rest` of the heading's
    line.
    """

    line: int
    text_from: int
    level: int
    heading: str
    rest: str = ""


def document_of(
    lines: Sequence[Line], outline: Sequence[OutlineEntry], title: str
) -> ParsedDocument:
    """Put a document together.

    Running heads and page numbers are left out; what stands before the first heading too.
    """
    kept = _without_running_lines(lines)
    printed = [
        _Place(item.line, item.line + item.line_count, item.level, item.text)
        for item in font_headings(kept)
    ]
    places = _outline_places(kept, outline)
    if len(places) < max(MINIMUM_OUTLINE_ENTRIES, len(outline) // 2):
        places = printed
    else:
        places = [
            place
            for place in printed
            if place.line < places[0].line and place.text_from <= places[0].line
        ] + places
    places = _with_inline_abstract(kept, _without_contents(places))
    sections = tuple(_sections(kept, places))
    return ParsedDocument(
        title=_title(kept, title),
        abstract=_abstract(sections),
        sections=_without_abstract(sections),
        parser=PARSER,
    )


def _without_running_lines(lines: Sequence[Line]) -> list[Line]:
    """Drop what repeats at the top or bottom of pages, digits apart."""
    pages: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        pages.setdefault(line.page, []).append(index)
    edges = {
        index for own in pages.values() for index in [*own[:_RUNNING_LINES], *own[-_RUNNING_LINES:]]
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
    """Find each bookmark's heading among the lines, in order; one whose heading is not printed
    starts where it points.
    """
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        own = by_page.setdefault(line.page, [])
        if len(own) < _LINES_SEARCHED_PER_PAGE:
            own.append(index)
    printed = _PrintedLetters(lines)
    places: list[_Place] = []
    earliest = 0
    for entry in outline:
        candidates = [
            index
            for page in (entry.page, entry.page + 1)
            for index in by_page.get(page, ())
            if index >= earliest
        ]
        place = _printed(lines, entry, candidates, printed) or _pointed_at(lines, entry, candidates)
        if place is not None:
            places.append(place)
            earliest = max(place.text_from, place.line + 1) if not place.rest else place.line + 1
    return places


class _PrintedLetters:
    """The letters that lines print, alone, with those after them, or as a label.

    Made once for each line: a hostile outline has thousands of entries, and each would have them
        made again.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._known: dict[int, dict[str, tuple[int, str]]] = {}

    def of(self, index: int) -> dict[str, tuple[int, str]]:
        """By letters: how many lines from `index` on print them and nothing else, and the rest
        behind them where they are a label.
        """
        known = self._known.get(index)
        if known is None:
            label, mark, rest = _label(self._lines[index].text)
            known = self._known[index] = (
                {_letters(plain(label)): (1, rest)} if mark and rest else {}
            )
            for count in (3, 2, 1):
                text = " ".join(line.text for line in self._lines[index : index + count])
                known |= {_letters(text): (count, ""), _letters(plain(text)): (count, "")}
        return known


def _printed(
    lines: Sequence[Line], entry: OutlineEntry, candidates: Sequence[int], printed: _PrintedLetters
) -> _Place | None:
    wanted = _letters(plain(entry.title))
    if not wanted:
        return None
    for index in candidates:
        if (
            entry.top is not None
            and lines[index].page == entry.page
            and lines[index].top > entry.top + 4
        ):
            continue
        if found := printed.of(index).get(wanted):
            count, rest = found
            return _Place(index, index + count, entry.level, entry.title.strip(), rest)
    return None


def _label(text: str) -> tuple[str, str, str]:
    """`Methods: We …` taken apart."""
    match = _RUN_IN_HEADING.match(text)
    return (match.group(1), match.group(2), match.group(3)) if match else (text, "", "")


def _pointed_at(
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
    """A table of contents prints every heading once more, with its page: `2 Methodology 4`."""
    last = {_letters(place.heading): place.line for place in places}

    def listed(place: _Place) -> bool:
        match = _CONTENTS_LINE.search(place.heading)
        if match is None:
            return False
        name = place.heading[: match.start() + 1]
        return any(last.get(_letters(each), -1) > place.line for each in (name, plain(name)))

    return [place for place in places if not listed(place)]


def _with_inline_abstract(lines: Sequence[Line], places: list[_Place]) -> list[_Place]:
    """Many papers print `Abstract—We …` in the text itself: that starts a section too."""
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
            text=_flowing([text for text in texts if text]),
        )


def _flowing(texts: Sequence[str]) -> str:
    """Lines as paragraphs: a line that ends a sentence well short of the usual width ends its
    paragraph.
    """
    lengths = sorted(len(text) for text in texts)
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    pieces: list[str] = []
    for text in texts:
        joined = text.replace(HYPHEN_AT_LINE_END, "").replace("\r", " ").replace("\n", " ")
        ends = joined.endswith((".", "!", "?", ":")) and len(text) < 0.8 * usual
        pieces.append(joined + ("\n\n" if ends else " "))
    return "".join(pieces).strip()


def _abstract(sections: Sequence[HeadedSection]) -> str | None:
    """The abstract with its parts (`Background`, `Methods`, …), as one text."""
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
    """The sections behind the abstract; a document without one keeps all."""
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
    behind = start + 1
    while behind < len(sections) and sections[behind].level > sections[start].level:
        behind += 1
    return tuple(sections[behind:])


def _title(lines: Sequence[Line], given: str) -> str | None:
    """The title in the file's properties if it reads like one, else the largest print of the first
    page.
    """
    if len(given.split()) >= 3 and not _FILE_NAME.search(given):
        return " ".join(given.split())
    first = [line for line in lines if line.page == 0]
    largest = max((line.size for line in first if len(line.text) > 3), default=None)
    title = " ".join(line.text for line in first if line.size == largest).replace(
        HYPHEN_AT_LINE_END, ""
    )
    return title[:500] or None
