"""Entries of files with columns: CSV or TSV with a header line, and Parquet."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.boundary import ErrorBoundary, in_a_word
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
from tasks.ideas.limits import MAXIMUM_DEPTH, MAXIMUM_ENTRIES, MAXIMUM_FILE_BYTES, refuse_large_file

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


_ROWS_PER_BATCH = 1
"""A value that stands once in the file and is meant for every row takes its space once for each row
of a batch.
"""

_BROKEN = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def read_parquet(path: Path) -> Entries:
    """Stream the rows of `path`.

    Raises:
        IdeaFileError: no Parquet file, a damaged one, one without a column that holds an idea, or
            one that unpacks to too much.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check(path, file)
            yield from _rows(path, file)
    except _BROKEN as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise IdeaFileError(
            f"{path.name} cannot be read as Parquet ({reason}): write it again"
        ) from error


def _check(path: Path, file: pq.ParquetFile) -> None:
    columns, metadata = file.schema_arrow.names, file.metadata
    if not has_text_field(columns):
        named = ", ".join(columns[:12]) or "none"
        raise IdeaFileError(
            f"{path.name} has no column with ideas: it has {named}; it needs text, or"
            f" {', '.join(TEXT_FIELDS[2:])}"
        )
    if metadata.num_rows > MAXIMUM_ENTRIES:
        raise IdeaFileError(
            f"{path.name} has {metadata.num_rows:,} rows, the limit is {MAXIMUM_ENTRIES:,}: split"
            " it into several"
        )
    for field in file.schema_arrow:
        if _depth(field.type) > MAXIMUM_DEPTH:
            raise IdeaFileError(
                f"column {field.name[:40]} of {path.name} is nested deeper than {MAXIMUM_DEPTH}"
                " levels: flatten it"
            )
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    unpacked = sum(
        group.column(number).total_uncompressed_size
        for group in groups
        for number in range(group.num_columns)
    )
    _refuse_size(path, unpacked)


def _refuse_size(path: Path, unpacked_bytes: int) -> None:
    refuse_large_file(
        f"{path.name}, unpacked,",
        unpacked_bytes,
        MAXIMUM_FILE_BYTES,
        "split it, and leave out columns that are no idea's",
    )


def _depth(kind: pa.DataType) -> int:
    depth, level = 0, [kind]
    while level and depth <= MAXIMUM_DEPTH:
        depth += 1
        level = [inner.field(number).type for inner in level for number in range(inner.num_fields)]
    return depth


def _rows(path: Path, file: pq.ParquetFile) -> Iterable[Entry | RejectedIdea]:
    read_bytes = 0
    for number, batch in enumerate(
        file.iter_batches(batch_size=_ROWS_PER_BATCH, use_threads=False), start=1
    ):
        read_bytes += batch.nbytes
        _refuse_size(path, read_bytes)
        location = f"{path.name} row {number}"
        boundary = ErrorBoundary()
        with boundary:
            (row,) = batch.to_pylist()
        if boundary.error is None:
            yield Entry(location, row)
        else:
            yield unreadable(
                location,
                f"the row cannot be read ({in_a_word(boundary.error)}): write its texts as UTF-8",
            )
