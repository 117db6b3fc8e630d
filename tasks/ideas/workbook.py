"""Entries of an Excel workbook: the first sheet, with a header row."""

import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from schemas.boundary import ErrorBoundary, in_a_word
from schemas.errors import IdeaFileError
from tasks.ideas.fields import TEXT_FIELDS, Entries, Entry, has_text_field
from tasks.ideas.limits import MAXIMUM_DOCUMENT_BYTES, refuse_large_file

MAXIMUM_COLUMNS = 1_000


def read_workbook(path: Path) -> Entries:
    """The rows of the first sheet of `path`, formulas as the values they last had.

    Raises:
        IdeaFileError: no workbook, one that unpacks to too much, or no column that holds an idea.
    """
    rows = _read(path)
    header = ["" if cell is None else str(cell).strip() for cell in next(rows, ())]
    if not has_text_field(header):
        named = ", ".join(name[:40] for name in header[:12] if name) or "none"
        raise IdeaFileError(
            f"the first sheet of {path.name} has no column with ideas: it has {named}; it needs"
            f" text, or {', '.join(TEXT_FIELDS[2:])}"
        )
    for number, row in enumerate(rows, start=2):
        cells = {
            name: _plain(cell)
            for name, cell in zip(header, row, strict=False)
            if name and cell is not None
        }
        if cells:
            yield Entry(f"{path.name} row {number}", cells)


def _read(path: Path) -> Iterator[tuple[Any, ...]]:
    boundary = ErrorBoundary()  # what a damaged workbook raises is of any type
    with boundary:
        _refuse_what_unpacks_to_much(path)
        from openpyxl import load_workbook  # late: few idea files are workbooks

        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            for sheet in book.worksheets[:1]:
                yield from sheet.iter_rows(values_only=True, max_col=MAXIMUM_COLUMNS)
        finally:
            book.close()
    if isinstance(boundary.error, IdeaFileError):
        raise boundary.error
    if boundary.error is not None:
        raise IdeaFileError(
            f"{path.name} cannot be read as an Excel workbook ({in_a_word(boundary.error)}): save"
            " it again as .xlsx, or as CSV"
        ) from boundary.error


def _refuse_what_unpacks_to_much(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    refuse_large_file(
        f"{path.name}, unpacked,", unpacked, MAXIMUM_DOCUMENT_BYTES, "save the sheet as CSV"
    )


def _plain(cell: object) -> object:
    """A date without a time of day is a date to Excel, and a moment to its readers."""
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return cell
