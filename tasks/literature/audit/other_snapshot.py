"""Another snapshot as a source that says something of the same papers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.literature.audit.stage import Stage
from tasks.literature.snapshot.folder import read_manifest
from tasks.literature.snapshot.records import PaperRecord, normal_title
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.literature.snapshot.store import PaperStore
from tasks.text.titles import LEAST_TITLE_WORDS, same_authors


@dataclass(frozen=True, slots=True)
class OtherSnapshot:
    """Implements `OtherSource`. A paper is the same by an identifier or by title and year, else by
    its whole title with authors in common.
    """

    folder: Path
    failures: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return read_manifest(self.folder).source

    @property
    def identity(self) -> str:
        return read_manifest(self.folder).fingerprint

    def records(self, stage: Stage, store: PaperStore) -> Iterator[tuple[int, PaperRecord]]:
        """Of every paper that both have."""
        del stage
        other = open_snapshot(self.folder)
        held = PaperStore(self.folder, name=other.manifest.store_name)
        try:
            for number, record in store.records_from(0):
                place = held.same_as(record)
                found = other.match_title(record.title).papers if place is None else ()
                if place is not None:
                    yield number, held.records([place])[0]
                elif found and _same(record, found[0]):
                    yield number, found[0]
        finally:
            held.close()
            other.close()


def _same(one: PaperRecord, other: PaperRecord) -> bool:
    title = normal_title(one.title)
    return (
        len(title.split()) >= LEAST_TITLE_WORDS
        and title == normal_title(other.title)
        and same_authors(one.authors, other.authors)
    )
