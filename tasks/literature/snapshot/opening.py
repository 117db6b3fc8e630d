"""From a path to the source of papers it is: a table, a Semantic Scholar release, OpenAlex works."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from schemas.errors import SnapshotError
from tasks.literature.snapshot.openalex import OpenAlexWorks, is_work, open_works
from tasks.literature.snapshot.parts import json_rows, parts_in
from tasks.literature.snapshot.release import SemanticScholarRelease, is_release, open_release
from tasks.literature.snapshot.tables import PaperFile, open_table

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
