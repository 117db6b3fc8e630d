"""Rows of a Parquet or JSONL file in batches, from any row on, without holding the file in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from tasks.literature.snapshot.records import OPTIONAL_COLUMNS, REQUIRED_COLUMNS

BATCH_ROWS = 2_000
_LINES_LOOKED_AT = 100
_CHUNK_BYTES = 1 << 20

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PaperFile:
    """A readable source of papers: how many rows, and whether it knows references."""

    path: Path
    row_count: int
    has_references: bool
    parquet: bool

    @property
    def identity(self) -> str:
        """Changes when the file does."""
        found = self.path.stat()
        return f"{self.path.resolve()}|{found.st_size}|{found.st_mtime_ns}"

    def batches(self, first_row: int) -> Iterator[list[Row]]:
        """Rows from `first_row` on, at most `BATCH_ROWS` at a time.

        Raises:
            SnapshotError: a row or page of the file cannot be read.
        """
        return _parquet_batches(self.path, first_row) if self.parquet else _jsonl_batches(self.path, first_row)


def open_papers(path: Path) -> PaperFile:
    """Look at a file of papers.

    Raises:
        SnapshotError: it is missing, empty, of another format, or lacks columns.
    """
    if not path.is_file():
        raise SnapshotError(f"{path} is not a file; name a Parquet or JSONL file of papers")
    if path.stat().st_size == 0:
        raise SnapshotError(f"{path} is empty; a snapshot needs at least one paper")
    with path.open("rb") as stream:
        parquet = stream.read(4) == b"PAR1"
    columns, row_count = _parquet_shape(path) if parquet else _jsonl_shape(path)
    if row_count == 0:
        raise SnapshotError(f"{path} holds no papers; a snapshot needs at least one")
    missing = [name for name in REQUIRED_COLUMNS if name not in columns]
    if missing:
        raise SnapshotError(f"{path} lacks the columns {', '.join(missing)}; it has {', '.join(sorted(columns)) or 'none'}")
    return PaperFile(path=path, row_count=row_count, has_references="references" in columns, parquet=parquet)


def _parquet_shape(path: Path) -> tuple[set[str], int]:
    try:
        with pq.ParquetFile(path) as file:
            return set(file.schema_arrow.names), file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise SnapshotError(f"{path} is no readable Parquet file: {_first_line(error)}") from error


def _jsonl_shape(path: Path) -> tuple[set[str], int]:
    columns: set[str] = set()
    for number, (_, row) in enumerate(_json_rows(path, 0)):
        if number >= _LINES_LOOKED_AT:
            break
        columns.update(row)
    with path.open("rb") as stream:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""))
    return columns, max(lines, 1) if columns else 0


def _parquet_batches(path: Path, first_row: int) -> Iterator[list[Row]]:
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_CHUNK_BYTES) as file:
            wanted = [name for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS) if name in file.schema_arrow.names]
            groups, before = [], 0
            skipped = first_row
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                before += rows
                if before > first_row:
                    groups.append(group)
                else:
                    skipped -= rows
            for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=wanted) if groups else ():
                if skipped >= batch.num_rows:
                    skipped -= batch.num_rows
                    continue
                yield batch.slice(skipped).to_pylist()
                skipped = 0
    except (pa.ArrowException, OSError) as error:
        raise SnapshotError(f"{path} cannot be read to its end: {_first_line(error)}") from error


def _jsonl_batches(path: Path, first_row: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for _, row in _json_rows(path, first_row):
        batch.append(row)
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _json_rows(path: Path, first_row: int) -> Iterator[tuple[int, Row]]:
    seen = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            seen += 1
            if seen <= first_row:
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise SnapshotError(f"{path} line {number} is no JSON ({_first_line(error)}); write one paper per line") from error
            if not isinstance(row, dict):
                raise SnapshotError(f"{path} line {number} is no object; write one paper per line")
            yield number, row


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
