"""One file of papers, Parquet or JSON lines, with one column per field."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from tasks.literature.snapshot import parts
from tasks.literature.snapshot.parts import Place, Row, first_line, json_rows
from tasks.literature.snapshot.records import OPTIONAL_COLUMNS, REQUIRED_COLUMNS
from tasks.literature.snapshot.sources import Progress

_LINES_LOOKED_AT = 100
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PaperFile:
    """Implements `PaperSource`."""

    path: Path
    row_count: int
    has_references: bool
    parquet: bool
    identified: bool = False
    through: str | None = None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def identity(self) -> str:
        found = self.path.stat()
        return f"{self.path.resolve()}|{found.st_size}|{found.st_mtime_ns}"

    def prepare(self, workplace: Path, report: Progress) -> int:
        """Nothing to prepare: rows are read as they are."""
        del workplace, report
        return self.row_count

    def batches(self, workplace: Path, start: Place) -> Iterator[tuple[list[Row], Place]]:
        """Rows from `start` on.

        Raises SnapshotError when a row or page of the file cannot be read.
        """
        del workplace
        return (
            parquet_batches((self.path,), start)
            if self.parquet
            else parts.batches_of((self.path,), start)
        )


def open_table(path: Path) -> PaperFile:
    """Look at a file of papers.

    Raises:
        SnapshotError: it is empty, of another format, or lacks columns.
    """
    with path.open("rb") as stream:
        parquet = stream.read(4) == b"PAR1"
    columns, row_count = _parquet_shape(path) if parquet else _jsonl_shape(path)
    if row_count == 0:
        raise SnapshotError(f"{path} holds no papers; a snapshot needs at least one")
    missing = [name for name in REQUIRED_COLUMNS if name not in columns]
    if missing:
        raise SnapshotError(
            f"{path} lacks the columns {', '.join(missing)}; it has"
            f" {', '.join(sorted(columns)) or 'none'}"
        )
    return PaperFile(
        path=path, row_count=row_count, has_references="references" in columns, parquet=parquet
    )


def _parquet_shape(path: Path) -> tuple[set[str], int]:
    try:
        with pq.ParquetFile(path) as file:
            return set(file.schema_arrow.names), file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise SnapshotError(f"{path} is no readable Parquet file: {first_line(error)}") from error


def _jsonl_shape(path: Path) -> tuple[set[str], int]:
    columns: set[str] = set()
    for row in islice(json_rows(path, 0), _LINES_LOOKED_AT):
        columns.update(row)
    with parts.opened(path) as (stream, _):
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""))
    return columns, max(lines, 1) if columns else 0


def parquet_batches(paths: tuple[Path, ...], start: Place) -> Iterator[tuple[list[Row], Place]]:
    """Rows of Parquet files from `start` on, each batch with the place behind it.

    Raises:
        SnapshotError: a page of a file cannot be read.
    """
    for number in range(start.part, len(paths)):
        read = start.row if number == start.part else 0
        for batch in _file_batches(paths[number], read):
            read += len(batch)
            yield batch, Place(number, read)
        yield [], Place(number + 1, 0)


def _file_batches(path: Path, first_row: int) -> Iterator[list[Row]]:
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_CHUNK_BYTES) as file:
            wanted = [
                name
                for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)
                if name in file.schema_arrow.names
            ]
            groups, before = [], 0
            skipped = first_row
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                before += rows
                if before > first_row:
                    groups.append(group)
                else:
                    skipped -= rows
            for batch in (
                file.iter_batches(parts.BATCH_ROWS, row_groups=groups, columns=wanted)
                if groups
                else ()
            ):
                if skipped >= batch.num_rows:
                    skipped -= batch.num_rows
                    continue
                yield batch.slice(skipped).to_pylist()
                skipped = 0
    except (pa.ArrowException, OSError) as error:
        raise SnapshotError(f"{path} cannot be read to its end: {first_line(error)}") from error
