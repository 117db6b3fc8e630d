"""Changes to single records that can be taken back.

The store keeps of each what was there before. So a correction and the way back from it appear
together with the generation of the snapshot that has them.
"""

import base64
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from schemas.errors import SnapshotError
from schemas.literature.audit import Action
from tasks.literature.snapshot.editor import Change, StoreEditor
from tasks.literature.snapshot.folder import AUDIT_NAME
from tasks.literature.snapshot.parts import Place
from tasks.literature.snapshot.records import FILLED, key_number, paper_of
from tasks.literature.snapshot.store import key_numbers

_CREATE = """
create table if not exists edits (
  proposal text, place integer, made integer, paper_id text, part text, old blob, new blob,
  primary key (proposal, place)
) without rowid
"""
_REPOINT = "create index if not exists reference_names on named_references (hash)"


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
    """A correction is to be taken back."""

    proposal_id: str


_FITS_NO_RECORD = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What values of another kind, or of another place, raise."""

AnyChange = Change | Correction | Reversal


class Changes(Protocol):
    """Changes in batches, in the order in which they are to be made.

    Attributes:
        identity: of this set of changes; applied twice, it changes nothing the second time.
        through: the release or day the snapshot has reached with them; None where the source has
            none.
        empty: whether there is nothing the snapshot has not got yet.
        identified: whether the source's own identifiers alone say which papers are the same.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def through(self) -> str | None: ...
    @property
    def empty(self) -> bool: ...
    @property
    def identified(self) -> bool: ...

    def batches(self, start: Place) -> Iterator[tuple[Sequence[AnyChange], Place]]:
        """Changes from `start` on, each batch with the place behind it. Raises SnapshotError."""
        ...


@dataclass(frozen=True, slots=True)
class _Edit:
    """One part of one paper, before and after: a field, `record` (its values), `names` (the hashes
    of the keys it is found by) or `reference:POSITION` (hash and packed contexts).
    """

    paper_id: str
    part: str
    old: Any
    new: Any


