"""Where changes come from: a table of new and changed papers, OpenAlex works of later days,
Semantic Scholar diffs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import SnapshotError
from schemas.text.patterns import bounded
from tasks.literature.snapshot.contexts import contexts_of_record
from tasks.literature.snapshot.corrections import Changes
from tasks.literature.snapshot.editor import (
    Amendment,
    Change,
    Edge,
    EdgeRemoval,
    Removal,
    Upsert,
)
from tasks.literature.snapshot.folder import Manifest
from tasks.literature.snapshot.openalex import OpenAlexWorks, merged_away, updated_date
from tasks.literature.snapshot.opening import open_papers
from tasks.literature.snapshot.parts import (
    PaperSource,
    Place,
    Row,
    batches_of,
    identity_of,
    parts_in,
)
from tasks.literature.snapshot.release import SemanticScholarRelease

_STEP = bounded(r"(\d{4}-\d{2}-\d{2})-to-(\d{4}-\d{2}-\d{2})")
_SHA = bounded(r"[0-9a-f]{40}")
_DATASETS = ("papers", "abstracts", "tldrs", "citations")


def open_changes(path: Path, manifest: Manifest) -> Changes:
    """The changes at `path` that the snapshot has not got yet.

    Raises:
        SnapshotError: nothing at `path` is a change, or diffs do not begin where the snapshot ends.
    """
    if (path / "updates").is_dir() or (path / "deletes").is_dir():
        return _open_diffs(path, manifest)
    papers = open_papers(path)
    if isinstance(papers, SemanticScholarRelease):
        raise SnapshotError(
            f"{path} is a whole release: build it anew, or name the folder of its diffs (updates/,"
            " deletes/)"
        )
    if isinstance(papers, OpenAlexWorks):
        later = tuple(part for part in papers.parts if _after(updated_date(part), manifest.through))
        merged = (
            frozenset(merged_away(papers.root, manifest.through))
            if papers.root.is_dir()
            else frozenset()
        )
        return NewRows(OpenAlexWorks(papers.root, later), tuple(sorted(merged)))
    return NewRows(papers, ())


def _after(day: str | None, through: str | None) -> bool:
    return day is None or through is None or day > through


@dataclass(frozen=True, slots=True)
class NewRows:
    """Implements `Changes`: every row a paper as it is now, then the papers that were merged into
    others.
    """

    papers: PaperSource
    gone: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.papers.name

    @property
    def identity(self) -> str:
        return self.papers.identity

    @property
    def through(self) -> str | None:
        return self.papers.through

    @property
    def identified(self) -> bool:
        return self.papers.identified

    @property
    def empty(self) -> bool:
        return isinstance(self.papers, OpenAlexWorks) and not self.papers.parts and not self.gone

    def batches(self, start: Place) -> Iterator[tuple[list[Change], Place]]:
        place = start
        for rows, place in self.papers.batches(Path(), start):
            yield [Upsert(row) for row in rows], place
        yield [Removal(f"given:{each}") for each in self.gone], Place(place.part, place.row)


@dataclass(frozen=True, slots=True)
class SemanticScholarDiffs:
    """Implements `Changes`: the steps between releases (reference §3), each dataset's updates
    before its deletions.
    """

    root: Path
    parts: tuple[tuple[str, bool, Path], ...]
    through: str | None
    identified: bool = True

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def identity(self) -> str:
        return identity_of([part for _, _, part in self.parts], self.root)

    @property
    def empty(self) -> bool:
        return not self.parts

    def batches(self, start: Place) -> Iterator[tuple[list[Change], Place]]:
        paths = tuple(part for _, _, part in self.parts)
        done = start.part
        for rows, place in batches_of(paths, start):
            dataset, removes, _ = self.parts[done]
            yield (
                [change for row in rows for change in _changes_of(row, dataset, removes=removes)],
                place,
            )
            done = place.part


def _open_diffs(path: Path, manifest: Manifest) -> SemanticScholarDiffs:
    steps = sorted(
        {
            found.group()
            for kind in ("updates", "deletes")
            for each in _below(path / kind)
            if (found := _STEP.fullmatch(each))
        }
    )
    later = [step for step in steps if _after(step[-10:], manifest.through)]
    if not steps:
        raise SnapshotError(
            f"{path} holds no diffs; expected updates/<date>-to-<date>/papers/… as in their"
            " addresses"
        )
    for before, step in zip(
        [manifest.through, *(each[-10:] for each in later)], later, strict=False
    ):
        if before is not None and step[:10] > before:
            raise SnapshotError(
                f"{path} lacks the diffs from {before} to {step[:10]}; fetch them and try again"
            )
    datasets = [name for name in _DATASETS if name != "citations" or manifest.has_references]
    parts = [
        (name, kind == "deletes", part)
        for step in later
        for name in datasets
        for kind in ("updates", "deletes")
        for part in parts_in(path / kind / step / name)
    ]
    return SemanticScholarDiffs(path, tuple(parts), later[-1][-10:] if later else manifest.through)


def _below(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()] if folder.is_dir() else []


def _changes_of(row: Row, dataset: str, *, removes: bool) -> Iterator[Change]:
    if dataset == "citations":
        yield from _edge_changes(row, removes=removes)
        return
    corpus_id = row.get("corpusid")
    if not isinstance(corpus_id, int):
        return
    key = f"corpus:{corpus_id}"
    if dataset == "papers":
        yield (
            Removal(key)
            if removes
            else Upsert(_row_of_paper(row, corpus_id), cites_nothing=row.get("referencecount") == 0)
        )
    elif dataset == "abstracts":
        access = row.get("openaccessinfo")
        url = access.get("url") if isinstance(access, dict) else None
        yield Amendment(
            key,
            {
                "abstract": None if removes else _text(row.get("abstract")),
                "pdf_url": None if removes else _text(url),
            },
        )
    else:
        yield Amendment(key, {"tldr": None if removes else _text(row.get("text"))})


def _edge_changes(row: Row, *, removes: bool) -> Iterator[Change]:
    edge_id, citing, cited = (
        row.get(name) for name in ("citationid", "citingcorpusid", "citedcorpusid")
    )
    if not isinstance(edge_id, int):
        return
    if removes:
        yield EdgeRemoval(edge_id)
    elif isinstance(citing, int) and isinstance(cited, int):
        contexts = contexts_of_record(row)
        yield Edge(edge_id, f"corpus:{citing}", f"CorpusId:{cited}", contexts)


def _row_of_paper(row: Row, corpus_id: int) -> Row:
    """A record of the `papers` dataset as a row; what other datasets know of the paper is left out
    of it.
    """
    identifiers = row.get("externalids")
    named: dict[str, Any] = identifiers if isinstance(identifiers, dict) else {}
    sha = _SHA.search(str(row.get("url") or ""))
    return {
        "paper_id": sha.group() if sha else f"corpusid:{corpus_id}",
        "corpus_id": corpus_id,
        "title": row.get("title"),
        "authors": row.get("authors"),
        "venue": row.get("venue"),
        "venue_id": row.get("publicationvenueid"),
        "fields_of_study": row.get("s2fieldsofstudy"),
        "year": row.get("year"),
        "url": row.get("url"),
        "doi": named.get("DOI"),
        "arxiv_id": named.get("ArXiv"),
        "citation_count": row.get("citationcount"),
        "publication_date": row.get("publicationdate"),
    }


def _text(value: Any) -> str | None:
    return " ".join(value.split()) or None if isinstance(value, str) else None
