"""The papers and citations of a snapshot in one SQLite file."""

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import orjson

from schemas.errors import SnapshotError
from tasks.literature.snapshot.contexts import (
    CitationContexts,
    References,
    merge_contexts,
    parse_contexts,
)
from tasks.literature.snapshot.folder import STORE_NAME
from tasks.literature.snapshot.records import (
    PaperRecord,
    compress,
    corpus_id_of,
    decompress,
    key_number,
    key_of_identifier,
    paper_of,
)
from warehouse.catalogue.sqlite_file import connect, refuse_foreign_programs

_CREATE = """
create table if not exists papers (number integer primary key, record blob not null);
create table if not exists keys (hash integer primary key, number integer not null);
create table if not exists named_references (
  citing integer, position integer, hash integer, contexts blob, primary key (citing, position)
) without rowid;
create table if not exists citations (
  citing integer, position integer, cited integer, primary key (citing, position)
) without rowid;
create table if not exists days (
  number integer primary key, first_day integer not null, last_day integer not null
);
create table if not exists state (name text primary key, value text not null) without rowid;
"""
_RESOLVE = """
insert or ignore into citations
select r.citing, r.position, k.number from named_references r join keys k on k.hash = r.hash
where k.number <> r.citing
"""
_CITING = """
select distinct c.citing from citations c join days d on d.number = c.citing
where c.cited = ? and d.first_day <= ? and d.last_day >= ?
order by c.citing
"""
_CONTEXTS = """
select r.contexts from citations c
join named_references r on r.citing = c.citing and r.position = c.position
where c.cited = ? and c.citing = ? and r.contexts is not null
order by c.position
"""
FOREVER = 99_999_999
"""Later than every day, YYYYMMDD, including `UNKNOWN_DAY`."""
# SQLite builds from before 2020 accept 999 parameters in a statement.
_KEYS_PER_QUERY = 500
_MOST_ANSWER_BYTES = 256_000_000
"""Decompressed size of all papers or passages of an answer: 100,000 papers of usual size."""
# Errors raised by truncated or foreign files.
_DAMAGE = (sqlite3.DatabaseError, zlib.error, AttributeError, OverflowError, TypeError, ValueError)


