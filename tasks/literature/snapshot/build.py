"""Building a snapshot: papers, citations, text index, embeddings, manifest; each stage goes on where a killed build stopped."""

import fcntl
import hashlib
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import SnapshotError
from schemas.identifiers import content_hash
from tasks.embeddings.embedder import Embedder
from tasks.literature.snapshot import store as paper_store
from tasks.literature.snapshot.manifest import FILE_NAME as MANIFEST_NAME
from tasks.literature.snapshot.manifest import FORMAT_VERSION, Manifest, read_manifest, write_manifest
from tasks.literature.snapshot.records import record_of
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tasks.literature.snapshot.sources import PaperFile, open_papers
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.text_index import FOLDER_NAME as TEXT_FOLDER
from tasks.literature.snapshot.text_index import write_text_index
from tasks.literature.snapshot.vectors import FILE_NAME as VECTORS_NAME
from tasks.literature.snapshot.vectors import write_vectors

Progress = Callable[[int, int, str], None]

_LOCK_NAME = "build.lock"
_SUPERSEDED_AFTER_SECONDS = 7 * 24 * 3600.0
_OWN_NAMES = (MANIFEST_NAME, TEXT_FOLDER, VECTORS_NAME, "embeddings.json", _LOCK_NAME)


def build_snapshot(source: Path, target: Path, *, embedder: Embedder | None = None, progress: Progress | None = None) -> Snapshot:
    """Build the snapshot of a Parquet or JSONL file in the folder `target` and open it.

    May be killed at any moment and called again: it resumes. A finished snapshot of the unchanged file is
    opened as it is; of a changed file, built anew. A second process waits for the first.

    Raises:
        SnapshotError: the file cannot be read, holds no papers or lacks columns; `target` holds something else.
    """
    papers = open_papers(source)
    report = progress or _silent
    with _only_builder(target):
        manifest = _finished(target, papers)
        if manifest is None:
            manifest = _build(papers, target, report)
        if embedder is not None and manifest.embedding_dimensions is None:
            _embed(target, manifest, embedder, report)
    return open_snapshot(target)


def index_for_parquet(source: Path, home: Path, progress: Progress | None = None) -> Path:
    """The folder under `home` with the snapshot of a Parquet or JSONL file: built on first use, anew when the file changed.

    Raises:
        SnapshotError: as `build_snapshot`.
    """
    papers = open_papers(source)
    place = content_hash(str(source.resolve()), length=8)
    folder = home / "snapshots"
    target = folder / f"{_plain(source.stem)}-{place}-{content_hash(papers.identity, str(FORMAT_VERSION), length=8)}"
    build_snapshot(source, target, progress=progress)
    _forget_superseded(folder, f"{_plain(source.stem)}-{place}-", target)
    return target


def _build(papers: PaperFile, target: Path, report: Progress) -> Manifest:
    store = _resumable_store(papers, target)
    try:
        _copy_papers(papers, store, report)
        paper_count = store.count()
        if paper_count == 0:
            raise SnapshotError(f"{papers.path}: none of its {papers.row_count} rows has a title; there is nothing to build")
        store.resolve_references()
        report(0, paper_count, "index")
        write_text_index(target / TEXT_FOLDER, store.records_from, lambda done: report(done, paper_count, "index"))
        manifest = Manifest(
            fingerprint=store.fingerprint(),
            source=papers.path.name,
            source_identity=papers.identity,
            paper_count=paper_count,
            duplicate_count=int(store.state("duplicates") or 0),
            untitled_count=int(store.state("untitled") or 0),
            citation_count=store.citation_count(),
            has_references=papers.has_references,
        )
        store.seal()
    except sqlite3.DatabaseError as error:
        raise SnapshotError(f"{target} cannot be written ({error}); free space or delete the folder, then build again") from error
    finally:
        store.close()
    write_manifest(target, manifest)
    return manifest


