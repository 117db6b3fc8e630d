"""Concept network of a snapshot: concepts that papers name together, with dates."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from filelock import FileLock
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from schemas.text.patterns import bounded
from tasks.literature.snapshot.build import ignore_progress
from tasks.literature.snapshot.folder import read_manifest
from tasks.literature.snapshot.parts import Progress, first_line
from tasks.literature.snapshot.records import PaperRecord, as_number
from tasks.literature.snapshot.release import bounded_connection, quoted
from tasks.literature.snapshot.store import FOREVER, PaperStore
from tasks.text.phrases import specific_stems
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import content_words, words

LONGEST_WORDS = 4
_LONGEST_KEYWORD_CHARACTERS = 60
_BREAK = bounded(r"[.,;:!?()\[\]{}\"“”\n\r\t|•*_#<>=]|\s[-–—]\s|—")


def named_phrases(record: PaperRecord) -> dict[str, str]:
    """Return the phrases in title and keywords of a paper, by key."""
    phrases: dict[str, str] = {}
    for run in _runs(record.title):
        for phrase in _phrases(run):
            phrases.setdefault(key_of(phrase), " ".join(phrase))
    for keyword in record.keywords or ():
        # Some venues write "Machine Learning: Classification".
        last = keyword.rpartition(": ")[2][:_LONGEST_KEYWORD_CHARACTERS]
        parts = [word for word in words(last) if word not in STOP_WORDS]
        if len(parts) <= LONGEST_WORDS and any(map(specific_stems, parts)):
            phrases[key_of(parts)] = " ".join(parts)
    # A single word, such as "learning", is too general for a link.
    return {key: phrase for key, phrase in phrases.items() if " " in key}


def mentioned_keys(text: str, vocabulary: Collection[str]) -> list[str]:
    """Return the keys of the vocabulary that a text names, without duplicates, in order.

    Of overlapping phrases the first counts, and the longest that begins there.
    """
    keys_in_text: dict[str, None] = {}
    for run in _runs(text):
        place = 0
        while place < len(run):
            lengths = range(min(LONGEST_WORDS, len(run) - place), 0, -1)
            keys = ((length, key_of(run[place : place + length])) for length in lengths)
            length, key = next(((n, key) for n, key in keys if key in vocabulary), (1, ""))
            if key:
                keys_in_text[key] = None
            place += length
    return list(keys_in_text)


def key_of(phrase: Iterable[str]) -> str:
    return " ".join(stem for word in phrase for stem in content_words(word) or (word,))


def _runs(text: str) -> Iterator[list[str]]:
    """Stretches of words that no stop word, adverb or sign interrupts."""
    for part in _BREAK.split(text):
        run: list[str] = []
        for word in words(part):
            if word in STOP_WORDS or word.endswith("ly") or word.isdigit():
                if run:
                    yield run
                run = []
            else:
                run.append(word)
        if run:
            yield run


def _phrases(run: Sequence[str]) -> Iterator[Sequence[str]]:
    """Return phrases of two to four words whose first and last word can name a concept."""
    names = [bool(specific_stems(word)) for word in run]
    for length in range(2, LONGEST_WORDS + 1):
        for start in range(len(run) - length + 1):
            if names[start] and names[start + length - 1]:
                yield run[start : start + length]


_LAYOUT = 1
_BATCH_PAPERS = 5_000
_FEW_PAPERS = 5_000
"""Below this size two papers make a concept; in larger snapshots five do."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept. `paper_count`: papers that name it, up to the last day."""

    concept_id: int
    name: str
    paper_count: int


@dataclass(frozen=True, slots=True)
class Link:
    """Two concepts and their relation up to the last day.

    Attributes:
        shared_count: papers that name both; 0 for a missing link.
        first_day: first of these papers, YYYYMMDD.
        score: similarity of the papers of both concepts, 0 to 1.
    """

    first: Concept
    second: Concept
    shared_count: int
    first_day: int | None
    score: float


