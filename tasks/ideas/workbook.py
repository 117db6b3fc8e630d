"""Entries of an Excel workbook: one sheet with a header row."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import IO, Any
from xml.parsers.expat import ExpatError, ParserCreate

from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import IdeaFileError
from tasks.ideas.cells import SPREADSHEET_ERRORS, is_blank, without_escapes
from tasks.ideas.columns import Columns
from tasks.ideas.delimited import HEADER_ROWS, best_header, unique_names
from tasks.ideas.fields import Entries, Entry, bad_field, no_text_column
from tasks.ideas.limits import MAXIMUM_COLUMNS, MAXIMUM_DOCUMENT_BYTES, refuse_large_file

_NO_VALUE = "is a formula without a value: open the file in Excel and save it, or write the value"


@dataclass(slots=True)
class _Marks:
    """Properties of cells beyond their values; rows and columns count from 1."""

    formulas: set[str] = field(default_factory=set)
    merged: dict[tuple[int, int], int] = field(default_factory=dict)
    """Last row of a merged range, by the row and column of its value."""
    formula_rows: set[int] = field(default_factory=set)
    """Rows with a formula that has no value."""
    width: int = 1
    """Columns that contain a cell."""
    hidden_rows: int = 0
    hidden_columns: int = 0


def read_workbook(path: Path, columns: Columns) -> Entries:
    """Stream the rows of the first sheet that has a column with ideas.

    Formulas are read by their last values. A merged range has its value in every row.

    Raises:
        IdeaFileError: no workbook, too large unpacked, or no column with ideas.
    """
    boundary = ErrorBoundary()  # a damaged workbook can raise any exception
    with boundary:
        refuse_unbounded_workbook(path)
        from openpyxl import load_workbook  # late: few idea files are workbooks

        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            sheet, place = _sheet(path, book.worksheets, columns)
            yield from _entries(path, sheet, place, columns)
        finally:
            book.close()
    if isinstance(boundary.error, IdeaFileError):
        raise boundary.error
    if boundary.error is not None:
        raise IdeaFileError(
            f"{path.name} cannot be read as an Excel workbook ({error_line(boundary.error)}): save"
            " it again as .xlsx, or as CSV"
        ) from boundary.error


def _sheet(path: Path, sheets: Sequence[Any], columns: Columns) -> tuple[Any, int]:
    """Return the sheet to read, visible ones first, and the index of its header."""
    ordered_sheets = sorted(sheets, key=lambda sheet: sheet.sheet_state != "visible")
    starts = {sheet.title: _start(sheet) for sheet in ordered_sheets}
    for sheet in ordered_sheets:
        place = best_header(starts[sheet.title], columns)
        if place is None:
            continue
        other_sheets = [
            name for name, rows in starts.items() if name != sheet.title and any(map(any, rows))
        ]
        if other_sheets:
            names = ", ".join(repr(name[:40]) for name in other_sheets[:5])
            more = f" and {len(other_sheets) - 5} more" if len(other_sheets) > 5 else ""
            columns.remark(f"only the sheet {sheet.title!r} is read, and not {names}{more}")
        if any(map(any, starts[sheet.title][:place])):
            columns.remark(f"the header is row {place + 1}, and what is above it is not read")
        return sheet, place
    first = (
        next((row for row in starts[ordered_sheets[0].title] if any(row)), [])
        if ordered_sheets
        else []
    )
    raise no_text_column(f"the first sheet of {path.name}", first)


def _start(sheet: Any) -> list[list[str]]:
    sheet.reset_dimensions()  # openpyxl leaves out rows beyond the size that a sheet declares
    rows = sheet.iter_rows(values_only=True, max_col=MAXIMUM_COLUMNS, max_row=HEADER_ROWS)
    return [["" if cell is None else str(_plain(cell)).strip() for cell in row] for row in rows]


def _entries(path: Path, sheet: Any, place: int, columns: Columns) -> Entries:
    from openpyxl.utils import get_column_letter

    marks = _marks(sheet)
    for kind, count in (("rows", marks.hidden_rows), ("columns", marks.hidden_columns)):
        if count:
            columns.remark(f"hidden {kind} of the sheet {sheet.title!r} are read too: {count:,}")
    rows = sheet.iter_rows(values_only=True, max_col=min(marks.width, MAXIMUM_COLUMNS))
    first = [
        "" if cell is None else str(_plain(cell)).strip()
        for cell in next(islice(rows, place, None))
    ]
    header = unique_names(first, lambda at: f"column {get_column_letter(at + 1)}")
    columns.see(name for name, cell in zip(header, first, strict=True) if cell)
    names = [name.casefold() for name in first]
    merged_values: dict[int, tuple[int, object, str]] = {}
    for number, row in enumerate(rows, start=place + 2):
        # Openpyxl generates up to a million rows that are not in the sheet; they are empty.
        if row.count(None) == len(row) and number not in marks.formula_rows:
            continue
        cells = [None if cell is None else _plain(cell) for cell in row]
        if ["" if cell is None else str(cell).strip().casefold() for cell in cells] == names:
            columns.remark("the header is repeated between rows, and these rows are left out")
            continue
        if marks.merged:
            _fill_merged(cells, number, marks, merged_values)
        column_names = (
            *header,
            *(f"column {get_column_letter(at)}" for at in range(len(header) + 1, len(cells) + 1)),
        )
        location = f"{path.name} row {number}"
        fault = _first_fault(cells, number, column_names, marks, columns)
        if fault is not None:
            yield bad_field(location, fault)
        elif not all(map(is_blank, cells)):
            pairs = zip(column_names, cells, strict=False)
            yield Entry(location, {name: cell for name, cell in pairs if cell is not None})


def _fill_merged(
    cells: list[object],
    number: int,
    marks: _Marks,
    merged_values: dict[int, tuple[int, object, str]],
) -> None:
    """Fill a row that has values with those of its merged ranges."""
    from openpyxl.utils import get_column_letter

    has_values = not all(map(is_blank, cells))
    for at, cell in enumerate(cells):
        if (number, at + 1) in marks.merged:
            place = f"{get_column_letter(at + 1)}{number}"
            merged_values[at] = (marks.merged[number, at + 1], cell, place)
        elif (
            has_values and at in merged_values and number <= merged_values[at][0] and is_blank(cell)
        ):
            cells[at] = merged_values[at][1]
            if merged_values[at][2] in marks.formulas:
                marks.formulas.add(f"{get_column_letter(at + 1)}{number}")
                marks.formula_rows.add(number)


def _first_fault(
    cells: Sequence[object],
    number: int,
    names: Sequence[str],
    marks: _Marks,
    columns: Columns,
) -> str | None:
    """Return why a row cannot be read.

    Faults in metadata cells are only remarked.
    """
    from openpyxl.utils import get_column_letter

    faults = []
    for at, (name, cell) in enumerate(zip(names, cells, strict=False)):
        if cell is None and number not in marks.formula_rows:
            continue  # most cells of a wide sheet
        place = f"{get_column_letter(at + 1)}{number}"
        if place in marks.formulas and is_blank(cell):
            problem = _NO_VALUE
        elif isinstance(cell, str) and cell in SPREADSHEET_ERRORS:
            problem = f"is an error ({cell}): write the value"
        else:
            continue
        if columns.meaning_of(name) is None:
            columns.remark("cell ", place, f" of the metadata {name[:40]!r} {problem}")
        else:
            faults.append(f"cell {place} ({name[:40]}) {problem}")
    return faults[0] if faults else None


def _marks(sheet: Any) -> _Marks:
    """Read properties that openpyxl skips when it streams a sheet."""
    from defusedxml.ElementTree import iterparse
    from openpyxl.utils.cell import coordinate_to_tuple, range_boundaries

    marks = _Marks()
    column = 0
    with sheet._get_source() as source:  # the only access to its XML
        for _, element in iterparse(source):
            tag = element.tag.rpartition("}")[2]
            if tag == "c":
                place = element.get("r", "")
                row, column = coordinate_to_tuple(place) if place else (0, column + 1)
                marks.width = max(marks.width, column)
                child_texts = {each.tag.rpartition("}")[2]: each.text for each in element}
                empty_text = element.get("t") == "str" and "v" in child_texts
                if "f" in child_texts and not child_texts.get("v") and not empty_text:
                    marks.formulas.add(place)
                    marks.formula_rows.add(row)
            elif tag == "row":
                column = 0
                hidden = element.get("hidden") in ("1", "true")
                marks.hidden_rows += hidden and any(len(cell) for cell in element)
                element.clear()
            elif tag == "col" and element.get("hidden") in ("1", "true"):
                first, last = int(element.get("min", "1")), int(element.get("max", "1"))
                marks.hidden_columns += min(last, MAXIMUM_COLUMNS) - first + 1
            elif tag == "mergeCell":
                left, top, _, bottom = range_boundaries(element.get("ref", ""))
                if bottom > top:
                    marks.merged[top, left] = bottom
    return marks


def _plain(cell: object) -> object:
    """Convert a time stamp at midnight to a date, as Excel shows it, and decode escapes."""
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return without_escapes(cell) if isinstance(cell, str) else cell


MAXIMUM_ROWS = 1_048_576
"""Rows of a sheet, as in Excel."""

MAXIMUM_SHEETS = 100

MAXIMUM_ELEMENTS = 10_000_000
"""XML elements of all parts: about 250,000 rows of 20 cells with a value."""

MAXIMUM_HELD_ELEMENTS = 500_000
"""XML elements outside rows and shared texts, which openpyxl keeps in memory."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW = f"{_MAIN}row"
_RELEASED_TAGS = frozenset((_ROW, f"{_MAIN}si"))
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
        unpacked_bytes = sum(part.file_size for part in parts)
        refuse_large_file(
            f"{path.name}, unpacked,", unpacked_bytes, MAXIMUM_DOCUMENT_BYTES, _REMEDY
        )
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
    def __init__(self, name: str) -> None:
        self._name = name
        self._total = 0
        self._held = 0
        self._row = 0
        self._held_before: list[int] = []

    def count(self, stream: IO[bytes]) -> None:
        """Count the elements of a part up to the first XML error, where openpyxl stops too."""
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
        if tag in _RELEASED_TAGS:
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
        if tag in _RELEASED_TAGS:
            self._held = self._held_before.pop()

    def _check_row(self, number: str | None) -> None:
        # A missing number is the last row plus one. Openpyxl also accepts `1e9`.
        row = self._row + 1 if number is None else float(number)
        if not row <= MAXIMUM_ROWS:
            raise IdeaFileError(
                f"{self._name} has a row {(number or str(row))[:20]}, and the last row of a sheet"
                f" is {MAXIMUM_ROWS:,}: {_REMEDY}"
            )
        self._row = int(row)

    def _refuse_entity(self, *_: object) -> None:
        raise IdeaFileError(f"{self._name} declares XML entities: {_REMEDY}")
