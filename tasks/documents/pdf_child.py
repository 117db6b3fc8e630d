"""Child process that reads a PDF from standard input and writes its lines and outline as JSON.

Memory, processor time and files are limited before the PDF is read, because it may be hostile.
Imports nothing of this project. Exit codes are the contract with `pdf.py`.
"""

import ctypes
import json
import sys
from collections.abc import Iterator

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
    try:
        answer = _read(sys.stdin.buffer.read(), maximum_pages=int(sys.argv[1]))
    except pdfium.PdfiumError as error:
        return EXIT_ENCRYPTED if "password" in str(error).lower() else EXIT_DAMAGED
    if isinstance(answer, int):
        return answer
    json.dump(answer, sys.stdout, ensure_ascii=True)
    return 0


def _read(content: bytes, maximum_pages: int) -> dict[str, object] | int:
    document = pdfium.PdfDocument(content)
    page_count = len(document)
    if page_count > maximum_pages:
        sys.stderr.write(str(page_count))
        return EXIT_TOO_MANY_PAGES
    lines: list[tuple[int, str, float, bool, float]] = []
    characters = 0
    for number in range(page_count):
        for text, size, bold, top in _page_lines(document, number):
            characters += len(text)
            lines.append((number, text, size, bold, top))
            if characters > MAXIMUM_CHARACTERS:
                return EXIT_TOO_MUCH_TEXT
    return {
        "page_count": page_count,
        "title": _title(document),
        "lines": lines,
        "outline": list(_outline(document)),
    }


def _title(document: pdfium.PdfDocument) -> str:
    try:
        return _writable(str(document.get_metadata_dict().get("Title", "")))[:500]
    except UnicodeDecodeError:
        return ""


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
    step = max(length // _SAMPLES_PER_LINE, 1)
    positions = [
        position
        for position in range(start, min(start + length, count), step)
        if _is_letter(text_page, position)
    ]
    if not positions:
        positions = [
            position
            for position in range(start, min(start + length, count))
            if _is_letter(text_page, position)
        ][:1] or [min(start, count - 1)]
    sizes = sorted(_size(text_page, position) for position in positions)
    bolds = sum(_is_bold(text_page, position) for position in positions)
    return sizes[len(sizes) // 2], 2 * bolds > len(positions), _top(text_page, positions[0])


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


def _top(text_page: ctypes.c_void_p, position: int) -> float:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text_page, position, left, right, bottom, top)
    return round(top.value, 1)


if __name__ == "__main__":
    sys.exit(main())
