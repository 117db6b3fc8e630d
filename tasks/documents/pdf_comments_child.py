"""Child process that adds comments to a PDF.

Standard input is a line of JSON and the file; standard output is a line with the quotes found and
the file with comments. Limits and exit codes are those of `pdf_child.py`.
"""

import ctypes
import io
import json
import sys
import unicodedata
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from tasks.documents.pdf_child import (
    EXIT_DAMAGED,
    EXIT_ENCRYPTED,
    EXIT_TOO_MANY_PAGES,
    EXIT_TOO_MUCH_TEXT,
    MAXIMUM_CHARACTERS,
)

_LEAST_LETTERS = 8
"""A shorter quote is ambiguous."""
_LEAST_LETTERS_OF_A_PART = 24
_MOST_RECTANGLES = 100
_NOTE_POINTS, _NOTE_STEP_POINTS, _NOTES_IN_A_ROW = 20, 24, 16
_COLOUR = (255, 205, 60)
_PRINTED = 4
"""The print flag of an annotation."""


def main() -> int:
    maximum_pages = int(sys.argv[1])
    request, _, content = sys.stdin.buffer.read().partition(b"\n")
    try:
        document = pdfium.PdfDocument(content)
        if len(document) > maximum_pages:
            sys.stderr.write(str(len(document)))
            return EXIT_TOO_MANY_PAGES
        letters = _Letters(document)
        if letters.count > MAXIMUM_CHARACTERS:
            return EXIT_TOO_MUCH_TEXT
        at_quote = _add_comments(document, letters, json.loads(request))
        output = io.BytesIO()
        document.save(output)
    except pdfium.PdfiumError as error:
        return EXIT_ENCRYPTED if "password" in str(error).lower() else EXIT_DAMAGED
    sys.stdout.buffer.write(json.dumps(at_quote).encode() + b"\n" + output.getvalue())
    return 0


class _Letters:
    """The lower-case letters and digits of a document, with page and character position."""

    def __init__(self, document: pdfium.PdfDocument) -> None:
        self.count = 0
        self._places: list[tuple[int, int]] = []
        letters: list[str] = []
        for number in range(len(document)):
            for index, character in _characters(document, number):
                self.count += 1
                if self.count > MAXIMUM_CHARACTERS:
                    return
                for letter in _letters_of(character):
                    letters.append(letter)
                    self._places.append((number, index))
        self._text = "".join(letters)

    def find(self, quote: str) -> tuple[int, int, int] | None:
        """Return page, first and last character of a quote, else of one of its halves.

        A half is found if something, such as a footer, interrupts the quote.
        """
        letters = "".join(map(_letters_of, quote))
        half = len(letters) // 2
        parts = [
            part
            for part in (letters[:half], letters[half:])
            if len(part) >= _LEAST_LETTERS_OF_A_PART
        ]
        for part in [letters, *parts] if len(letters) >= _LEAST_LETTERS else []:
            start = self._text.find(part)
            if start >= 0:
                page, first = self._places[start]
                places = self._places[start : start + len(part)]
                return page, first, max(index for other, index in places if other == page)
        return None


def _letters_of(text: str) -> str:
    folded_text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded_text if character.isalnum())


def _characters(document: pdfium.PdfDocument, number: int) -> list[tuple[int, str]]:
    """Return the characters of a page with their positions; none of an unreadable page."""
    try:
        text_page = document[number].get_textpage()
    except pdfium.PdfiumError:
        return []
    codes = [raw.FPDFText_GetUnicode(text_page, index) for index in range(text_page.count_chars())]
    return [(index, chr(code)) for index, code in enumerate(codes) if 0 < code < 0x110000]


def _add_comments(
    document: pdfium.PdfDocument, letters: _Letters, comments: list[dict[str, Any]]
) -> list[bool]:
    """Add the comments; return whether each is at its quote, else at the top of its page."""
    at_quote, tops = [], dict.fromkeys(range(len(document)), 0)
    for comment in comments:
        span = letters.find(comment["quote"])
        rectangles = _rectangles(document[span[0]], *span[1:]) if span else []
        if span and rectangles:
            _mark(document[span[0]], rectangles, comment["text"])
        else:
            number = min(comment["page"], len(document)) - 1
            _note(document[number], tops[number], comment["elsewhere"])
            tops[number] += 1
        at_quote.append(bool(rectangles))
    return at_quote


def _rectangles(
    page: pdfium.PdfPage, first: int, last: int
) -> list[tuple[float, float, float, float]]:
    """Return (left, bottom, right, top) of a range of characters, line by line."""
    text_page = page.get_textpage()
    count = min(text_page.count_rects(first, last - first + 1), _MOST_RECTANGLES)
    return [text_page.get_rect(number) for number in range(count)]


def _mark(
    page: pdfium.PdfPage, rectangles: list[tuple[float, float, float, float]], text: str
) -> None:
    annotation = _create_annotation(page, raw.FPDF_ANNOT_HIGHLIGHT, text)
    for left, bottom, right, top in rectangles:
        corners = raw.FS_QUADPOINTSF(left, top, right, top, left, bottom, right, bottom)
        raw.FPDFAnnot_AppendAttachmentPoints(annotation, corners)
    lefts, bottoms, rights, tops = zip(*rectangles, strict=True)
    _close_annotation(annotation, min(lefts), min(bottoms), max(rights), max(tops))


def _note(page: pdfium.PdfPage, before: int, text: str) -> None:
    """Add a note in the upper left corner, after `before` other notes."""
    left, _, _, top = page.get_cropbox()
    row, column = divmod(before, _NOTES_IN_A_ROW)
    x = left + 6 + column * _NOTE_STEP_POINTS
    y = top - 6 - row * _NOTE_STEP_POINTS
    _close_annotation(
        _create_annotation(page, raw.FPDF_ANNOT_TEXT, text),
        x,
        y - _NOTE_POINTS,
        x + _NOTE_POINTS,
        y,
    )


def _create_annotation(page: pdfium.PdfPage, kind: int, text: str) -> Any:
    annotation = raw.FPDFPage_CreateAnnot(page, kind)
    if not annotation:
        raise pdfium.PdfiumError("the page takes no annotation")
    for key, value in ((b"Contents", text), (b"T", "Assay")):
        encoded_text = (value + "\0").encode("utf-16-le", "replace")
        units = (ctypes.c_ushort * (len(encoded_text) // 2)).from_buffer_copy(encoded_text)
        raw.FPDFAnnot_SetStringValue(annotation, key, units)
    raw.FPDFAnnot_SetColor(annotation, raw.FPDFANNOT_COLORTYPE_Color, *_COLOUR, 255)
    raw.FPDFAnnot_SetFlags(annotation, _PRINTED)
    return annotation


def _close_annotation(
    annotation: Any, left: float, bottom: float, right: float, top: float
) -> None:
    raw.FPDFAnnot_SetRect(annotation, raw.FS_RECTF(left, top, right, bottom))
    raw.FPDFPage_CloseAnnot(annotation)


if __name__ == "__main__":
    sys.exit(main())
