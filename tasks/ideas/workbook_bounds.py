"""Bounds of an Excel workbook, checked before openpyxl builds objects from it."""

import zipfile
from pathlib import Path
from typing import IO
from xml.parsers.expat import ExpatError, ParserCreate

from schemas.errors import IdeaFileError
from tasks.ideas.limits import MAXIMUM_DOCUMENT_BYTES, refuse_large_file

MAXIMUM_ROWS = 1_048_576
"""Of a sheet, as in Excel."""

MAXIMUM_SHEETS = 100

MAXIMUM_ELEMENTS = 10_000_000
"""XML elements of all parts: some 250,000 rows of 20 cells with a value."""

MAXIMUM_HELD_ELEMENTS = 500_000
"""XML elements that are not in a row or a shared text, which openpyxl holds in memory."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW = f"{_MAIN}row"
_RELEASED = frozenset((_ROW, f"{_MAIN}si"))
_LONGEST_FORMAT = 255  # characters, as in Excel; openpyxl's pattern takes quadratic time over them
_REMEDY = "save the sheet with the ideas as CSV"


def refuse_unbounded_workbook(path: Path) -> None:
    """Refuse a workbook that takes too much time or memory to read.

    Raises:
        IdeaFileError: too many bytes, elements, rows or sheets, or one part used for two sheets.
    """
    elements = _Elements(path.name)
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        unpacked = sum(part.file_size for part in parts)
        refuse_large_file(f"{path.name}, unpacked,", unpacked, MAXIMUM_DOCUMENT_BYTES, _REMEDY)
        for part in parts:
            with archive.open(part) as stream:
                elements.count(stream)
    _refuse_repeated_sheets(path)


def _refuse_repeated_sheets(path: Path) -> None:
    from openpyxl.reader.excel import ExcelReader  # late: few idea files are workbooks

    reader = ExcelReader(path, read_only=True, keep_links=False)
    with reader.archive:
        reader.read_manifest()
        reader.read_workbook()
        targets = [relation.target for _, relation in reader.parser.find_sheets()]
    if len(targets) > MAXIMUM_SHEETS:
        raise IdeaFileError(
            f"{path.name} has {len(targets):,} sheets, the limit is {MAXIMUM_SHEETS}: {_REMEDY}"
        )
    if len(set(targets)) < len(targets):
        raise IdeaFileError(f"two sheets of {path.name} share one content: {_REMEDY}")


class _Elements:
    """Counter of the XML elements of a workbook."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._total = 0
        self._held = 0
        self._row = 0
        self._held_before: list[int] = []

    def count(self, stream: IO[bytes]) -> None:
        """Count the elements of a part up to where it is no XML; openpyxl stops there too."""
        parser = ParserCreate(namespace_separator="}")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._refuse_entity
        self._row = 0
        self._held_before.clear()
        try:
            parser.ParseFile(stream)
        except ExpatError:
            return

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._total += 1
        if len(attributes.get("formatCode", "")) > _LONGEST_FORMAT:
            raise IdeaFileError(
                f"{self._name} has a number format of more than {_LONGEST_FORMAT} characters:"
                f" {_REMEDY}"
            )
        if tag in _RELEASED:
            self._held_before.append(self._held)
            if tag == _ROW:
                self._check_row(attributes.get("r"))
        else:
            self._held += 1
        if self._held > MAXIMUM_HELD_ELEMENTS:
            raise IdeaFileError(
                f"{self._name} has more than {MAXIMUM_HELD_ELEMENTS:,} XML elements that are no"
                f" cells, such as merged ranges and formats: {_REMEDY}"
            )
        if self._total > MAXIMUM_ELEMENTS:
            raise IdeaFileError(
                f"{self._name} has more than {MAXIMUM_ELEMENTS:,} XML elements: split it into"
                " several workbooks, or save the sheet with the ideas as CSV"
            )

    def _end(self, tag: str) -> None:
        if tag in _RELEASED:
            self._held = self._held_before.pop()

    def _check_row(self, number: str | None) -> None:
        # A missing number is that of the row before plus one. Openpyxl reads `1e9` as a number too.
        row = self._row + 1 if number is None else float(number)
        if not row <= MAXIMUM_ROWS:
            raise IdeaFileError(
                f"{self._name} has a row {(number or str(row))[:20]}, and the last row of a sheet"
                f" is {MAXIMUM_ROWS:,}: {_REMEDY}"
            )
        self._row = int(row)

    def _refuse_entity(self, *_: object) -> None:
        raise IdeaFileError(f"{self._name} declares XML entities: {_REMEDY}")
