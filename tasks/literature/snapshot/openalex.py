"""OpenAlex works as papers (reference §5.3): JSON lines, in one file or in the parts of a
snapshot's `works` folder.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import SnapshotError
from schemas.identifiers import arxiv_id_of
from schemas.literature.paper_state import flagged_state
from schemas.text.patterns import bounded
from tasks.literature.snapshot.parts import (
    Place,
    Progress,
    Row,
    about_how_many,
    batches_of,
    first_line,
    identity_of,
    opened,
    parts_in,
    plain_files,
)
from tasks.web.decoding import running_text

_WORK = bounded(r"(?:https?://openalex\.org/)?([Ww]\d{1,15})")
_UPDATED = bounded(r"updated_date=(\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True, slots=True)
class OpenAlexWorks:
    """Implements `PaperSource`. `parts` are in the order of their `updated_date`."""

    root: Path
    parts: tuple[Path, ...]
    has_references: bool = True
    identified: bool = True

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def identity(self) -> str:
        return identity_of(self.parts, self.root if self.root.is_dir() else self.root.parent)

    @property
    def through(self) -> str | None:
        """The last `updated_date` among the parts; None when they carry none."""
        return max(filter(None, map(updated_date, self.parts)), default=None)

    def prepare(self, workplace: Path, report: Progress) -> int:
        """Nothing to prepare: works are read as they are."""
        del workplace, report
        return about_how_many(self.parts)

    def batches(self, workplace: Path, start: Place) -> Iterator[tuple[list[Row], Place]]:
        """Works as rows. Raises SnapshotError when a part cannot be read."""
        del workplace
        for works, place in batches_of(self.parts, start):
            yield [row_of_work(work) for work in works], place


def open_works(path: Path) -> OpenAlexWorks:
    """A file of works, or a folder with such files, as `aws s3 sync s3://openalex/data/works`
    leaves them.

    Raises:
        SnapshotError: there are none.
    """
    parts = parts_in(path) if path.is_dir() else (path,)
    works = tuple(part for part in parts if "merged_ids" not in part.parts)
    if not works:
        raise SnapshotError(f"{path} holds no works; a snapshot needs at least one")
    return OpenAlexWorks(
        path, tuple(sorted(works, key=lambda part: (updated_date(part) or "", str(part))))
    )


def is_work(row: Mapping[str, Any]) -> bool:
    """Whether a row has the shape of a work."""
    return (
        isinstance(row.get("id"), str)
        and work_id(row["id"]) is not None
        and ("referenced_works" in row or "authorships" in row)
    )


def updated_date(part: Path) -> str | None:
    """The day in the name of a part's folder."""
    found = _UPDATED.search(str(part))
    return found.group(1) if found else None


def work_id(text: Any) -> str | None:
    """`https://openalex.org/W123` → `W123`."""
    found = _WORK.fullmatch(text.strip()) if isinstance(text, str) else None
    return found.group(1).upper() if found else None


def row_of_work(work: Mapping[str, Any]) -> Row:
    """A work as a row of a snapshot.

    API: the Work object; what is missing or of another type counts as unknown.
    """
    primary, best, access = (
        _inner(work, name) for name in ("primary_location", "best_oa_location", "open_access")
    )
    authors = [
        {"name": author.get("display_name"), "id": _entity_id(author.get("id"))}
        for each in _mappings(work.get("authorships")) or ()
        for author in (_inner(each, "author"),)
    ]
    venue = _inner(primary, "source")
    keywords, topics = _mappings(work.get("keywords")), _mappings(work.get("topics"))
    concepts = [each.get("display_name") for each in (*(keywords or ()), *(topics or ()))]
    referenced = work.get("referenced_works")
    landing = primary.get("landing_page_url") or work.get("doi") or work.get("id")
    return {
        "paper_id": work_id(work.get("id")),
        "title": work.get("title") or work.get("display_name"),
        "abstract": running_text(work.get("abstract_inverted_index")),
        "authors": authors,
        "venue": venue.get("display_name"),
        "venue_id": _entity_id(venue.get("id")),
        "year": work.get("publication_year"),
        "publication_date": work.get("publication_date"),
        "state": flagged_state(work.get("is_retracted"), work.get("type")),
        "url": landing,
        "pdf_url": best.get("pdf_url") or primary.get("pdf_url") or _pdf(access.get("oa_url")),
        "doi": work.get("doi"),
        "arxiv_id": next(
            filter(None, map(_arxiv_id, _mappings(work.get("locations")) or ())), None
        ),
        "keywords": None if keywords is None and topics is None else concepts,
        "fields_of_study": (
            None
            if topics is None
            else [_inner(each, "field").get("display_name") for each in topics]
        ),
        "citation_count": work.get("cited_by_count"),
        "references": (
            [each for each in map(work_id, referenced) if each]
            if isinstance(referenced, list)
            else None
        ),
    }


def merged_away(folder: Path, after: str | None) -> Iterator[str]:
    """Works that were merged into others since a day: `merged_ids/works/*.csv.gz` with `merge_date,
    id, merge_into_id`.

    Raises:
        SnapshotError: a file cannot be read, or is no CSV.
    """
    for path in plain_files(folder.rglob("merged_ids/works/*.csv*")):
        with opened(path) as (stream, _):
            lines = csv.DictReader(io.TextIOWrapper(stream, "utf-8", "replace"))
            try:
                for line in lines:
                    gone = work_id(line.get("id"))
                    if gone and (after is None or (line.get("merge_date") or "9999") > after):
                        yield gone
            except csv.Error as error:
                raise SnapshotError(
                    f"{path} is no CSV after line {lines.line_num} ({first_line(error)}); fetch it"
                    " again"
                ) from error


def _mappings(value: Any) -> list[Mapping[str, Any]] | None:
    """The objects of a list; None where there is no list."""
    return (
        [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else None
    )


def _entity_id(text: Any) -> str | None:
    """`https://openalex.org/A123` → `A123`."""
    return text.rpartition("/")[2] or None if isinstance(text, str) else None


def _arxiv_id(location: Mapping[str, Any]) -> str | None:
    page = location.get("landing_page_url")
    return arxiv_id_of(page) if isinstance(page, str) else None


def _inner(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def _pdf(url: Any) -> str | None:
    return url if isinstance(url, str) and url.lower().split("?")[0].endswith(".pdf") else None
