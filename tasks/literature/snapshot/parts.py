"""Files of papers (JSON lines or Parquet, compressed or not), read from any row on."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from schemas.identifiers import content_hash
from schemas.text.plain_files import files_below
from tasks.literature.snapshot.records import OPTIONAL_COLUMNS, REQUIRED_COLUMNS
from tasks.web.decoding import json_of

# A batch is one transaction; small enough that a killed build repeats little work.
BATCH_ROWS = 2_000
_CHUNK_BYTES = 1 << 20
_LINES_LOOKED_AT = 200
_SUFFIXES = (".gz", ".jsonl", ".json", ".ndjson")

Row = dict[str, Any]

Progress = Callable[[int, int, str], None]
"""Called with (done, total, stage)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place where reading resumes: a part, and the number of its rows already read."""

    part: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperSource:
    """Papers in batches from any place on, so that a killed build can resume.

    Attributes:
        identity: changes when the source does.
        identified: whether papers are matched by the source's own identifiers alone.
        through: the last release or day in it; None if it has none.
        prepare: converts the source in a work folder, resuming, and returns the approximate number
            of papers.
        batches: returns the rows from a place on, each batch with the place after it. Raises
            SnapshotError.
    """

    name: str
    identity: str
    has_references: bool
    prepare: Callable[[Path, Progress], int]
    batches: Callable[[Path, Place], Iterator[tuple[list[Row], Place]]]
    identified: bool = True
    through: str | None = None


def parts_in(folder: Path) -> tuple[Path, ...]:
    """Return the files of JSON lines below `folder`, ordered by path."""
    return plain_files(
        path
        for path in (files_below(folder) if folder.is_dir() else ())
        if path.name.endswith(_SUFFIXES) and not path.name.startswith(".")
    )


def refuse_linked_folders(folder: Path) -> None:
    """Raise SnapshotError if a folder anywhere below `folder` is a link."""
    for path in files_below(folder):
        if path.is_symlink() and path.is_dir():
            raise SnapshotError(f"{path} is a link: put the folder itself there")


def plain_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths in order.

    Raises SnapshotError for a link, pipe or device.
    """
    files = tuple(sorted(paths))
    special_file = next((path for path in files if path.is_symlink() or not path.is_file()), None)
    if special_file is not None:
        raise SnapshotError(f"{special_file} is a link, pipe or device: put the file itself there")
    return files


def identity_of(parts: Sequence[Path], root: Path) -> str:
    """Return an identity that changes when a part is added, removed or rewritten."""
    statuses = [(str(path.relative_to(root)), path.stat()) for path in parts]
    summary = "|".join(f"{name}:{status.st_size}:{status.st_mtime_ns}" for name, status in statuses)
    return f"{root.resolve()}|{content_hash(summary, length=40)}"


def batches_of(paths: Sequence[Path], start: Place) -> Iterator[tuple[list[Row], Place]]:
    """Yield batches of rows from `start` on, each with the place after it.

    A batch has at most `BATCH_ROWS` rows of one file. Raises SnapshotError for an unreadable file,
    or a line that is no object.
    """
    for number in range(start.part, len(paths)):
        path, rows_read = paths[number], start.row if number == start.part else 0
        batches_in = _parquet_batches if is_parquet(path) else _json_batches
        for batch in batches_in(path, rows_read):
            rows_read += len(batch)
            yield batch, Place(number, rows_read)
        yield [], Place(number + 1, 0)


def is_parquet(path: Path) -> bool:
    with open_part(path) as (_, raw):
        return raw.read(4) == b"PAR1"


def _json_batches(path: Path, first_row: int) -> Iterator[list[Row]]:
    rows = json_rows(path, first_row)
    while batch := list(islice(rows, BATCH_ROWS)):
        yield batch


def _parquet_batches(path: Path, first_row: int) -> Iterator[list[Row]]:
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_CHUNK_BYTES) as file:
            names = file.schema_arrow.names
            columns = [name for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS) if name in names]
            groups, rows_to_skip = list[int](), first_row
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if groups or rows_to_skip < rows:
                    groups.append(group)
                else:
                    rows_to_skip -= rows
            for batch in (
                file.iter_batches(BATCH_ROWS, row_groups=groups, columns=columns) if groups else ()
            ):
                if rows_to_skip >= batch.num_rows:
                    rows_to_skip -= batch.num_rows
                    continue
                yield batch.slice(rows_to_skip).to_pylist()
                rows_to_skip = 0
    except (pa.ArrowException, OSError) as error:
        raise SnapshotError(f"{path} cannot be read to its end: {first_line(error)}") from error


def json_rows(path: Path, first_row: int) -> Iterator[Row]:
    """Yield the objects of a JSON Lines file from a row on.

    Empty lines do not count.

    Raises SnapshotError for a line that is no JSON object.
    """
    row_count = 0
    with open_part(path) as (stream, _):
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            row_count += 1
            if row_count <= first_row:
                continue
            try:
                row = json_of(line)
            except orjson.JSONDecodeError as error:
                raise SnapshotError(
                    f"{path} line {number} is no JSON ({first_line(error)}); write one paper per"
                    " line"
                ) from error
            if not isinstance(row, dict):
                raise SnapshotError(f"{path} line {number} is no object; write one paper per line")
            yield row


def estimate_rows(parts: Sequence[Path]) -> int:
    """Estimate the number of lines in the parts by the first lines of the largest one."""
    largest = max(parts, key=lambda path: path.stat().st_size, default=None)
    if largest is None:
        return 0
    lines = 0
    with open_part(largest) as (stream, raw):
        for line in stream:
            lines += bool(line.strip())
            if lines >= _LINES_LOOKED_AT:
                break
        bytes_read = min(raw.tell(), largest.stat().st_size)
    total = sum(path.stat().st_size for path in parts)
    return max(lines, int(lines * total / bytes_read)) if bytes_read and lines else lines


@contextmanager
def open_part(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Yield the content of a file, decompressed if necessary, and the raw file.

    Raises SnapshotError if it cannot be read or decompressed.
    """
    try:
        with path.open("rb") as raw:
            is_compressed = raw.peek(2)[:2] == b"\x1f\x8b"
            yield (
                (io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 18) if is_compressed else raw),
                raw,
            )
    except (OSError, EOFError, zlib.error) as error:
        raise SnapshotError(
            f"{path} cannot be read to its end ({first_line(error)}); fetch it again"
        ) from error


def first_line(error: Exception) -> str:
    """Return the first line of a library's error message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
