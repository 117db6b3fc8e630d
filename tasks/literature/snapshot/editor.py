"""Changing the papers of a store.

Numbers stay dense: the last paper takes the place of one that is removed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tasks.literature.snapshot.build import references_of
from tasks.literature.snapshot.contexts import UNKNOWN, CitationContexts
from tasks.literature.snapshot.parts import Row
from tasks.literature.snapshot.records import (
    OPTIONAL_COLUMNS,
    PaperRecord,
    compress,
    key_number,
    record_of,
)
from tasks.literature.snapshot.store import PaperStore, key_numbers, reference_key

# What an update says about the papers of a snapshot, one change at a time.


@dataclass(frozen=True, slots=True)
class Upsert:
    """A paper as it is now.

    Columns the row lacks stay as they were; `cites_nothing` says so of a paper without edges.
    """

    row: Row
    cites_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Amendment:
    """Some fields of the paper with this key; a paper that is not there is left alone."""

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Removal:
    """The paper with this key is gone."""

    key: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, known by a number of the source's own."""

    edge_id: int
    citing_key: str
    cited: str
    contexts: CitationContexts = UNKNOWN


@dataclass(frozen=True, slots=True)
class EdgeRemoval:
    edge_id: int


Change = Upsert | Amendment | Removal | Edge | EdgeRemoval


_COLUMNS = tuple(
    name
    for name in ("abstract", "authors", "venue", *OPTIONAL_COLUMNS)
    if name in PaperRecord.__slots__
)


class StoreEditor(PaperStore):
    """A writable store with the changes an update may ask for.

    Every change leaves keys, papers and references in step.
    """

    def apply(self, change: Change, *, identified: bool) -> str:
        """Make one change within the open transaction.

        Returns what came of it: added, replaced, unchanged, removed, untitled or skipped (it speaks
            of no paper here).
        """
        if isinstance(change, Upsert):
            return self._upsert(change, identified=identified)
        if isinstance(change, Edge):
            return self._put_edge(change)
        if isinstance(change, EdgeRemoval):
            return self._remove_edge(change.edge_id)
        number = self._holder(change.key)
        if number is None:
            return "skipped"
        if isinstance(change, Removal):
            self._remove(number)
            return "removed"
        old = self._record(number)
        return self._rewrite(number, old, replace(old, **change.fields))

    def relink(self) -> None:
        """Find out anew who cites whom among the papers that are here now."""
        self._connection.execute("drop index if exists cited_by")
        self._connection.execute("delete from citations")
        self.resolve_references()

    def _upsert(self, change: Upsert, *, identified: bool) -> str:
        record = record_of(change.row)
        if record is None:
            return "untitled"
        number = self._same(record, identified=identified)
        if number is None:
            self._insert(self.count(), self._with_corpus_id(record), references_of(change.row))
            self._count_references(self.count() - 1, cites_nothing=change.cites_nothing)
            return "added"
        old = self._record(number)
        # Only the source's own word that there is nothing empties a field.
        lacking: dict[str, Any] = {
            name: getattr(old, name)
            for name in _COLUMNS
            if not getattr(record, name)
            and (name not in change.row or change.row[name] or not identified)
        }
        if "authors" in lacking:
            lacking["author_ids"] = old.author_ids
        if not identified:
            lacking["paper_id"] = old.paper_id
        lacking |= {
            "corpus_id": record.corpus_id or old.corpus_id,
            "given_id": record.given_id or old.given_id,
        }
        new = replace(record, **lacking)
        if "references" not in change.row:
            new = replace(new, reference_count=old.reference_count)
            return self._rewrite(number, old, new)
        listed = self._references(number)
        self._connection.execute("delete from named_references where citing = ?", (number,))
        outcome = self._rewrite(number, old, new)
        self._insert(number, new, references_of(change.row))
        return outcome if self._references(number) == listed else "replaced"

    def _rewrite(self, number: int, old: PaperRecord, new: PaperRecord) -> str:
        if new == old:
            return "unchanged"
        self._forget_keys(number, old)
        self._insert(number, new, ())
        return "replaced"

    def _put_edge(self, edge: Edge) -> str:
        citing = self._holder(edge.citing_key)
        if citing is None:
            return "skipped"
        hashed = key_number(reference_key(edge.cited))
        row = (citing, edge.edge_id, hashed, edge.contexts.packed())
        self._connection.execute("insert or replace into named_references values (?, ?, ?, ?)", row)
        self._count_references(citing)
        return "replaced"

    def _remove_edge(self, edge_id: int) -> str:
        self._connection.execute(
            "create index if not exists reference_positions on named_references (position)"
        )
        citing = [
            each
            for (each,) in self._connection.execute(
                "select citing from named_references where position = ?", (edge_id,)
            )
        ]
        self._connection.execute("delete from named_references where position = ?", (edge_id,))
        for number in citing:
            self._count_references(number)
        return "removed" if citing else "skipped"

    def _count_references(self, number: int, *, cites_nothing: bool = False) -> None:
        record = self._record(number)
        counted = len({cited for _, cited, _ in self._references(number)})
        known = counted or (0 if cites_nothing or record.reference_count is not None else None)
        if record.reference_count != known:
            rewritten = compress(replace(record, reference_count=known).to_json())
            self._connection.execute(
                "update papers set record = ? where number = ?", (rewritten, number)
            )

    def _remove(self, number: int) -> None:
        last = self.count() - 1
        self._forget_keys(number, self._record(number))
        self._connection.execute("delete from named_references where citing = ?", (number,))
        self._connection.execute("delete from papers where number = ?", (number,))
        self._connection.execute("delete from days where number = ?", (number,))
        if number == last:
            return
        moved = self._record(last)
        rows = [(number, each, last) for each in key_numbers(moved)]
        self._connection.executemany(
            "update keys set number = ? where hash = ? and number = ?", rows
        )
        self._connection.execute("update papers set number = ? where number = ?", (number, last))
        self._connection.execute("update days set number = ? where number = ?", (number, last))
        self._connection.execute(
            "update named_references set citing = ? where citing = ?", (number, last)
        )

    def _forget_keys(self, number: int, record: PaperRecord) -> None:
        rows = [(each, number) for each in key_numbers(record)]
        self._connection.executemany("delete from keys where hash = ? and number = ?", rows)

    def _record(self, number: int) -> PaperRecord:
        return self.records([number])[0]

    def _references(self, number: int) -> list[tuple[int, int, bytes | None]]:
        query = (
            "select position, hash, contexts from named_references where citing = ?"
            " order by position"
        )
        return list(self._connection.execute(query, (number,)))
