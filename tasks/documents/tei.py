"""GROBID's TEI to a document (reference §6): divisions are flat, their depth is in the heading's
number.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from schemas.patterns import bounded
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.headings import is_known, kind_of, number_depth
from tasks.web.decoding import UnreadableXmlError, xml_of

PARSER = "grobid"
_TEI = "{http://www.tei-c.org/ns/1.0}"
_LEFT_OUT = frozenset({f"{_TEI}figure", f"{_TEI}note", f"{_TEI}listBibl"})

_SECTION_NUMBER = bounded(r"[\w.]{1,20}")


class TeiError(ValueError):
    """The text is no TEI document; the message says why."""


def document_of_tei(text: str | bytes) -> ParsedDocument:
    """Title, abstract (with or without divisions) and headed divisions; figures, tables and notes
    are left out.

    Entities are never expanded, external ones never fetched.

    Raises:
        TeiError: no XML, XML with a document type or entities, or no TEI.
    """
    try:
        root = xml_of(text)
    except UnreadableXmlError as error:
        raise TeiError(f"no readable TEI ({error})") from error
    if root.tag != f"{_TEI}TEI":
        raise TeiError("the root element is not TEI")
    title = _joined(root.find(f"{_TEI}teiHeader/{_TEI}fileDesc/{_TEI}titleStmt/{_TEI}title"))
    return ParsedDocument(
        title=title or None,
        abstract=_abstract(root),
        sections=tuple(_sections(root)),
        parser=PARSER,
    )


def _abstract(root: Element) -> str | None:
    abstract = root.find(f"{_TEI}teiHeader/{_TEI}profileDesc/{_TEI}abstract")
    if abstract is None:
        return None
    pieces: list[str] = []
    for element in abstract:
        if element.tag == f"{_TEI}div":
            heading, text = _joined(element.find(f"{_TEI}head")), _paragraphs(element)
            pieces.append(f"{heading}: {text}" if heading and text else text)
        else:
            pieces.append(_joined(element))
    return "\n\n".join(piece for piece in pieces if piece) or _joined(abstract) or None


def _sections(root: Element) -> Iterator[HeadedSection]:
    """Divisions with rebuilt levels: by number; a usual name is a top section; any other heading is a part of the
    methods or results before it, or stands beside the numbered heading before it."""
    for part in ("body", "back"):
        last_depth: int | None = None
        last_named = ""
        for division in root.findall(f"{_TEI}text/{_TEI}{part}//{_TEI}div"):
            head = division.find(f"{_TEI}head")
            heading, text = _joined(head), _paragraphs(division)
            if not heading and not text:
                continue
            number = (head.get("n") or "") if head is not None else ""
            depth = 0 if not number and is_known(heading) else _depth(number, heading)
            if depth is None:
                level = (
                    last_depth if last_depth is not None else int(kind_of(last_named) is not None)
                )
            else:
                level = depth
                last_named = heading if depth == 0 else last_named
                last_depth = depth if number else last_depth
            yield HeadedSection(
                level=level, heading=f"{number} {heading}".strip()[:300] or "Untitled", text=text
            )


def _depth(number: str, heading: str) -> int | None:
    """0 for `2` and `2.`, 1 for `2.1`; None for an unnumbered heading."""
    if _SECTION_NUMBER.fullmatch(number.strip()):
        return number.strip().rstrip(".").count(".")
    depth = number_depth(heading)
    return depth - 1 if depth is not None else None


def _paragraphs(division: Element) -> str:
    """The division's own text: its paragraphs, lists and formulas, without its head and without
    divisions inside it.
    """
    skipped = (f"{_TEI}head", f"{_TEI}div")
    return "\n\n".join(
        text
        for child in division
        if child.tag not in skipped and child.tag not in _LEFT_OUT and (text := _joined(child))
    )


def _joined(element: Element | None) -> str:
    if element is None:
        return ""
    return " ".join("".join(_texts(element)).split())


def _texts(element: Element) -> Iterator[str]:
    """In reading order, without recursion: a document may nest as deep as it likes.

    Divisions inside come by themselves.
    """
    yield element.text or ""
    waiting = [iter(element)]
    within: list[Element] = []
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
            if within:
                ended = within.pop()
                yield " " if ended.tag == f"{_TEI}s" else ""
                yield ended.tail or ""
        elif child.tag in _LEFT_OUT or child.tag == f"{_TEI}div":
            yield child.tail or ""
        else:
            yield child.text or ""
            waiting.append(iter(child))
            within.append(child)
