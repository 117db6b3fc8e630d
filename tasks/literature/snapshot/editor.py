"""Changes to the papers of a store: updates, and corrections that can be undone.

Paper numbers stay dense: the last paper replaces a removed one. The store keeps the values that
each correction replaced, so corrections can be undone in any generation that contains them.
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from schemas.errors import SnapshotError
from schemas.literature.audit import Action
from tasks.literature.snapshot.contexts import UNKNOWN, CitationContexts, references_of
from tasks.literature.snapshot.folder import AUDIT_NAME
from tasks.literature.snapshot.parts import Place, Row
from tasks.literature.snapshot.records import (
    FILLED,
    OPTIONAL_COLUMNS,
    PaperRecord,
    compress,
    key_number,
    paper_of,
    record_of,
)
from tasks.literature.snapshot.store import PaperStore, key_numbers, reference_key


@dataclass(frozen=True, slots=True)
class Upsert:
    """A new or changed paper.

    Columns missing in the row keep their values.

    Attributes:
        cites_nothing: whether a paper without edges is known to have no references.
    """

    row: Row
    cites_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Amendment:
    """New values for some fields of the paper with this key.

    Unknown papers are skipped.
    """

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of the paper with this key."""

    key: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, identified by the source's own number."""

    edge_id: int
    citing_key: str
    cited: str
    contexts: CitationContexts = UNKNOWN


@dataclass(frozen=True, slots=True)
class EdgeRemoval:
    edge_id: int


@dataclass(frozen=True, slots=True)
class Correction:
    """An accepted proposal. `old` and `new` as in `schemas.literature.audit.Proposal`, read from JSON."""

    proposal_id: str
    action: Action
    paper_id: str
    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Reversal:
    """A reversal of a correction."""

    proposal_id: str


AnyChange = Upsert | Amendment | Removal | Edge | EdgeRemoval | Correction | Reversal


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes in batches, in the order in which they are applied.

    Attributes:
        identity: of this set of changes; a set that was already applied is skipped.
        through: the release or day that the snapshot reaches with them; None if the source has
            none.
        batches: returns the changes from a place on, each batch with the place after it. Raises
            SnapshotError.
        identified: whether papers are matched by the source's own identifiers alone.
        empty: whether the snapshot already has all of them.
    """

    name: str
    identity: str
    through: str | None
    batches: Callable[[Place], Iterator[tuple[Sequence[AnyChange], Place]]]
    identified: bool = True
    empty: bool = False


_COLUMNS = tuple(
    name
    for name in ("abstract", "authors", "venue", *OPTIONAL_COLUMNS)
    if name in PaperRecord.__slots__
)
_CREATE_EDITS = """
create table if not exists edits (
  proposal text, place integer, made integer, paper_id text, part text, old blob, new blob,
  primary key (proposal, place)
) without rowid
"""
_FITS_NO_RECORD = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""Errors raised by values that do not fit the record or field."""

_Edit = tuple[str, str, Any, Any]
"""A change to a part of a paper: (paper_id, part, old, new).

A part is a field, `record` (all values), `names` (the hashes of its keys) or `reference:POSITION`
(hash and packed contexts).
"""