class CorrectedStore(StoreEditor):
    """A writable store that takes corrections and reversals among its changes."""

    def apply(self, change: AnyChange, *, identified: bool) -> str:
        """As `StoreEditor.apply`. A correction whose record is not as it was when the proposal was
        made is skipped, and so is a reversal of what has been changed since.

        Raises:
            SnapshotError: a correction or a reversal speaks of what no record has.
        """
        if not isinstance(change, Correction | Reversal):
            return super().apply(change, identified=identified)
        self._connection.execute(_CREATE)
        try:
            if isinstance(change, Correction):
                return self._correct(change)
            return self._revert(change.proposal_id)
        except _FITS_NO_RECORD as error:
            done, remedy = (
                ("made", f"remove {AUDIT_NAME} and audit the snapshot again")
                if isinstance(change, Correction)
                else ("taken back", "build the snapshot again")
            )
            raise SnapshotError(
                f"proposal {change.proposal_id} cannot be {done}: it fits no record; {remedy}"
            ) from error

    def _correct(self, change: Correction) -> str:
        number = self._number(change.paper_id)
        if number is None:
            return "skipped"
        if change.action is Action.MERGE:
            return self._merge(change)
        if change.action is Action.REMOVE_REFERENCE:
            edits = list(self._unlisted(change.paper_id, f"reference:{change.old}"))
        else:
            now = self._current(_Edit(change.paper_id, change.field, None, None))
            # What is unknown is an empty text in some fields.
            old = now if not now and not change.old else change.old
            edits = [_Edit(change.paper_id, change.field, old, change.new)]
        if not edits or any(self._current(each) != each.old for each in edits):
            return "skipped"
        self._make(change.proposal_id, edits)
        return "replaced"

    def _unlisted(self, paper_id: str, part: str) -> Iterator[_Edit]:
        number = self._number(paper_id)
        assert number is not None
        entry = self._current(_Edit(paper_id, part, None, None))
        if entry is None:
            return
        yield _Edit(paper_id, part, entry, None)
        alike = sum(each == entry[0] for _, each, _ in self._references(number))
        counted = self._record(number).reference_count
        if counted and alike == 1:
            yield _Edit(paper_id, "reference_count", counted, counted - 1)

    def _merge(self, change: Correction) -> str:
        removed_id, kept_id = str(change.old), str(change.new)
        removed, kept = self._number(removed_id), self._number(kept_id)
        if removed is None or kept is None or removed == kept:
            return "skipped"
        gone, stays = self._record(removed), self._record(kept)
        own, listed = self._references(removed), self._references(kept)
        edits = [
            *self._repointed(removed, kept),
            *(_Edit(removed_id, f"reference:{row[0]}", _entry(*row[1:]), None) for row in own),
            _Edit(removed_id, "names", self._names(removed), []),
            _Edit(removed_id, "record", orjson.loads(gone.to_json()), None),
        ]
        edits += [
            _Edit(kept_id, name, _plain(getattr(stays, name)), _plain(getattr(gone, name)))
            for name in FILLED
            if not getattr(stays, name) and getattr(gone, name)
        ]
        if own and not listed:
            to_itself = set(key_numbers(gone)) | set(key_numbers(stays))
            rows = [row for row in own if row[1] not in to_itself]
            edits += [_Edit(kept_id, f"reference:{row[0]}", None, _entry(*row[1:])) for row in rows]
            edits.append(
                _Edit(kept_id, "reference_count", stays.reference_count, gone.reference_count)
            )
        self._make(change.proposal_id, edits)
        again = self._number(kept_id)
        assert again is not None
        self._connection.executemany(
            "insert or ignore into keys values (?, ?)",
            [(each, again) for each in key_numbers(self._record(again))],
        )
        return "removed"

    def _repointed(self, removed: int, kept: int) -> Iterator[_Edit]:
        """Entries of other lists that name the removed paper:
        they name the kept one from now on.
        """
        self._connection.execute(_REPOINT)
        target = key_number(f"id:{self._record(kept).paper_id}")
        for name in self._names(removed):
            found = self._connection.execute(
                "select citing, position, contexts from named_references where hash = ?", (name,)
            )
            for citing, position, contexts in found.fetchall():
                if citing == removed:
                    continue
                paper_id = self._record(citing).paper_id
                entry = None if citing == kept else _entry(target, contexts)
                yield _Edit(paper_id, f"reference:{position}", _entry(name, contexts), entry)

    def _revert(self, proposal_id: str) -> str:
        edits = self._edits(proposal_id)
        if not edits or any(self._current(each) != each.new for each in edits):
            return "skipped"
        for each in reversed(edits):
            self._put(each.paper_id, each.part, each.old)
        self._connection.execute("delete from edits where proposal = ?", (proposal_id,))
        return "replaced"

    def _make(self, proposal_id: str, edits: list[_Edit]) -> None:
        (made,) = self._connection.execute(
            "select coalesce(max(made), 0) + 1 from edits"
        ).fetchone()
        self._connection.executemany(
            "insert or replace into edits values (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    proposal_id,
                    at,
                    made,
                    each.paper_id,
                    each.part,
                    *map(orjson.dumps, (each.old, each.new)),
                )
                for at, each in enumerate(edits)
            ],
        )
        for each in edits:
            self._put(each.paper_id, each.part, each.new)

    def _edits(self, proposal_id: str) -> list[_Edit]:
        if not self.has_corrections():
            return []
        rows = self._connection.execute(
            "select paper_id, part, old, new from edits where proposal = ? order by place",
            (proposal_id,),
        )
        return [
            _Edit(paper_id, part, orjson.loads(old), orjson.loads(new))
            for paper_id, part, old, new in rows
        ]

    def _current(self, edit: _Edit) -> Any:
        number = self._number(edit.paper_id)
        if edit.part == "record":
            return None if number is None else orjson.loads(self._record(number).to_json())
        if edit.part == "names":
            return [] if number is None else self._names(number)
        if number is None:
            return None
        if edit.part.startswith("reference:"):
            found = self._connection.execute(
                "select hash, contexts from named_references where citing = ? and position = ?",
                (number, int(edit.part.partition(":")[2])),
            ).fetchone()
            return _entry(*found) if found else None
        return _plain(getattr(self._record(number), edit.part))

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
            self._put_reference(number, int(part.partition(":")[2]), value)
        else:
            old = self._record(number)
            new = dataclasses.replace(old, **{part: value})
            self._rewrite(number, old, paper_of(orjson.loads(new.to_json())))

    def _put_reference(self, number: int, position: int, entry: list[Any] | None) -> None:
        if entry is None:
            self._connection.execute(
                "delete from named_references where citing = ? and position = ?",
                (number, position),
            )
            return
        name, packed = entry
        contexts = None if packed is None else base64.b64decode(packed)
        self._connection.execute(
            "insert or replace into named_references values (?, ?, ?, ?)",
            (number, position, name, contexts),
        )

    def _number(self, paper_id: str) -> int | None:
        return self._holder(f"id:{paper_id}")

    def _names(self, number: int) -> list[int]:
        """The keys by which this paper, and not another that shares them, is found."""
        held = []
        for each in sorted(set(key_numbers(self._record(number)))):
            found = self._connection.execute("select number from keys where hash = ?", (each,))
            if found.fetchone() == (number,):
                held.append(each)
        return held


def _entry(name: int, contexts: bytes | None) -> list[Any]:
    return [name, None if contexts is None else base64.b64encode(contexts).decode()]


def _plain(value: Any) -> Any:
    """A field as JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value
