"""Child process that reads a PDF from standard input.

`pdf_child.py PAGES` writes its lines and outline as JSON. `pdf_child.py PAGES comments` adds the
comments of a line of JSON before the file; it writes a line with the quotes found, and the file.
Memory, processor time and files are limited before the PDF is read, because it may be hostile.
Imports nothing of this project. Exit codes are the contract with `pdf.py`.
"""

import ctypes
import io
import json
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

EXIT_DAMAGED = 10
EXIT_ENCRYPTED = 11
EXIT_TOO_MANY_PAGES = 12
EXIT_TOO_MUCH_TEXT = 14

# More than a thousand printed pages.
MAXIMUM_CHARACTERS = 4_000_000
MAXIMUM_OUTLINE_ENTRIES = 2_000
_SAMPLES_PER_LINE = 4
_BOLD_WEIGHT = 600
_BOLD_NAMES = (b"bold", b"black", b"heavy", b"-medi", b"cmbx", b"semibold")
_NAME_BYTES = 128


def main() -> int:
    content, comments = sys.stdin.buffer.read(), b""
    if "comments" in sys.argv:
        comments, _, content = content.partition(b"\n")
    try:
        document = pdfium.PdfDocument(content)
        if len(document) > int(sys.argv[1]):
            sys.stderr.write(str(len(document)))
            return EXIT_TOO_MANY_PAGES
        return _write_commented(document, json.loads(comments)) if comments else _write(document)
    except pdfium.PdfiumError as error:
        return EXIT_ENCRYPTED if "password" in str(error).lower() else EXIT_DAMAGED


def _write(document: pdfium.PdfDocument) -> int:
    lines: list[tuple[int, str, float, bool, float]] = []
    characters = 0
    for number in range(len(document)):
        for text, size, bold, top in _page_lines(document, number):
            characters += len(text)
            lines.append((number, text, size, bold, top))
            if characters > MAXIMUM_CHARACTERS:
                return EXIT_TOO_MUCH_TEXT
    try:
        title = _writable(str(document.get_metadata_dict().get("Title", "")))[:500]
    except UnicodeDecodeError:
        title = ""
    outline = list(_outline(document))
    answer = {"page_count": len(document), "title": title, "lines": lines, "outline": outline}
    json.dump(answer, sys.stdout, ensure_ascii=True)
    return 0


def _writable(text: str) -> str:
    """Replace lone surrogates, which a PDF may contain and JSON may not."""
    return text.encode("utf-8", "replace").decode()


def _outline(document: pdfium.PdfDocument) -> Iterator[tuple[str, int, int, float | None]]:
    """Yield (title, level, page, top of the target) of entries that lead to a page."""
    for count, bookmark in enumerate(document.get_toc(max_depth=8)):
        if count >= MAXIMUM_OUTLINE_ENTRIES:
            return
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None and page >= 0:
            mode, position = target.get_view()
            height = {
                raw.PDFDEST_VIEW_XYZ: 1,
                raw.PDFDEST_VIEW_FITH: 0,
                raw.PDFDEST_VIEW_FITBH: 0,
            }.get(mode)
            top = position[height] if height is not None and len(position) > height else None
            try:
                title = _writable(bookmark.get_title())
            except UnicodeDecodeError:  # its heading may still be found by its font
                continue
            yield title[:500], bookmark.level, page, top


def _page_lines(
    document: pdfium.PdfDocument, number: int
) -> Iterator[tuple[str, float, bool, float]]:
    """Yield (text, font size in points, bold, top) of every line; none of an unreadable page."""
    try:
        page = document[number]
        text_page = page.get_textpage()
    except pdfium.PdfiumError:
        return
    index = 0
    count = text_page.count_chars()
    for line in text_page.get_text_range(0, count).split("\r\n") if count > 0 else ():
        length = len(line.encode("utf-16-le", "surrogatepass")) // 2
        if line.strip():
            size, bold, top = _appearance(text_page.raw, index, length, count)
            yield _writable(line.strip()), size, bold, top
        index += length + 2
    text_page.close()
    page.close()


