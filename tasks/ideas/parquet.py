"""Entries of a Parquet file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import IdeaFileError
from tasks.ideas.entries import TEXT_FIELDS, Entries, Entry
from tasks.ideas.fields import has_text_field

ROWS_PER_BATCH = 500
_BROKEN = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def read_parquet(path: Path) -> Entries:
    """Stream the rows of `path`.

    Raises:
        IdeaFileError: no Parquet file, a damaged one, or one without a column that holds an idea.
    """
    try:
        with pq.ParquetFile(path) as file:
            columns = file.schema_arrow.names
            if not has_text_field(columns):
                named = ", ".join(columns[:12]) or "none"
                raise IdeaFileError(f"{path.name} has no column with ideas: it has {named}; it needs text, or {', '.join(TEXT_FIELDS[2:])}")
            number = 0
            for batch in file.iter_batches(batch_size=ROWS_PER_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield Entry(f"{path.name} row {number}", row)
    except _BROKEN as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise IdeaFileError(f"{path.name} cannot be read as Parquet ({reason}): write it again") from error
