"""From a path to the source of papers it is: a table, a release of Semantic Scholar,
OpenAlex works.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from tasks.literature.snapshot import parts
from tasks.literature.snapshot.openalex import OpenAlexWorks, is_work, open_works
from tasks.literature.snapshot.parts import (
    Place,
    Progress,
    Row,
    first_line,
    json_rows,
    parquet_batches,
    parts_in,
)
from tasks.literature.snapshot.records import REQUIRED_COLUMNS
from tasks.literature.snapshot.release import SemanticScholarRelease, is_release, open_release

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


FORMS = (
    "name a Parquet or JSONL file of papers, the folder of a Semantic Scholar release, or OpenAlex"
    " works"
)


def open_papers(path: Path) -> PaperFile | SemanticScholarRelease | OpenAlexWorks:
    """Look at what is at `path`.

    Raises:
        SnapshotError: it is missing, empty, of another form, or lacks columns.
    """
    if path.is_dir():
        return _open_folder(path)
    if not path.is_file():
        raise SnapshotError(f"{path} is not a file or folder of papers; {FORMS}")
    if path.stat().st_size == 0:
        raise SnapshotError(f"{path} is empty; a snapshot needs at least one paper")
    if any(is_work(row) for row in _first_rows(path)):
        return open_works(path)
    return open_table(path)


def _open_folder(path: Path) -> SemanticScholarRelease | OpenAlexWorks:
    if is_release(path):
        return open_release(path)
    parts = parts_in(path)
    if parts and any(is_work(row) for row in _first_rows(parts[0])):
        return open_works(path)
    raise SnapshotError(f"{path} is a folder of something else; {FORMS}")


def _first_rows(path: Path) -> Iterator[dict[str, object]]:
    with path.open("rb") as stream:
        if stream.read(4) == b"PAR1":
            return iter(())
    return islice(json_rows(path, 0), 1)