class StoreEditor(PaperStore):
    """A writable store that applies the changes of updates and audits.

    Every change keeps keys, papers and references consistent.
    """

    def apply(self, change: AnyChange, *, identified: bool) -> str:
        """Apply one change within the open transaction.

        Returns its outcome: added, replaced, unchanged, removed, untitled or skipped. Skipped are
        changes to unknown papers, corrections of records that changed after the proposal, and
        reversals of values that changed since.

        Raises:
            SnapshotError: a correction or reversal does not fit its record.
        """
        if isinstance(change, Upsert):
            return self._upsert(change, identified=identified)
        if isinstance(change, Correction | Reversal):
            return self._correct_or_revert(change)
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
        """Rebuild the citations between the papers of the store."""
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
        # A field is emptied only if an identified source sends it empty.
        unchanged_fields: dict[str, Any] = {
            name: getattr(old, name)
            for name in _COLUMNS
            if not getattr(record, name)
            and (name not in change.row or change.row[name] or not identified)
        }
        if "authors" in unchanged_fields:
            unchanged_fields["author_ids"] = old.author_ids
        if not identified:
            unchanged_fields["paper_id"] = old.paper_id
        unchanged_fields |= {
            "corpus_id": record.corpus_id or old.corpus_id,
            "given_id": record.given_id or old.given_id,
        }
        new = replace(record, **unchanged_fields)
        if "references" not in change.row:
            return self._rewrite(number, old, replace(new, reference_count=old.reference_count))
        references = self._references(number)
        self._connection.execute("delete from named_references where citing = ?", (number,))
        outcome = self._rewrite(number, old, new)
        self._insert(number, new, references_of(change.row))
        return outcome if self._references(number) == references else "replaced"

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
        cited_hash = key_number(reference_key(edge.cited))
        row = (citing, edge.edge_id, cited_hash, edge.contexts.packed())
        self._connection.execute("insert or replace into named_references values (?, ?, ?, ?)", row)
        self._count_references(citing)
        return "replaced"

    def _remove_edge(self, edge_id: int) -> str:
        self._connection.execute(
            "create index if not exists reference_positions on named_references (position)"
        )
        query = "select citing from named_references where position = ?"
        citing = self._connection.execute(query, (edge_id,)).fetchall()
        self._connection.execute("delete from named_references where position = ?", (edge_id,))
        for (number,) in citing:
            self._count_references(number)
        return "removed" if citing else "skipped"

    def _count_references(self, number: int, *, cites_nothing: bool = False) -> None:
        record = self._record(number)
        distinct_count = len({cited_id for _, cited_id, _ in self._references(number)})
        count = distinct_count or (
            0 if cites_nothing or record.reference_count is not None else None
        )
        if record.reference_count != count:
            new_record = compress(replace(record, reference_count=count).to_json())
            self._connection.execute(
                "update papers set record = ? where number = ?", (new_record, number)
            )

    def _remove(self, number: int) -> None:
        last = self.count() - 1
        self._forget_keys(number, self._record(number))
        for statement in (
            "delete from named_references where citing = ?",
            "delete from papers where number = ?",
            "delete from days where number = ?",
        ):
            self._connection.execute(statement, (number,))
        if number == last:
            return
        rows = [(number, each, last) for each in key_numbers(self._record(last))]
        self._connection.executemany(
            "update keys set number = ? where hash = ? and number = ?", rows
        )
        for statement in (
            "update papers set number = ? where number = ?",
            "update days set number = ? where number = ?",
            "update named_references set citing = ? where citing = ?",
        ):
            self._connection.execute(statement, (number, last))

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

    # Corrections and reversals.

    def _correct_or_revert(self, change: Correction | Reversal) -> str:
        self._connection.execute(_CREATE_EDITS)
        try:
            if isinstance(change, Correction):
                return self._correct(change)
            return self._revert(change.proposal_id)
        except _FITS_NO_RECORD as error:
            verb, remedy = "taken back", "build the snapshot again"
            if isinstance(change, Correction):
                verb, remedy = "made", f"remove {AUDIT_NAME} and audit the snapshot again"
            raise SnapshotError(
                f"proposal {change.proposal_id} cannot be {verb}: it fits no record; {remedy}"
            ) from error

    def _correct(self, change: Correction) -> str:
        number = self._number(change.paper_id)
        if number is None:
            return "skipped"
        if change.action is Action.MERGE:
            return self._merge(change)
        if change.action is Action.REMOVE_REFERENCE:
            edits = self._reference_edits(number, change)
        else:
            now = self._value(change.paper_id, change.field)
            # Some fields store an unknown value as an empty text.
            old = now if not now and not change.old else change.old
            edits = [(change.paper_id, change.field, old, change.new)]
        if not edits or any(self._value(*each[:2]) != each[2] for each in edits):
            return "skipped"
        self._make(change.proposal_id, edits)
        return "replaced"

    def _reference_edits(self, number: int, change: Correction) -> list[_Edit]:
        part = f"reference:{change.old}"
        entry = self._value(change.paper_id, part)
        if entry is None:
            return []
        edits: list[_Edit] = [(change.paper_id, part, entry, None)]
        equal_count = sum(each == entry[0] for _, each, _ in self._references(number))
        reference_count = self._record(number).reference_count
        if reference_count and equal_count == 1:
            edits.append((change.paper_id, "reference_count", reference_count, reference_count - 1))
        return edits

    def _merge(self, change: Correction) -> str:
        removed_id, kept_id = str(change.old), str(change.new)
        removed_number, kept_number = self._number(removed_id), self._number(kept_id)
        if removed_number is None or kept_number is None or removed_number == kept_number:
            return "skipped"
        removed_record, kept_record = self._record(removed_number), self._record(kept_number)
        removed_references = self._references(removed_number)
        edits: list[_Edit] = [
            *self._repoint(removed_number, kept_number),
            *(
                (removed_id, f"reference:{row[0]}", _entry(*row[1:]), None)
                for row in removed_references
            ),
            (removed_id, "names", self._names(removed_number), []),
            (removed_id, "record", orjson.loads(removed_record.to_json()), None),
        ]
        for name in FILLED:
            old, new = getattr(kept_record, name), getattr(removed_record, name)
            if new and not old:
                edits.append((kept_id, name, _plain(old), _plain(new)))
        if removed_references and not self._references(kept_number):
            own_keys = set(key_numbers(removed_record)) | set(key_numbers(kept_record))
            rows = [row for row in removed_references if row[1] not in own_keys]
            edits += [(kept_id, f"reference:{row[0]}", None, _entry(*row[1:])) for row in rows]
            counts = (kept_record.reference_count, removed_record.reference_count)
            edits.append((kept_id, "reference_count", *counts))
        self._make(change.proposal_id, edits)
        number = self._number(kept_id)
        assert number is not None
        self._connection.executemany(
            "insert or ignore into keys values (?, ?)",
            [(each, number) for each in key_numbers(self._record(number))],
        )
        return "removed"

    def _repoint(self, removed_number: int, kept_number: int) -> Iterator[_Edit]:
        """Yield edits that redirect references to the removed paper to the kept one."""
        self._connection.execute(
            "create index if not exists reference_names on named_references (hash)"
        )
        target = key_number(f"id:{self._record(kept_number).paper_id}")
        for name in self._names(removed_number):
            rows = self._connection.execute(
                "select citing, position, contexts from named_references where hash = ?", (name,)
            )
            for citing, position, contexts in rows.fetchall():
                if citing != removed_number:
                    entry = None if citing == kept_number else _entry(target, contexts)
                    paper_id, part = self._record(citing).paper_id, f"reference:{position}"
                    yield paper_id, part, _entry(name, contexts), entry

    def _revert(self, proposal_id: str) -> str:
        rows = self._connection.execute(
            "select paper_id, part, old, new from edits where proposal = ? order by place",
            (proposal_id,),
        )
        edits = [(*row[:2], orjson.loads(row[2]), orjson.loads(row[3])) for row in rows]
        if not edits or any(self._value(*each[:2]) != each[3] for each in edits):
            return "skipped"
        for paper_id, part, old, _ in reversed(edits):
            self._put(paper_id, part, old)
        self._connection.execute("delete from edits where proposal = ?", (proposal_id,))
        return "replaced"

    def _make(self, proposal_id: str, edits: list[_Edit]) -> None:
        query = "select coalesce(max(made), 0) + 1 from edits"
        (edit_number,) = self._connection.execute(query).fetchone()
        self._connection.executemany(
            "insert or replace into edits values (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    proposal_id,
                    place,
                    edit_number,
                    paper_id,
                    part,
                    orjson.dumps(old),
                    orjson.dumps(new),
                )
                for place, (paper_id, part, old, new) in enumerate(edits)
            ],
        )
        for paper_id, part, _, new in edits:
            self._put(paper_id, part, new)

    def _value(self, paper_id: str, part: str) -> Any:
        number = self._number(paper_id)
        if number is None:
            return [] if part == "names" else None
        if part == "record":
            return orjson.loads(self._record(number).to_json())
        if part == "names":
            return self._names(number)
        if part.startswith("reference:"):
            row = self._connection.execute(
                "select hash, contexts from named_references where citing = ? and position = ?",
                (number, int(part.partition(":")[2])),
            ).fetchone()
            return _entry(*row) if row else None
        return _plain(getattr(self._record(number), part))

    def _put(self, paper_id: str, part: str, value: Any) -> None:
        number = self._number(paper_id)
        if part == "record":
            if value is not None:
                self._insert(self.count(), paper_of(value), ())
            elif number is not None:
                self._remove(number)
        elif number is None:
            if value:
                raise ValueError("nothing but the record itself is put where no paper is")
        elif part == "names":
            rows = [(each, number) for each in value]
            self._connection.executemany("insert or replace into keys values (?, ?)", rows)
        elif part.startswith("reference:"):
            position = int(part.partition(":")[2])
            self._connection.execute(
                "delete from named_references where citing = ? and position = ?", (number, position)
            )
            if value is not None:
                name, packed_contexts = value
                contexts = None if packed_contexts is None else base64.b64decode(packed_contexts)
                self._connection.execute(
                    "insert into named_references values (?, ?, ?, ?)",
                    (number, position, name, contexts),
                )
        else:
            old = self._record(number)
            new = replace(old, **{part: value})
            self._rewrite(number, old, paper_of(orjson.loads(new.to_json())))

    def _number(self, paper_id: str) -> int | None:
        return self._holder(f"id:{paper_id}")

    def _names(self, number: int) -> list[int]:
        """Return the hashes of the keys that lead to this paper."""
        query = "select number from keys where hash = ?"
        return [
            each
            for each in sorted(set(key_numbers(self._record(number))))
            if self._connection.execute(query, (each,)).fetchone() == (number,)
        ]


def _entry(name: int, contexts: bytes | None) -> list[Any]:
    return [name, None if contexts is None else base64.b64encode(contexts).decode()]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
