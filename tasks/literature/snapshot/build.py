"""Building a snapshot: papers, citations, text index, embeddings, manifest.

Each stage resumes where a killed build stopped.
"""

import hashlib
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

from schemas.errors import SnapshotError
from schemas.identifiers import content_hash
from schemas.literature.paper import LITERATURE_RULES
from tasks.embeddings import Embedder
from tasks.literature.snapshot.contexts import references_of
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
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.text_index import write_text_index
from tasks.literature.snapshot.vectors import KnownVector, write_vectors

_LAYOUT = f"5 {LITERATURE_RULES}"
"""Version of the resume state; an unfinished build with another one starts again."""
_SUPERSEDED_AFTER_SECONDS = 7 * 24 * 3600.0


def build_snapshot(
    source: Path,
    target: Path,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Snapshot:
    """Build the snapshot of `source` in the folder `target` and open it.

    A killed build resumes when called again. A finished snapshot of the unchanged source is opened
    with its later updates; it is rebuilt if the source or the reading rules have changed. A second
    process waits for the first. `opening.open_papers` lists the sources.

    Raises:
        SnapshotError: the source cannot be read, holds no papers or lacks columns; or `target`
            holds other files.
    """
    papers = open_papers(source)
    report = progress or ignore_progress
    with only_builder(target):
        try:
            manifest = read_manifest(target)
        except SnapshotError:
            manifest = _build(papers, target, report)
        if (manifest.source_identity, manifest.rules) != (papers.identity, LITERATURE_RULES):
            clear(target)
            manifest = _build(papers, target, report)
        # After the manifest: the snapshot answers searches without vectors too.
        if embedder is not None and manifest.embedding_dimensions is None:
            write_manifest(target, embed_papers(target, manifest, embedder, report))
    return open_snapshot(target)


def index_for_parquet(source: Path, home: Path, progress: Progress | None = None) -> Path:
    """Build the snapshot of a Parquet or JSONL file under `home`, unless it is up to date.

    Returns its folder.

    Raises:
        SnapshotError: as for `build_snapshot`.
    """
    target = index_of_file(source, home)
    build_snapshot(source, target, progress=progress)
    # Indices of earlier versions of the file are removed once no run can still use them.
    for each in target.parent.glob(f"{_index_name(source)}*"):
        if each != target and time.time() - each.stat().st_mtime > _SUPERSEDED_AFTER_SECONDS:
            clear(each)
            shutil.rmtree(each, ignore_errors=True)
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
    plain_stem = "".join(letter if letter.isalnum() else "-" for letter in source.stem)[:40]
    return f"{plain_stem}-{content_hash(str(source.resolve()), length=8)}-"


def _build(papers: PaperSource, target: Path, report: Progress) -> Manifest:
    store = _resumable_store(papers, target)
    try:
        _copy_papers(papers, store, target / STAGING_NAME, report)
        if store.count() == 0:
            raise SnapshotError(
                f"{papers.name}: none of its {store.state('rows_read')} rows has a title; there is"
                " nothing to build"
            )
        store.resolve_references()
        manifest = Manifest(
            format_version=FORMAT_VERSION,
            source=papers.name,
            source_identity=papers.identity,
            duplicate_count=int(store.state("duplicates") or 0),
            untitled_count=int(store.state("untitled") or 0),
            unreadable={
                name: count
                for name in MAY_BE_UNREADABLE
                if (count := int(store.state(f"unreadable_{name}") or 0))
            },
            has_references=papers.has_references,
            identified=papers.identified,
            through=papers.through,
            rules=LITERATURE_RULES,
            **index_store(store, target / TEXT_NAME, report),
        )
        # Sealed before the manifest marks the snapshot as finished: readers open it read-only.
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


def index_store(store: PaperStore, text: Path, report: Progress) -> dict[str, Any]:
    """Index the texts of a store in the folder `text`.

    Returns its manifest fields.
    """
    count = store.count()
    report(0, count, "index")
    write_text_index(
        text, store.records_from, lambda done_count: report(done_count, count, "index")
    )
    return {
        "fingerprint": store.fingerprint(),
        "paper_count": count,
        "citation_count": store.citation_count(),
        "has_contexts": store.has_contexts(),
    }


def embed_papers(
    target: Path,
    manifest: Manifest,
    embedder: Embedder,
    report: Progress,
    known_vector: KnownVector | None = None,
) -> Manifest:
    """Write the vectors of a snapshot's papers; return the manifest with them."""
    count = manifest.paper_count
    store = PaperStore(target, name=manifest.store_name)
    report(0, count, "embeddings")
    try:
        dimensions = write_vectors(
            target / manifest.vectors_name,
            store.records_from,
            embedder,
            lambda done_count: report(done_count, count, "embeddings"),
            known_vector,
        )
    finally:
        store.close()
    # Vectors change the results of searches, so they change the fingerprint.
    identity = f"{manifest.fingerprint}:embeddings:{dimensions}"
    fingerprint = hashlib.sha256(identity.encode()).hexdigest()
    return manifest.model_copy(
        update={"embedding_dimensions": dimensions, "fingerprint": fingerprint}
    )


def _copy_papers(papers: PaperSource, store: PaperStore, workplace: Path, report: Progress) -> None:
    if store.state("copied"):
        return
    expected_rows = papers.prepare(workplace, report)
    rows_read, number = int(store.state("rows_read") or 0), store.count()
    names = ("duplicates", "untitled", *(f"unreadable_{name}" for name in MAY_BE_UNREADABLE))
    counts = {name: int(store.state(name) or 0) for name in names}
    report(rows_read, expected_rows, "papers")
    start = Place(int(store.state("part") or 0), int(store.state("part_row") or 0))
    for batch, place in papers.batches(workplace, start):
        with store.transaction():
            for row in batch:
                record = record_of(row)
                if record is None:
                    counts["untitled"] += 1
                    continue
                for name in unreadable_fields(row):
                    counts[f"unreadable_{name}"] += 1
                if store.add(number, record, references_of(row), identified=papers.identified):
                    number += 1
                else:
                    counts["duplicates"] += 1
            rows_read += len(batch)
            store.set_state(rows_read=rows_read, part=place.part, part_row=place.row, **counts)
        if batch:
            report(rows_read, max(expected_rows, rows_read), "papers")
    store.set_state(copied=1)


def _resumable_store(papers: PaperSource, target: Path) -> PaperStore:
    """Open the store of an interrupted build of the same source, or an empty one."""
    for attempt in range(2):
        try:
            store = PaperStore(target, writable=True)
            stored_source = store.state("source")
            if stored_source is None or (
                stored_source == papers.identity and store.state("layout") == _LAYOUT
            ):
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


def ignore_progress(done: int, total: int, stage: str) -> None:
    """Ignore a progress report."""