class PaperStore:
    """A connection to the papers of a snapshot.

    A store being built is written in transactions; a finished one is opened read-only.
    """

    def __init__(self, folder: Path, *, writable: bool = False, name: str = STORE_NAME) -> None:
        self._path = folder / name
        if writable:
            self._connection = connect(self._path, isolation_level=None, check_same_thread=False)
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute("pragma cache_size = -65536")
            self._connection.executescript(_CREATE)
        else:
            uri = f"{self._path.resolve().as_uri()}?mode=ro&immutable=1"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            with self._reading():
                refuse_foreign_programs(self._connection, self._path)
            self._connection.execute("pragma mmap_size = 1073741824")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Convert errors of damaged content to SnapshotError."""
        try:
            yield
        except _DAMAGE as error:
            detail = f" ({error})" if isinstance(error, sqlite3.DatabaseError) else ""
            raise SnapshotError(
                f"{self._path} is damaged{detail}; build the snapshot again"
            ) from error

    def close(self) -> None:
        self._connection.close()

    def seal(self) -> None:
        """Merge the write-ahead log into the file, so that it can be opened read-only."""
        self._connection.execute("pragma wal_checkpoint(truncate)")
        self._connection.execute("pragma journal_mode = delete")

    def state(self, name: str) -> str | None:
        query = "select value from state where name = ?"
        row = self._connection.execute(query, (name,)).fetchone()
        return row[0] if row else None

    def set_state(self, **values: str | int) -> None:
        rows = [(name, str(value)) for name, value in values.items()]
        self._connection.executemany("insert or replace into state values (?, ?)", rows)

    def count(self) -> int:
        query = "select coalesce(max(number) + 1, 0) from papers"
        return int(self._connection.execute(query).fetchone()[0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit the writes of the block.

        An exception leaves them to be rolled back at close.
        """
        self._connection.execute("begin immediate")
        yield
        self._connection.execute("commit")

    def add(
        self, number: int, record: PaperRecord, references: References, *, identified: bool = False
    ) -> bool:
        """Add a paper under the next number.

        Returns False if the store already has the paper, which then gets the fields it lacks. With
        `identified`, papers are matched by the source's own identifiers alone; other shared keys
        stay with the first paper.
        """
        known_number = self._same(record, identified=identified)
        if known_number is None:
            self._insert(number, self._with_corpus_id(record), references)
            return True
        old = self.records([known_number])[0]
        new = old if identified else old.filled_from(record)
        if new != old:
            self._insert(known_number, new, ())
        return False

    def _same(self, record: PaperRecord, *, identified: bool) -> int | None:
        """Return the number of the same paper.

        A title never matches a paper with another DOI.
        """
        corpus_keys = [f"corpus:{record.corpus_id}"] if record.corpus_id else []
        for key in (
            [f"id:{record.paper_id}", *corpus_keys]
            if identified
            else [*record.keys(), *corpus_keys]
        ):
            number = self._holder(key)
            if number is None:
                continue
            by_title = key.startswith("title:") and record.doi
            if not (by_title and self.records([number])[0].doi not in (None, record.doi)):
                return number
        return None

    def _insert(self, number: int, record: PaperRecord, references: References) -> None:
        self._connection.executemany(
            "insert or ignore into keys values (?, ?)",
            [(each, number) for each in key_numbers(record)],
        )
        row = (number, compress(record.to_json()))
        self._connection.execute("insert or replace into papers values (?, ?)", row)
        days = (number, record.first_day, record.last_day)
        self._connection.execute("insert or replace into days values (?, ?, ?)", days)
        self._connection.executemany(
            "insert or ignore into named_references values (?, ?, ?, ?)",
            [
                (number, position, key_number(reference_key(each)), contexts.packed())
                for position, each, contexts in references
            ],
        )

    def _holder(self, key: str) -> int | None:
        query = "select number from keys where hash = ?"
        row = self._connection.execute(query, (key_number(key),)).fetchone()
        return int(row[0]) if row else None

    def _with_corpus_id(self, record: PaperRecord) -> PaperRecord:
        attempt = 0
        while record.corpus_id == 0:
            corpus_id = corpus_id_of(record.paper_id, attempt)
            if self._holder(f"corpus:{corpus_id}") is None:
                return replace(record, corpus_id=corpus_id)
            attempt += 1
        return record

    def fingerprint(self) -> str:
        """Return a content hash over papers and references, independent of their order.

        Raises:
            SnapshotError: the file is damaged.
        """
        # A sum of SHA-256 digests needs neither sorting nor memory. Collisions can be forged, but
        # only in one's own snapshot.
        total = 0
        references = self._connection.cursor().execute(
            "select citing, hash, contexts from named_references order by citing, position"
        )
        upcoming = references.fetchone()
        papers = self._connection.execute("select number, record from papers order by number")
        with self._reading():
            for number, blob in papers:
                digest = hashlib.sha256(decompress(blob))
                while upcoming is not None and upcoming[0] == number:
                    digest.update(upcoming[1].to_bytes(8, "big"))
                    if upcoming[2] is not None:
                        digest.update(decompress(upcoming[2]))
                    upcoming = references.fetchone()
                total += int.from_bytes(digest.digest(), "big")
        return f"{total % 2**256:064x}"

    def citation_count(self) -> int:
        """Return the number of citing pairs of papers."""
        distinct = "select count(*) from (select distinct cited, citing from citations)"
        return int(self._connection.execute(distinct).fetchone()[0])

    def resolve_references(self) -> None:
        """Convert named references to citations between papers of the store; idempotent."""
        self._connection.execute(_RESOLVE)
        self._connection.execute("create index if not exists cited_by on citations (cited, citing)")

    def records_from(self, first_number: int) -> Iterator[tuple[int, PaperRecord]]:
        """Yield (number, paper) in order, from a number on."""
        query = "select number, record from papers where number >= ? order by number"
        with self._reading():
            for number, blob in self._connection.execute(query, (first_number,)):
                yield number, paper_of(orjson.loads(decompress(blob)))

    def records(self, numbers: Sequence[int]) -> list[PaperRecord]:
        """Return papers by number, in order.

        Raises:
            SnapshotError: the file is damaged, or the papers exceed the size of an answer.
        """
        records: dict[int, PaperRecord] = {}
        unpacked_size = 0
        for start in range(0, len(numbers), _KEYS_PER_QUERY):
            part = numbers[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            # Only question marks are inserted into the statement.
            query = f"select number, record from papers where number in ({marks})"  # noqa: S608
            with self._reading():
                for number, blob in self._connection.execute(query, part):
                    content = decompress(blob)
                    unpacked_size += len(content)
                    self._check_size(unpacked_size, f"{len(numbers):,} papers")
                    records[number] = paper_of(orjson.loads(content))
        try:
            return [records[number] for number in numbers]
        except KeyError as error:
            raise SnapshotError(
                f"{self._path} lacks paper {error}; build the snapshot again"
            ) from error

    def numbers_of(self, identifiers: Iterable[str]) -> list[int | None]:
        """Return paper numbers by any API identifier; None for unknown ones."""
        keys = map(key_of_identifier, identifiers)
        return [self._holder(key) if key else None for key in keys]

    def has_contexts(self) -> bool:
        """Return whether any reference has contexts."""
        query = "select exists (select 1 from named_references where contexts is not null)"
        return bool(self._connection.execute(query).fetchone()[0])

    def corrections(self) -> list[str]:
        """Return the proposals in effect, in the order in which they were applied.

        Raises:
            SnapshotError: the file is damaged.
        """
        has_edits = "select 1 from sqlite_master where type = 'table' and name = 'edits'"
        query = "select proposal from edits group by proposal order by max(made)"
        with self._reading():
            if self._connection.execute(has_edits).fetchone() is None:
                return []
            return [each for (each,) in self._connection.execute(query)]

    def entries_of_lists(self) -> Iterator[tuple[int, int, int | None]]:
        """Yield (citing, position, cited) of every reference.

        `cited` is None for a paper outside the snapshot.
        """
        yield from self._connection.execute(
            "select r.citing, r.position, k.number from named_references r"
            " left join keys k on k.hash = r.hash order by r.citing, r.position"
        )

    def same_as(self, record: PaperRecord) -> int | None:
        """Return the number of the paper that shares a key with this record."""
        return self._same(record, identified=False)

    def cited_by(self, number: int) -> list[int]:
        """Return the papers that this one cites, in the order of its reference list."""
        query = "select cited from citations where citing = ? group by cited order by min(position)"
        return [each for (each,) in self._connection.execute(query, (number,))]

    def citing(self, number: int, first_day: int = 0, last_day: int = FOREVER) -> list[int]:
        """Return the papers that cite this one and may have appeared within the days."""
        if (first_day, last_day) == (0, FOREVER):
            query = "select distinct citing from citations where cited = ? order by citing"
            return [each for (each,) in self._connection.execute(query, (number,))]
        rows = self._connection.execute(_CITING, (number, last_day, first_day))
        return [each for (each,) in rows]

    def contexts(self, edges: Sequence[tuple[int, int]]) -> list[CitationContexts]:
        """Return the contexts of (citing, cited) pairs, in order.

        Raises:
            SnapshotError: the file is damaged, or the passages exceed the size of an answer.
        """
        answer: list[CitationContexts] = []
        unpacked_size = 0
        for citing_number, cited_number in edges:
            with self._reading():
                entries = list[CitationContexts]()
                for (blob,) in self._connection.execute(_CONTEXTS, (cited_number, citing_number)):
                    content = decompress(blob)
                    unpacked_size += len(content)
                    self._check_size(unpacked_size, f"the passages of {len(edges):,} citations")
                    entries.append(parse_contexts(content))
                answer.append(merge_contexts(entries))
        return answer

    def _check_size(self, unpacked_size: int, content: str) -> None:
        if unpacked_size > _MOST_ANSWER_BYTES:
            raise SnapshotError(
                f"{self._path}: {content} take more than {_MOST_ANSWER_BYTES:,} bytes; build the"
                " snapshot again"
            )


def key_numbers(record: PaperRecord) -> list[int]:
    """Return the hashes of all keys of a stored record."""
    return [key_number(key) for key in (*record.keys(), f"corpus:{record.corpus_id}")]


def reference_key(reference: str) -> str:
    """Return the key of a reference: an API identifier, else the source's own `paper_id`."""
    return key_of_identifier(reference) or f"given:{reference.strip()}"
