"""Papers and changes by path: tables, Semantic Scholar releases and diffs, OpenAlex works."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from tasks.literature.snapshot.editor import AnyChange, Changes, Removal, Upsert
from tasks.literature.snapshot.folder import Manifest
from tasks.literature.snapshot.openalex import (
    is_work,
    merged_away,
    open_works,
    parts_of_works,
    updated_date,
)
from tasks.literature.snapshot.parts import (
    PaperSource,
    Place,
    batches_of,
    first_line,
    is_parquet,
    json_rows,
    open_part,
    parts_in,
    refuse_linked_folders,
)
from tasks.literature.snapshot.records import REQUIRED_COLUMNS
from tasks.literature.snapshot.release import is_release, open_diffs, open_release

_LINES_LOOKED_AT = 100
_CHUNK_BYTES = 1 << 20
_FORMS = (
    "name a Parquet or JSONL file of papers, the folder of a Semantic Scholar release, or OpenAlex"
    " works"
)


def open_papers(path: Path) -> PaperSource:
    """Open the papers at `path`.

    Raises:
        SnapshotError: it is missing, empty, in an unknown format, or lacks columns, or a folder in
            it is a link.
    """
    if path.is_dir():
        refuse_linked_folders(path)
    if path.is_dir() and is_release(path):
        return open_release(path)
    if _holds_works(path):
        return open_works(path, parts_of_works(path))
    if path.is_dir():
        raise SnapshotError(f"{path} is a folder of something else; {_FORMS}")
    return _open_table(path)


def open_changes(path: Path, manifest: Manifest) -> Changes:
    """Open the changes at `path` that the snapshot does not have yet.

    Raises:
        SnapshotError: `path` holds no changes, or its diffs start after the end of the snapshot, or
            a folder in it is a link.
    """
    if path.is_dir():
        refuse_linked_folders(path)
    if (path / "updates").is_dir() or (path / "deletes").is_dir():
        return open_diffs(path, manifest)
    if path.is_dir() and is_release(path):
        raise SnapshotError(
            f"{path} is a whole release: build it again, or name the folder of its diffs (updates/,"
            " deletes/)"
        )
    if not _holds_works(path):
        return _every_row(open_papers(path))
    merged_ids = sorted(set(merged_away(path, manifest.through))) if path.is_dir() else []
    last_day = manifest.through or ""
    later_parts = tuple(
        part for part in parts_of_works(path) if not (day := updated_date(part)) or day > last_day
    )
    return _every_row(
        open_works(path, later_parts), merged_ids, empty=not later_parts and not merged_ids
    )


def _every_row(
    papers: PaperSource, removed_ids: Sequence[str] = (), *, empty: bool = False
) -> Changes:
    """Return an upsert for every paper, then removals of the merged ones."""

    def batches(start: Place) -> Iterator[tuple[Sequence[AnyChange], Place]]:
        place = start
        for rows, place in papers.batches(Path(), start):
            yield [Upsert(row) for row in rows], place
        yield [Removal(f"given:{each}") for each in removed_ids], place

    return Changes(
        name=papers.name,
        identity=papers.identity,
        through=papers.through,
        identified=papers.identified,
        batches=batches,
        empty=empty,
    )


def _holds_works(path: Path) -> bool:
    if path.is_dir():
        path = next(iter(parts_in(path)), path)
    elif not path.is_file():
        raise SnapshotError(f"{path} is not a file or folder of papers; {_FORMS}")
    elif path.stat().st_size == 0:
        raise SnapshotError(f"{path} is empty; a snapshot needs at least one paper")
    if path.is_dir() or is_parquet(path):
        return False
    return any(is_work(row) for row in islice(json_rows(path, 0), 1))


def _open_table(path: Path) -> PaperSource:
    if is_parquet(path):
        try:
            with pq.ParquetFile(path) as file:
                columns, row_count = set(file.schema_arrow.names), file.metadata.num_rows
        except (pa.ArrowException, OSError) as error:
            reason = first_line(error)
            raise SnapshotError(f"{path} is no readable Parquet file: {reason}") from error
    else:
        columns = {name for row in islice(json_rows(path, 0), _LINES_LOOKED_AT) for name in row}
        with open_part(path) as (stream, _):
            chunks = iter(lambda: stream.read(_CHUNK_BYTES), b"")
            line_count = sum(chunk.count(b"\n") for chunk in chunks)
        row_count = max(line_count, 1) if columns else 0
    if row_count == 0:
        raise SnapshotError(f"{path} holds no papers; a snapshot needs at least one")
    missing = [name for name in REQUIRED_COLUMNS if name not in columns]
    if missing:
        raise SnapshotError(
            f"{path} lacks the columns {', '.join(missing)}; it has"
            f" {', '.join(sorted(columns)) or 'none'}"
        )
    status = path.stat()
    return PaperSource(
        name=path.name,
        identity=f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}",
        has_references="references" in columns,
        prepare=lambda _, __: row_count,
        batches=lambda _, start: batches_of((path,), start),
        identified=False,
    )
