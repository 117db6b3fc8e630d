"""Papers and changes by path: tables, Semantic Scholar releases and diffs, OpenAlex works."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from schemas.identifiers import arxiv_id_of
from schemas.literature.paper_state import flagged_state
from schemas.text.patterns import bounded
from tasks.literature.snapshot.editor import AnyChange, Changes, Removal, Upsert
from tasks.literature.snapshot.folder import Manifest
from tasks.literature.snapshot.parts import (
    PaperSource,
    Place,
    Row,
    batches_of,
    estimate_rows,
    first_line,
    identity_of,
    is_parquet,
    json_rows,
    open_part,
    parts_in,
    plain_files,
    refuse_linked_folders,
)
from tasks.literature.snapshot.records import REQUIRED_COLUMNS
from tasks.literature.snapshot.release import is_release, open_diffs, open_release
from tasks.web.decoding import inside, mappings, running_text

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


_WORK = bounded(r"(?:https?://openalex\.org/)?([Ww]\d{1,15})")
_UPDATE_FOLDER = bounded(r"updated_date=(\d{4}-\d{2}-\d{2})")


def parts_of_works(path: Path) -> tuple[Path, ...]:
    """Return the files of works at `path`, in the order of their `updated_date`.

    A folder has the layout of `aws s3 sync s3://openalex/data/works`. Raises SnapshotError if there
    are no works.
    """
    files = parts_in(path) if path.is_dir() else (path,)
    works = [part for part in files if "merged_ids" not in part.parts]
    if not works:
        raise SnapshotError(f"{path} holds no works; a snapshot needs at least one")
    return tuple(sorted(works, key=lambda part: (updated_date(part) or "", str(part))))


def open_works(root: Path, parts: tuple[Path, ...]) -> PaperSource:
    """Open the works of some files as papers."""

    def batches(_: Path, start: Place) -> Iterator[tuple[list[Row], Place]]:
        for rows, place in batches_of(parts, start):
            yield [row_of_work(work) for work in rows], place

    return PaperSource(
        name=root.name,
        identity=identity_of(parts, root if root.is_dir() else root.parent),
        has_references=True,
        through=max(filter(None, map(updated_date, parts)), default=None),
        prepare=lambda _, __: estimate_rows(parts),
        batches=batches,
    )


def is_work(row: Mapping[str, Any]) -> bool:
    """Return whether a row has the shape of a work."""
    return work_id(row.get("id")) is not None and (
        "referenced_works" in row or "authorships" in row
    )


def updated_date(part: Path) -> str | None:
    """Return the day in the name of a part's folder."""
    match = _UPDATE_FOLDER.search(str(part))
    return match.group(1) if match else None


def work_id(text: Any) -> str | None:
    """Return `https://openalex.org/W123` as `W123`."""
    match = _WORK.fullmatch(text.strip()) if isinstance(text, str) else None
    return match.group(1).upper() if match else None


def row_of_work(work: Mapping[str, Any]) -> Row:
    """Return a work as a row of a snapshot.

    API: the Work object; missing values and values of another type count as unknown.
    """
    keywords, topics = work.get("keywords"), work.get("topics")
    references, open_url = work.get("referenced_works"), inside(work, "open_access", "oa_url")
    is_pdf = isinstance(open_url, str) and open_url.lower().split("?")[0].endswith(".pdf")
    pages = (inside(each, "landing_page_url") for each in mappings(work.get("locations")))
    arxiv_ids = (arxiv_id_of(page) for page in pages if isinstance(page, str))
    return {
        "paper_id": work_id(work.get("id")),
        "title": work.get("title") or work.get("display_name"),
        "abstract": running_text(work.get("abstract_inverted_index")),
        "authors": [
            {
                "name": inside(each, "author", "display_name"),
                "id": _entity_id(inside(each, "author", "id")),
            }
            for each in mappings(work.get("authorships"))
        ],
        "venue": inside(work, "primary_location", "source", "display_name"),
        "venue_id": _entity_id(inside(work, "primary_location", "source", "id")),
        "year": work.get("publication_year"),
        "publication_date": work.get("publication_date"),
        "state": flagged_state(work.get("is_retracted"), work.get("type")),
        "url": inside(work, "primary_location", "landing_page_url")
        or work.get("doi")
        or work.get("id"),
        "pdf_url": inside(work, "best_oa_location", "pdf_url")
        or inside(work, "primary_location", "pdf_url")
        or (open_url if is_pdf else None),
        "doi": work.get("doi"),
        "arxiv_id": next(filter(None, arxiv_ids), None),
        "keywords": [each.get("display_name") for each in (*mappings(keywords), *mappings(topics))]
        if isinstance(keywords, list) or isinstance(topics, list)
        else None,
        "fields_of_study": [inside(each, "field", "display_name") for each in mappings(topics)]
        if isinstance(topics, list)
        else None,
        "citation_count": work.get("cited_by_count"),
        "references": [each for each in map(work_id, references) if each]
        if isinstance(references, list)
        else None,
    }


def merged_away(folder: Path, after: str | None) -> Iterator[str]:
    """Yield the ids of works merged into others after a day, from `merged_ids/works/*.csv.gz`.

    Raises:
        SnapshotError: a file cannot be read, or is no CSV.
    """
    for path in plain_files(folder.rglob("merged_ids/works/*.csv*")):
        with open_part(path) as (stream, _):
            lines = csv.DictReader(io.TextIOWrapper(stream, "utf-8", "replace"))
            try:
                for line in lines:
                    merged_id = work_id(line.get("id"))
                    if merged_id and (after is None or (line.get("merge_date") or "9999") > after):
                        yield merged_id
            except csv.Error as error:
                raise SnapshotError(
                    f"{path} is no CSV after line {lines.line_num} ({first_line(error)}); fetch it"
                    " again"
                ) from error


def _entity_id(text: Any) -> str | None:
    return text.rpartition("/")[2] or None if isinstance(text, str) else None