def _appearance(
    text_page: ctypes.c_void_p, start: int, length: int, count: int
) -> tuple[float, bool, float]:
    """Return size, weight and top position of a line, from a sample of its letters."""
    end = min(start + length, count)
    step = max(length // _SAMPLES_PER_LINE, 1)
    positions = [each for each in range(start, end, step) if _is_letter(text_page, each)]
    if not positions:
        letters = (each for each in range(start, end) if _is_letter(text_page, each))
        positions = [next(letters, min(start, count - 1))]
    sizes = sorted(_size(text_page, position) for position in positions)
    bolds = sum(_is_bold(text_page, position) for position in positions)
    box = [ctypes.c_double() for _ in range(4)]  # left, right, bottom, top
    raw.FPDFText_GetCharBox(text_page, positions[0], *box)
    return sizes[len(sizes) // 2], 2 * bolds > len(positions), round(box[3].value, 1)


def _is_letter(text_page: ctypes.c_void_p, position: int) -> bool:
    code = raw.FPDFText_GetUnicode(text_page, position)
    return 0 < code < 0x110000 and chr(code).isalnum()


def _size(text_page: ctypes.c_void_p, position: int) -> float:
    """Return the printed size: some PDFs set fonts at one point and scale them by the matrix."""
    size = raw.FPDFText_GetFontSize(text_page, position)
    matrix = raw.FS_MATRIX()
    if raw.FPDFText_GetMatrix(text_page, position, matrix):
        scale = (matrix.b**2 + matrix.d**2) ** 0.5
        size *= scale if scale > 0 else 1.0
    return round(float(size), 1)


def _is_bold(text_page: ctypes.c_void_p, position: int) -> bool:
    if raw.FPDFText_GetFontWeight(text_page, position) >= _BOLD_WEIGHT:
        return True
    name = ctypes.create_string_buffer(_NAME_BYTES)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text_page, position, name, _NAME_BYTES, flags)
    return any(mark in name.value.lower() for mark in _BOLD_NAMES)


_LEAST_LETTERS = 8
"""A shorter quote is ambiguous."""
_LEAST_LETTERS_OF_A_PART = 24
_MOST_RECTANGLES = 100
_NOTE_POINTS, _NOTE_STEP_POINTS, _NOTES_IN_A_ROW = 20, 24, 16
_COLOUR = (255, 205, 60)
_PRINT_FLAG = 4
"""The print flag of an annotation."""


def _write_commented(document: pdfium.PdfDocument, comments: list[dict[str, Any]]) -> int:
    """Add comments, each at its quote, else at the top of its page."""
    letters = _Letters(document)
    if letters.count > MAXIMUM_CHARACTERS:
        return EXIT_TOO_MUCH_TEXT
    at_quote, notes = [], dict.fromkeys(range(len(document)), 0)
    for comment in comments:
        marks: list[tuple[float, float, float, float]] = []
        if span := letters.find(comment["quote"]):
            page, (first, last) = document[span[0]], span[1:]
            text_page = page.get_textpage()
            count = min(text_page.count_rects(first, last - first + 1), _MOST_RECTANGLES)
            marks = [text_page.get_rect(number) for number in range(count)]
        if marks:
            lefts, bottoms, rights, tops = zip(*marks, strict=True)
            box = (min(lefts), min(bottoms), max(rights), max(tops))
            _annotate(page, comment["text"], box, marks)
        else:
            number = min(comment["page"], len(document)) - 1
            left, _, _, top = document[number].get_cropbox()
            row, column = divmod(notes[number], _NOTES_IN_A_ROW)
            x, y = left + 6 + column * _NOTE_STEP_POINTS, top - 6 - row * _NOTE_STEP_POINTS
            box = (x, y - _NOTE_POINTS, x + _NOTE_POINTS, y)
            _annotate(document[number], comment["elsewhere"], box)
            notes[number] += 1
        at_quote.append(bool(marks))
    output = io.BytesIO()
    document.save(output)
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


def _annotate(
    page: pdfium.PdfPage,
    text: str,
    box: tuple[float, float, float, float],
    marks: list[tuple[float, float, float, float]] | None = None,
) -> None:
    """Add a highlight of `marks`, or a note without them; boxes are left, bottom, right, top."""
    kind = raw.FPDF_ANNOT_HIGHLIGHT if marks else raw.FPDF_ANNOT_TEXT
    annotation = raw.FPDFPage_CreateAnnot(page, kind)
    if not annotation:
        raise pdfium.PdfiumError("the page takes no annotation")
    for key, value in ((b"Contents", text), (b"T", "Assay")):
        encoded_text = (value + "\0").encode("utf-16-le", "replace")
        units = (ctypes.c_ushort * (len(encoded_text) // 2)).from_buffer_copy(encoded_text)
        raw.FPDFAnnot_SetStringValue(annotation, key, units)
    raw.FPDFAnnot_SetColor(annotation, raw.FPDFANNOT_COLORTYPE_Color, *_COLOUR, 255)
    raw.FPDFAnnot_SetFlags(annotation, _PRINT_FLAG)
    for left, bottom, right, top in marks or ():
        corners = raw.FS_QUADPOINTSF(left, top, right, top, left, bottom, right, bottom)
        raw.FPDFAnnot_AppendAttachmentPoints(annotation, corners)
    left, bottom, right, top = box
    raw.FPDFAnnot_SetRect(annotation, raw.FS_RECTF(left, top, right, bottom))
    raw.FPDFPage_CloseAnnot(annotation)


if __name__ == "__main__":
    sys.exit(main())
