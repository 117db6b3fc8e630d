"""Updates of a finished snapshot.

Changes are made to a copy of the store, which replaces it atomically. Readers never see a partial
update, and a killed update resumes. The result equals a snapshot built from the resulting papers.
"""

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import SnapshotError
from tasks.embeddings import Embedder
from tasks.literature.snapshot.build import embed_papers, ignore_progress, index_store
from tasks.literature.snapshot.editor import Changes, StoreEditor
from tasks.literature.snapshot.folder import (
    Manifest,
    only_builder,
    read_manifest,
    remove_generations,
    write_manifest,
)
from tasks.literature.snapshot.opening import open_changes
from tasks.literature.snapshot.parts import Place, Progress
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot

_OUTCOMES = ("added", "replaced", "unchanged", "removed", "untitled", "skipped")
_KEPT_IDENTITIES = 100


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The updated snapshot, and the number of changes by outcome.

    The counts are empty if it was up to date.
    """

    snapshot: Snapshot
    counts: Mapping[str, int]


def update_snapshot(
    source: Path,
    target: Path,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> UpdateResult:
    """Apply new rows, OpenAlex works or Semantic Scholar diffs to the snapshot in `target`.

    Raises:
        SnapshotError: there is no finished snapshot in `target`; the changes cannot be read or do
            not follow its last release; or it has embeddings and there is no `embedder`.
    """
    return make_changes(
        lambda manifest: open_changes(source, manifest),
        target,
        embedder=embedder,
        progress=progress,
    )


def make_changes(
    changes_for: Callable[[Manifest], Changes],
    target: Path,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> UpdateResult:
    """Apply the changes that `changes_for` returns once the build lock is held.

    Raises:
        SnapshotError: as for `update_snapshot`.
    """
    report = progress or ignore_progress
    with only_builder(target):
        manifest = read_manifest(target)
        changes = changes_for(manifest)
        if changes.empty or changes.identity in (*manifest.updates, manifest.source_identity):
            return UpdateResult(open_snapshot(target), {})
        if manifest.embedding_dimensions is not None and embedder is None:
            raise SnapshotError(
                f"{target} has embeddings: update it with --embeddings, so that new papers get"
                " theirs"
            )
        counts, next_manifest = _apply_to_copy(target, manifest, changes, report)
        if embedder is not None:
            with closing(open_snapshot(target)) as old:
                next_manifest = embed_papers(target, next_manifest, embedder, report, old.vector_of)
        # Readers follow the manifest: old files are removed only once it names the new ones.
        write_manifest(target, next_manifest)
        remove_generations(target, keep=next_manifest.generation)
    return UpdateResult(open_snapshot(target), counts)


def _apply_to_copy(
    target: Path, manifest: Manifest, changes: Changes, report: Progress
) -> tuple[dict[str, int], Manifest]:
    next_manifest = manifest.model_copy(
        update={"generation": manifest.generation + 1, "embedding_dimensions": None}
    )
    store = _copy_store(target, manifest, next_manifest, changes.identity)
    try:
        counts = Counter({name: int(store.state(name) or 0) for name in _OUTCOMES})
        if not store.state("applied"):
            identified = manifest.identified and changes.identified
            start = Place(int(store.state("part") or 0), int(store.state("part_row") or 0))
            for batch, place in changes.batches(start):
                with store.transaction():
                    counts.update(store.apply(change, identified=identified) for change in batch)
                    store.set_state(part=place.part, part_row=place.row, **counts)
                report(counts.total(), counts.total(), "changes")
            store.set_state(applied=1)
        if store.count() == 0:
            raise SnapshotError(
                f"{changes.name} removes every paper of {target}; the snapshot is left as it was"
            )
        if not store.state("relinked"):
            with store.transaction():
                store.relink()
                store.set_state(relinked=1)
        facts = {
            "through": max(filter(None, (manifest.through, changes.through)), default=None),
            "updates": (*manifest.updates, changes.identity)[-_KEPT_IDENTITIES:],
            **index_store(store, target / next_manifest.text_name, report),
        }
        store.seal()
    except sqlite3.DatabaseError as error:
        raise SnapshotError(
            f"{target} cannot be written ({error}); free space and run the update again"
        ) from error
    finally:
        store.close()
    present_counts = {name: counts[name] for name in _OUTCOMES if counts[name]}
    return present_counts, next_manifest.model_copy(update=facts)


def _copy_store(
    target: Path, manifest: Manifest, next_manifest: Manifest, identity: str
) -> StoreEditor:
    """Open the copy of an interrupted update with the same changes, or a new copy."""
    path = target / next_manifest.store_name
    if path.exists():
        try:
            store = StoreEditor(target, writable=True, name=next_manifest.store_name)
            if store.state("changes") == identity:
                return store
            store.close()
        except sqlite3.DatabaseError:
            pass
    remove_generations(target, keep=manifest.generation)
    copy = path.with_name(f"{path.name}.copy")
    shutil.copyfile(target / manifest.store_name, copy)
    copy.replace(path)
    store = StoreEditor(target, writable=True, name=next_manifest.store_name)
    zero_counts = dict.fromkeys(_OUTCOMES, 0)
    with store.transaction():
        store.set_state(
            changes=identity, part=0, part_row=0, applied="", relinked="", **zero_counts
        )
    return store
