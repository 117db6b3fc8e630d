"""Building a snapshot: papers, citations, text index, embeddings, manifest; each stage goes on
where a killed build stopped.
"""

import hashlib
import shutil
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.errors import SnapshotError
from schemas.identifiers import content_hash
from schemas.literature.paper import LITERATURE_RULES
from tasks.embeddings import Embedder
from tasks.literature.snapshot.contexts import contexts_of
from tasks.literature.snapshot.folder import (
    FORMAT_VERSION,
    STAGING_NAME,
    TEXT_NAME,
    Manifest,
    clear,
    only_builder,
    read_manifest,
    write_manifest,
)
from tasks.literature.snapshot.opening import open_papers
from tasks.literature.snapshot.parts import PaperSource, Place, Progress
from tasks.literature.snapshot.records import MAY_BE_UNREADABLE, record_of, unreadable_fields
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tasks.literature.snapshot.store import PaperStore, References
from tasks.literature.snapshot.text_index import write_text_index
from tasks.literature.snapshot.vectors import write_vectors

_LAYOUT = f"5 {LITERATURE_RULES}"
"""How an unfinished build keeps its place and reads; one of another layout starts anew."""
_SUPERSEDED_AFTER_SECONDS = 7 * 24 * 3600.0


def build_snapshot(
    source: Path,
    target: Path,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Snapshot:
    """Build the snapshot of `source` (see `opening.open_papers`) in the folder `target` and open
    it.

    May be killed at any moment and called again: it resumes. A finished snapshot of the unchanged
    source is opened as it is, with the updates it has got since; of a changed source, or read by
    other rules, it is built again. A second process waits for the first.

    Raises:
        SnapshotError: the source cannot be read, holds no papers or lacks columns; `target` holds
            something else.
    """
    papers = open_papers(source)
    report = progress or unheard
    with only_builder(target):
        manifest = _finished(target, papers)
        if manifest is None:
            manifest = _build(papers, target, report)
        # After the manifest: without vectors the snapshot is whole, and answers searches already.
        if embedder is not None and manifest.embedding_dimensions is None:
            _embed(target, manifest, embedder, report)
    return open_snapshot(target)


def index_for_parquet(source: Path, home: Path, progress: Progress | None = None) -> Path:
    """The folder under `home` with the snapshot of a Parquet or JSONL file: built on first use,
    anew when the file changed.

    Raises:
        SnapshotError: as `build_snapshot`.
    """
    target = index_of_file(source, home)
    build_snapshot(source, target, progress=progress)
    _forget_superseded(target.parent, _index_name(source), target)
    return target


def index_of_file(source: Path, home: Path) -> Path:
    """Return the folder of the index of a Parquet or JSONL file, built or not.

    Raises:
        SnapshotError: the source cannot be read.
    """
    version = content_hash(
        open_papers(source).identity, str(FORMAT_VERSION), LITERATURE_RULES, length=8
    )
    return home / "snapshots" / f"{_index_name(source)}{version}"


def _index_name(source: Path) -> str:
    return f"{_plain(source.stem)}-{content_hash(str(source.resolve()), length=8)}-"


def _build(papers: PaperSource, target: Path, report: Progress) -> Manifest:
    store = _resumable_store(papers, target)
    try:
        _copy_papers(papers, store, target / STAGING_NAME, report)
        paper_count = store.count()
        if paper_count == 0:
            raise SnapshotError(
                f"{papers.name}: none of its {store.state('rows_read')} rows has a title; there is"
                " nothing to build"
            )
        store.resolve_references()
        report(0, paper_count, "index")
        write_text_index(
            target / TEXT_NAME, store.records_from, lambda done: report(done, paper_count, "index")
        )
        manifest = Manifest(
            format_version=FORMAT_VERSION,
            fingerprint=store.fingerprint(),
            source=papers.name,
            source_identity=papers.identity,
            paper_count=paper_count,
            duplicate_count=int(store.state("duplicates") or 0),
            untitled_count=int(store.state("untitled") or 0),
            unreadable={
                name: count
                for name in MAY_BE_UNREADABLE
                if (count := int(store.state(f"unreadable_{name}") or 0))
            },
            citation_count=store.citation_count(),
            has_references=papers.has_references,
            has_contexts=store.has_contexts(),
            identified=papers.identified,
            through=papers.through,
            rules=LITERATURE_RULES,
        )
        # Sealed before the manifest says that the snapshot is finished: readers open it read-only.
        store.seal()
    except sqlite3.DatabaseError as error:
        raise SnapshotError(
            f"{target} cannot be written ({error}); free space or delete the folder, then build"
            " again"
        ) from error
    finally:
        store.close()
    write_manifest(target, manifest)
    shutil.rmtree(target / STAGING_NAME, ignore_errors=True)
    return manifest


def _copy_papers(papers: PaperSource, store: PaperStore, workplace: Path, report: Progress) -> None:
    if store.state("copied"):
        return
    expected = papers.prepare(workplace, report)
    rows_read, number = int(store.state("rows_read") or 0), store.count()
    names = ("duplicates", "untitled", *(f"unreadable_{name}" for name in MAY_BE_UNREADABLE))
    counts = {name: int(store.state(name) or 0) for name in names}
    report(rows_read, expected, "papers")
    for batch, place in papers.batches(
        workplace, Place(int(store.state("part") or 0), int(store.state("part_row") or 0))
    ):
        store.begin()
        for row in batch:
            record = record_of(row)
            for name in unreadable_fields(row) if record is not None else ():
                counts[f"unreadable_{name}"] += 1
            if record is None:
                counts["untitled"] += 1
            elif store.add(number, record, references_of(row), identified=papers.identified):
                number += 1
            else:
                counts["duplicates"] += 1
        rows_read += len(batch)
        store.set_state(rows_read=rows_read, part=place.part, part_row=place.row, **counts)
        store.commit()
        if batch:
            report(rows_read, max(expected, rows_read), "papers")
    store.set_state(copied=1)


def references_of(row: Mapping[str, Any]) -> References:
    """The row's reference list with positions: the source's own numbers of its references, where it
    has them; `reference_contexts` and `reference_influential` stand beside it, entry by entry.
    """
    named = row.get("references")
    if not isinstance(named, list | tuple):
        return ()
    places = _numbers(row.get("reference_ids"), len(named)) or range(len(named))
    contexts, influential = (
        beside if isinstance(beside, list) and len(beside) == len(named) else [None] * len(named)
        for beside in (row.get("reference_contexts"), row.get("reference_influential"))
    )
    return [
        (place, str(each), contexts_of(*told))
        for place, each, *told in zip(places, named, contexts, influential, strict=True)
        if each is not None
    ]


def _numbers(own: object, count: int) -> list[int] | None:
    """Return the source's own numbers where they are as many as the references and fit SQLite."""
    if not isinstance(own, list) or len(own) != count:
        return None
    return own if all(isinstance(n, int) and 0 <= n < 2**63 for n in own) else None


def _embed(target: Path, manifest: Manifest, embedder: Embedder, report: Progress) -> None:
    store = PaperStore(target, name=manifest.store_name)
    path = target / manifest.vectors_name
    try:
        report(0, manifest.paper_count, "embeddings")
        dimensions = write_vectors(
            path,
            store.records_from,
            embedder,
            lambda done: report(done, manifest.paper_count, "embeddings"),
        )
    finally:
        store.close()
    write_manifest(target, with_vectors(manifest, dimensions))


def with_vectors(manifest: Manifest, dimensions: int) -> Manifest:
    """The manifest once the vectors are complete: searches then answer otherwise, so the
    fingerprint is another.
    """
    fingerprint = hashlib.sha256(
        f"{manifest.fingerprint}:embeddings:{dimensions}".encode()
    ).hexdigest()
    return manifest.model_copy(
        update={"embedding_dimensions": dimensions, "fingerprint": fingerprint}
    )


def _finished(target: Path, papers: PaperSource) -> Manifest | None:
    try:
        manifest = read_manifest(target)
    except SnapshotError:
        return None
    if (manifest.source_identity, manifest.rules) == (papers.identity, LITERATURE_RULES):
        return manifest
    clear(target)
    return None


def _resumable_store(papers: PaperSource, target: Path) -> PaperStore:
    """The store of an interrupted build of the same file, or an empty one."""
    for attempt in range(2):
        try:
            store = PaperStore(target, writable=True)
            known = store.state("source")
            if known is None or (known == papers.identity and store.state("layout") == _LAYOUT):
                store.set_state(source=papers.identity, layout=_LAYOUT)
                return store
            store.close()
        except sqlite3.DatabaseError as error:
            if attempt:
                raise SnapshotError(
                    f"{target} cannot be written ({error}); name another folder"
                ) from error
        clear(target)
    raise SnapshotError(f"{target} is being rebuilt by something else; name another folder")


def _forget_superseded(folder: Path, prefix: str, current: Path) -> None:
    """Remove indices of the file as it was before once no run can still be using them."""
    for each in folder.glob(f"{prefix}*"):
        if each != current and time.time() - each.stat().st_mtime > _SUPERSEDED_AFTER_SECONDS:
            clear(each)
            shutil.rmtree(each, ignore_errors=True)


def _plain(stem: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in stem)[:40]


def unheard(done: int, total: int, stage: str) -> None:
    """Progress nobody follows."""
