"""Entries of Parquet files."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from tasks.ideas.columns import Columns
from tasks.ideas.fields import Entries, Entry, no_text_column, unreadable
from tasks.ideas.limits import MAXIMUM_DEPTH, MAXIMUM_ENTRIES, MAXIMUM_FILE_BYTES, refuse_large_file

_ROWS_PER_BATCH = 1
"""Rows of a batch.

Batches are small, because a value stored once for all rows is expanded in every row.
"""

_READ_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def read_parquet(path: Path, columns: Columns) -> Entries:
    """Stream the rows of `path`.

    Raises:
        IdeaFileError: not Parquet, damaged, without a column of ideas, or too large unpacked.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check(path, file, columns)
            yield from _rows(path, file)
    except _READ_ERRORS as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise IdeaFileError(
            f"{path.name} cannot be read as Parquet ({reason}): write it again"
        ) from error


def _check(path: Path, file: pq.ParquetFile, columns: Columns) -> None:
    names, metadata = file.schema_arrow.names, file.metadata
    if not columns.has_text(flat_names(file.schema_arrow)):
        raise no_text_column(path.name, names)
    if len(set(names)) < len(names):
        raise IdeaFileError(f"{path.name} has two columns of one name: rename one of them")
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
    unpacked_bytes = sum(
        group.column(number).total_uncompressed_size
        for group in groups
        for number in range(group.num_columns)
    )
    _refuse_size(path, unpacked_bytes)


def flat_names(schema: pa.Schema) -> list[str]:
    """Return names of columns, and of the fields of columns that are objects."""
    inner = (
        field.type.field(at).name
        for field in schema
        if pa.types.is_struct(field.type)
        for at in range(field.type.num_fields)
    )
    return [*schema.names, *inner]


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
                f"the row cannot be read ({error_line(boundary.error)}): write its texts as UTF-8",
            )
