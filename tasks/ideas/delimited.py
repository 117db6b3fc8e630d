"""Entries of a CSV or TSV file with a header line."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from schemas.reasons import Reason
from tasks.ideas.fields import (
    TEXT_FIELDS,
    Entries,
    Entry,
    has_text_field,
    refuse_wide_encodings,
    unreadable,
)

MAXIMUM_CELL_CHARACTERS = 20_000_000
_DELIMITERS = {".tsv": ("\t",), ".csv": (",", ";", "\t")}


def read_delimited(path: Path) -> Entries:
    """Stream the entries of `path`; of `,`, `;` and tab the first that gives a text column is the
    delimiter.

    Raises:
        IdeaFileError: no header, or no column that holds an idea.
    """
    refuse_wide_encodings(path)
    csv.field_size_limit(
        MAXIMUM_CELL_CHARACTERS
    )  # the default refuses cells over 131,072 characters
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        delimiter = _delimiter(path, file)
        file.seek(0)
        yield from _entries(path, file, delimiter)


def _delimiter(path: Path, file: TextIO) -> str:
    delimiters = _DELIMITERS.get(path.suffix.lower(), (",",))
    headers = {delimiter: _header(path, file, delimiter) for delimiter in delimiters}
    for delimiter, header in headers.items():
        if has_text_field(header):
            return delimiter
    columns = [name for name in headers[delimiters[0]] if name.strip()]
    named = (
        ", ".join(name[:40].encode("utf-8", "replace").decode() for name in columns[:12]) or "none"
    )
    raise IdeaFileError(
        f"{path.name} has no column with ideas: it has {named}; it needs text, or"
        f" {', '.join(TEXT_FIELDS[2:])}"
    )


def _header(path: Path, file: TextIO, delimiter: str) -> Sequence[str]:
    file.seek(0)
    try:
        return next(csv.reader(file, delimiter=delimiter), [])
    except csv.Error as error:
        raise IdeaFileError(
            f"{path.name} has no readable header line ({error}): start it with the column names"
        ) from error


def _entries(path: Path, file: TextIO, delimiter: str) -> Entries:
    rows = csv.reader(file, delimiter=delimiter)
    header = next(rows)
    while True:
        location = f"{path.name} line {rows.line_num + 1}"
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield unreadable(
                location, f"the table cannot be read from here on ({error}): check the quotes"
            )
            return
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield _entry(location, header, row)


def _entry(location: str, header: Sequence[str], row: list[str]) -> Entry | RejectedIdea:
    if any("\udc80" <= character <= "\udcff" for cell in row for character in cell):
        return unreadable(location, "the row is not UTF-8: save the file as UTF-8")
    if len(row) > len(header):
        return RejectedIdea(
            idea_id=None,
            location=location,
            reason=Reason.BAD_FIELD,
            detail=(
                f"the row has {len(row)} cells, the header {len(header)}: put cells that contain"
                " the delimiter in double quotes"
            ),
        )
    return Entry(
        location, {name: cell for name, cell in zip(header, row, strict=False) if cell.strip()}
    )