def _copy_papers(papers: PaperFile, store: PaperStore, report: Progress) -> None:
    rows_read, number = int(store.state("rows_read") or 0), store.count()
    counts = {name: int(store.state(name) or 0) for name in ("duplicates", "untitled")}
    report(rows_read, papers.row_count, "papers")
    for batch in papers.batches(rows_read):
        store.begin()
        for row in batch:
            record = record_of(row)
            if record is None:
                counts["untitled"] += 1
            elif store.add(number, record, [str(each) for each in row.get("references") or () if each is not None]):
                number += 1
            else:
                counts["duplicates"] += 1
        rows_read += len(batch)
        store.set_state(rows_read=rows_read, **counts)
        store.commit()
        report(rows_read, max(papers.row_count, rows_read), "papers")


def _embed(target: Path, manifest: Manifest, embedder: Embedder, report: Progress) -> None:
    store = PaperStore(target)
    try:
        report(0, manifest.paper_count, "embeddings")
        dimensions = write_vectors(target, store.records_from, embedder, lambda done: report(done, manifest.paper_count, "embeddings"))
    finally:
        store.close()
    fingerprint = hashlib.sha256(f"{manifest.fingerprint}:embeddings:{dimensions}".encode()).hexdigest()
    write_manifest(target, manifest.model_copy(update={"embedding_dimensions": dimensions, "fingerprint": fingerprint}))


def _finished(target: Path, papers: PaperFile) -> Manifest | None:
    try:
        manifest = read_manifest(target)
    except SnapshotError:
        return None
    if manifest.source_identity == papers.identity:
        return manifest
    _clear(target)
    return None


def _resumable_store(papers: PaperFile, target: Path) -> PaperStore:
    """The store of an interrupted build of the same file, or an empty one."""
    for attempt in range(2):
        try:
            store = PaperStore(target, writable=True)
            known = store.state("source")
            if known in (None, papers.identity):
                store.set_state(source=papers.identity)
                return store
            store.close()
        except sqlite3.DatabaseError as error:
            if attempt:
                raise SnapshotError(f"{target} cannot be written ({error}); name another folder") from error
        _clear(target)
    raise SnapshotError(f"{target} is being rebuilt by something else; name another folder")


def _clear(target: Path) -> None:
    """Remove what a build wrote, the manifest first: a half-removed snapshot is never taken for a whole one."""
    (target / MANIFEST_NAME).unlink(missing_ok=True)
    shutil.rmtree(target / TEXT_FOLDER, ignore_errors=True)
    for name in (VECTORS_NAME, "embeddings.json", *(f"{paper_store.FILE_NAME}{suffix}" for suffix in ("", "-wal", "-shm", "-journal"))):
        (target / name).unlink(missing_ok=True)


@contextmanager
def _only_builder(target: Path) -> Iterator[None]:
    if target.exists() and not target.is_dir():
        raise SnapshotError(f"{target} is a file; name a folder for the snapshot")
    foreign = [path.name for path in target.iterdir() if not _own(path.name)] if target.is_dir() else []
    if foreign:
        raise SnapshotError(f"{target} holds other files ({sorted(foreign)[0]}); name an empty folder for the snapshot")
    target.mkdir(parents=True, exist_ok=True)
    with (target / _LOCK_NAME).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _own(name: str) -> bool:
    return name in _OWN_NAMES or name.startswith((paper_store.FILE_NAME, MANIFEST_NAME))


def _forget_superseded(folder: Path, prefix: str, current: Path) -> None:
    """Remove indices of earlier versions of the file once no run can still be using them."""
    for each in folder.glob(f"{prefix}*"):
        if each != current and time.time() - each.stat().st_mtime > _SUPERSEDED_AFTER_SECONDS:
            _clear(each)
            shutil.rmtree(each, ignore_errors=True)


def _plain(stem: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in stem)[:40]


def _silent(done: int, total: int, stage: str) -> None:
    """Progress nobody follows."""