class ConceptNetwork:
    """The network at a cutoff, open for reading. Use `open_network`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, store: PaperStore) -> None:
        self._connection = connection
        self._store = store
        self._keys = dict(connection.execute("select key, concept_id from known").fetchall())

    def named_in(self, text: str) -> list[Concept]:
        keys = mentioned_keys(text, self._keys)
        concept_of_id = {
            concept.concept_id: concept for concept in self._concepts("keys", keys=keys)
        }
        return [concept_of_id[self._keys[key]] for key in keys]

    def neighbours(self, concept: Concept, limit: int = 20) -> list[Link]:
        """Return concepts that papers name with this one, the most specific first."""
        return self._links("neighbours", concept, limit)

    def missing_links(self, concept: Concept, limit: int = 20) -> list[Link]:
        """Return similar concepts that no paper names with this one, the likeliest link first."""
        return self._links("missing_links", concept, limit)

    def bridges(self, first: Concept, second: Concept, limit: int = 10) -> list[Concept]:
        """Return concepts that papers name with each of the two, the strongest first."""
        return self._concepts(
            "bridges", first=first.concept_id, second=second.concept_id, limit=limit
        )

    def papers_of(self, concepts: Sequence[Concept], limit: int = 5) -> list[PaperRecord]:
        ids = sorted({concept.concept_id for concept in concepts})
        rows = self.rows("papers_of", concept_ids=ids, limit=limit)
        return self._store.records([number for (number,) in rows])

    def rows(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(_sql(name), parameters).fetchall()

    def columns(self, name: str, **parameters: Any) -> dict[str, NDArray[Any]]:
        arrays = self._connection.execute(_sql(name), parameters).fetchnumpy()
        return {column: np.asarray(values) for column, values in arrays.items()}

    def pair_scores(self, pairs: Sequence[tuple[int, int]]) -> dict[str, NDArray[np.float64]]:
        columns = [list(range(len(pairs))), *map(list, zip(*pairs, strict=True))]
        table = pa.table(dict(zip(("place", "first", "second"), columns, strict=True)))
        self._connection.register("pairs", table)
        scores = self._connection.execute(_sql("pair_scores")).fetchnumpy()
        self._connection.unregister("pairs")
        return {name: np.asarray(scores[name], float) for name in scores if name != "place"}

    def _concepts(self, name: str, **parameters: Any) -> list[Concept]:
        return [Concept(*row) for row in self.rows(name, **parameters)]

    def _links(self, name: str, concept: Concept, limit: int) -> list[Link]:
        rows = self.rows(name, concept_id=concept.concept_id, limit=limit)
        return [Link(concept, Concept(*row[:3]), *row[3:]) for row in rows]


@contextmanager
def open_network(
    snapshot: Path, home: Path, cutoff: date | None = None, progress: Progress = ignore_progress
) -> Iterator[ConceptNetwork]:
    """Open the network of a snapshot at `cutoff`, built under `home` on first use.

    Papers that may have appeared after the cutoff are excluded. The network is one DuckDB file per
    snapshot version. A killed build leaves nothing; a second process waits for the first.

    Raises:
        SnapshotError: there is no complete snapshot, it is damaged, or the disk is full.
    """
    manifest = read_manifest(snapshot)
    folder = home / "concepts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{manifest.fingerprint[:16]}-{_LAYOUT}.duckdb"
    store = PaperStore(snapshot, name=manifest.store_name)
    try:
        if not path.exists():
            with FileLock(folder / f"{path.stem}.lock", fallback_to_soft=False):
                if not path.exists():
                    _build(store, path, progress)
        with TemporaryDirectory(dir=folder) as workplace:
            connection = bounded_connection(Path(workplace))
            try:
                connection.execute(f"attach {quoted(path)} as network (read_only)")
                connection.execute("use network")
                connection.execute(
                    f"set variable last_day = {(FOREVER if cutoff is None else as_number(cutoff)):d}"
                )
                connection.execute(_sql("at_cutoff"))
                yield ConceptNetwork(connection, store)
            finally:
                connection.close()
    except duckdb.Error as error:
        raise SnapshotError(f"{path}: the concept network: {first_line(error)}") from error
    finally:
        store.close()


def _build(store: PaperStore, path: Path, progress: Progress) -> None:
    """Build in two passes: names in titles, then the papers that name each of them."""
    paper_count = store.count()
    least_papers = 2 if paper_count < _FEW_PAPERS else 5
    with TemporaryDirectory(dir=path.parent) as workplace:
        build_path = Path(workplace) / path.name
        connection = bounded_connection(Path(workplace))
        try:
            connection.execute(f"attach {quoted(build_path)} as network")
            connection.execute("use network")
            connection.execute(f"set variable least_papers = {least_papers:d}")
            connection.execute(_sql("create"))
            for count, batch in _in_batches(store.records_from(0)):
                phrases = [
                    (number, key, phrase)
                    for number, record in batch
                    for key, phrase in named_phrases(record).items()
                ]
                _insert(connection, "named", _PHRASE_SCHEMA, phrases)
                progress(count, 2 * paper_count, "concepts")
            connection.execute(_sql("vocabulary"))
            concept_ids = dict(
                connection.execute("select key, concept_id from concepts").fetchall()
            )
            for count, batch in _in_batches(store.records_from(0)):
                rows = [
                    (number, concept_ids[key], record.last_day)
                    for number, record in batch
                    for key in mentioned_keys(_text_of(record), concept_ids)
                ]
                _insert(connection, "paper_concepts", _CONCEPT_SCHEMA, rows)
                progress(paper_count + count, 2 * paper_count, "concepts")
            connection.execute(_sql("settle"))
            connection.execute("use memory")
            connection.execute("detach network")
        finally:
            connection.close()
        build_path.replace(path)


_PHRASE_SCHEMA = pa.schema([("number", pa.int64()), ("key", pa.string()), ("phrase", pa.string())])
_CONCEPT_SCHEMA = pa.schema(
    [("number", pa.int64()), ("concept_id", pa.int32()), ("last_day", pa.int32())]
)
Numbered = tuple[int, PaperRecord]


def _text_of(record: PaperRecord) -> str:
    return ". ".join((record.title, record.abstract or "", *(record.keywords or ())))


def _insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    schema: pa.Schema,
    rows: list[tuple[Any, ...]],
) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in schema]
    arrays = [pa.array(each, field.type) for each, field in zip(columns, schema, strict=True)]
    connection.register("rows", pa.table(arrays, schema=schema))
    connection.table("rows").insert_into(table)
    connection.unregister("rows")


def _in_batches(records: Iterable[Numbered]) -> Iterator[tuple[int, list[Numbered]]]:
    """Yield batches with the number of papers so far."""
    remaining_records, count = iter(records), 0
    while batch := list(islice(remaining_records, _BATCH_PAPERS)):
        count += len(batch)
        yield count, batch


@cache
def _sql(name: str) -> str:
    path = resources.files(__package__).joinpath("sql", f"{name}.sql")
    return path.read_text("utf-8").strip()
