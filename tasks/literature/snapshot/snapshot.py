"""A finished snapshot, opened: search, look-ups, recommendations, references.

Answers are the same on every machine.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from tasks.literature.snapshot.contexts import CitationContexts
from tasks.literature.snapshot.folder import Manifest, read_manifest
from tasks.literature.snapshot.graph import CitationGraph
from tasks.literature.snapshot.records import PaperRecord, normal_title
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.text_index import (
    EVER,
    TITLE_BOOST,
    DayRange,
    Hit,
    KnownByYear,
    TextIndex,
    parse_bulk_query,
    query_terms,
    terms_of,
)
from tasks.literature.snapshot.vectors import Vectors, embedded_text

_KEY_TERMS = 25
_RERANKED_AT_LEAST = 100
_MATCH_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Edges:
    """Some of the papers that one cites, or that cite it, and of each how it does; how many there
    are in all.
    """

    papers: tuple[PaperRecord, ...]
    contexts: tuple[CitationContexts, ...]
    total: int


EVERY = slice(None)


@dataclass(frozen=True, slots=True)
class Found:
    """Papers best first with their scores, and how many match in all.

    Attributes:
        late: papers that only the last day keeps from being among the best.
    """

    papers: tuple[PaperRecord, ...]
    scores: tuple[float, ...]
    total: int
    late: tuple[PaperRecord, ...] = ()


class Snapshot:
    """Read-only; safe for many readers at once. Use `open_snapshot`."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        store: PaperStore,
        text: TextIndex,
        vectors: Vectors | None,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._store = store
        self._text = text
        self._vectors = vectors

    def __str__(self) -> str:
        known = self.manifest
        left_out = (
            f" ({known.duplicate_count:,} duplicates and {known.untitled_count:,} rows without"
            " title left out)"
        )
        shown = left_out if known.duplicate_count or known.untitled_count else ""
        told = f"snapshot {self.fingerprint[:12]}: {known.paper_count:,} papers{shown}"
        unreadable = [f"{name} in {count:,}" for name, count in sorted(known.unreadable.items())]
        return f"{told}; could not be read: {', '.join(unreadable)}" if unreadable else told

    @property
    def fingerprint(self) -> str:
        """Content hash, part of the evaluation key."""
        return self.manifest.fingerprint

    @property
    def paper_count(self) -> int:
        return self.manifest.paper_count

    @property
    def has_vectors(self) -> bool:
        """Whether embeddings are complete; only then do they take part in searches."""
        return self._vectors is not None

    def close(self) -> None:
        self._store.close()

    def search(
        self,
        query: str,
        limit: int,
        days: DayRange = EVER,
        vector: NDArray[np.float32] | None = None,
        late_among: int = 0,
    ) -> Found:
        """Papers that share words with the query, best first (BM25; with `vector` re-ranked by BM25
        and cosine alike).

        Any text is a valid query. `vector` is the query's unit embedding. `late` holds the papers
        after the last of `days` among the best `late_among` of the same search without it.
        """
        terms = query_terms(query)
        if not terms or limit < 1:
            return Found((), (), 0)
        records: dict[int, PaperRecord] = {}
        found = self._found(*self._hits(terms, limit, days, vector), limit, records)
        if late_among < 1 or days.last == EVER.last:
            return found
        # Reading records costs most of a search: those of the first one are not read again.
        hits, total = self._hits(terms, late_among, replace(days, last=EVER.last), vector)
        best = self._found(hits, total, late_among, records).papers
        return replace(found, late=tuple(each for each in best if each.last_day > days.last))

    def _hits(
        self,
        terms: Sequence[str],
        limit: int,
        days: DayRange,
        vector: NDArray[np.float32] | None,
    ) -> tuple[list[Hit], int]:
        query = self._text.any_of(terms)
        if vector is None or self._vectors is None:
            return self._text.search(query, limit, days)
        hits, total = self._text.search(query, max(limit, _RERANKED_AT_LEAST), days)
        return self._reranked(hits, vector, self._vectors), total

    def _reranked(
        self, hits: Sequence[Hit], vector: NDArray[np.float32], vectors: Vectors
    ) -> list[Hit]:
        if not hits:
            return []
        cosines = vectors.of([hit.number for hit in hits]) @ vector
        best = max(hit.score for hit in hits) or 1.0
        return [
            Hit(hit.number, round(hit.score / best / 2 + float(cosine) / 2, 4))
            for hit, cosine in zip(hits, cosines, strict=True)
        ]

    def search_bulk(self, query: str, limit: int, days: DayRange = EVER) -> Found:
        """Papers that fulfil a query of bulk search in title or abstract, best first."""
        return self._found(
            *self._text.search(parse_bulk_query(query, self._text), limit, days), limit
        )

    def known_by_year(self, last_day: int) -> KnownByYear:
        """What becomes of papers known by the year of `last_day`, YYYYMMDD, alone."""
        return self._text.known_by_year(last_day)

    def match_title(self, title: str, days: DayRange = EVER) -> Found:
        """The one paper with the closest title, or none."""
        terms = query_terms(title)
        if not terms:
            return Found((), (), 0)
        found = self._found(
            *self._text.search(self._text.any_of(terms), _MATCH_CANDIDATES, days), _MATCH_CANDIDATES
        )
        wanted = normal_title(title)
        exact = [
            place for place, paper in enumerate(found.papers) if normal_title(paper.title) == wanted
        ]
        chosen = slice(exact[0], exact[0] + 1) if exact else slice(1)
        return Found(found.papers[chosen], found.scores[chosen], min(found.total, 1))

    def papers(self, identifiers: Iterable[str]) -> list[PaperRecord | None]:
        """Papers by any identifier the API takes, in the order asked; None where there is none."""
        numbers = self._store.numbers_of(identifiers)
        known = {number: None for number in numbers if number is not None}
        records = dict(zip(known, self._store.records(list(known)), strict=True))
        return [records[number] if number is not None else None for number in numbers]

    def recommend(self, seeds: Sequence[str], limit: int, days: DayRange = EVER) -> Found | None:
        """Papers like the seeds, the seeds left out; None when no seed is in the snapshot.

        With embeddings the nearest neighbours of the seeds' mean; without, BM25 over the seeds'
        titles and key terms.
        """
        numbers = list(
            dict.fromkeys(number for number in self._store.numbers_of(seeds) if number is not None)
        )
        if not numbers:
            return None
        asked = limit + len(numbers)
        hits = (
            self._nearest(numbers, asked, days)
            if self._vectors is not None
            else self._alike(numbers, asked, days)
        )
        return self._found([hit for hit in hits if hit.number not in numbers], len(hits), limit)

    def _alike(self, numbers: Sequence[int], limit: int, days: DayRange) -> list[Hit]:
        return self._text.search(
            self._text.any_of(self._key_terms(self._store.records(numbers))), limit, days
        )[0]

    def _key_terms(self, papers: Sequence[PaperRecord]) -> list[str]:
        """The terms that tell these papers from the others: frequent here (titles count double),
        rare elsewhere.
        """
        counts: Counter[str] = Counter()
        for paper in papers:
            counts.update(
                {
                    term: TITLE_BOOST * count
                    for term, count in Counter(terms_of(paper.title)).items()
                }
            )
            counts.update(Counter(terms_of(paper.abstract or "")))
        weights = {
            term: (1 + math.log(count)) * self._rarity(term) for term, count in counts.items()
        }
        return sorted(weights, key=lambda term: (-round(weights[term], 6), term))[:_KEY_TERMS]

    def _rarity(self, term: str) -> float:
        return math.log(1 + self._text.count() / (1 + self._text.document_frequency(term)))

    def _nearest(self, numbers: Sequence[int], limit: int, days: DayRange) -> list[Hit]:
        assert self._vectors is not None
        mean = self._vectors.of(numbers).mean(axis=0)
        similarities = self._vectors.similarities(mean / (np.linalg.norm(mean) or 1.0))
        wanted = min(len(similarities), limit)
        while True:
            places = np.argsort(-similarities, kind="stable")[:wanted]
            records = self._store.records([int(place) for place in places])
            hits = [
                Hit(int(place), round(float(similarities[place]), 4))
                for place, record in zip(places, records, strict=True)
                if days.first <= record.last_day <= days.last
            ]
            if len(hits) >= limit or wanted == len(similarities):
                return hits
            wanted = min(len(similarities), wanted * 4)

    def vector_of(self, paper_id: str, text: str) -> NDArray[np.float32] | None:
        """The vector of a paper, provided that it was made of this text."""
        paper, number = self._one(paper_id)
        if paper is None or self._vectors is None or embedded_text(paper) != text:
            return None
        row: NDArray[np.float32] = self._vectors.of([number])[0]
        return row

    def references(self, identifier: str, window: slice = EVERY) -> Edges | None:
        """Papers of the snapshot that this one cites, in the order of its reference list; None when
        the snapshot does not know its references.
        """
        paper, number = self._one(identifier)
        if paper is None or paper.reference_count is None:
            return None
        cited = self._store.cited_by(number)
        return Edges(
            tuple(self._store.records(cited[window])),
            tuple(self._store.contexts([(number, each) for each in cited[window]])),
            len(cited),
        )

    def citations(
        self, identifier: str, window: slice = EVERY, days: DayRange = EVER
    ) -> Edges | None:
        """Papers of the snapshot that cite this one; None when the snapshot knows no references at
        all.

        With `days` those alone that can have appeared on one of them: a paper that is known by its
        year, or not at all, is left to the reader.
        """
        paper, number = self._one(identifier)
        if paper is None or not self.manifest.has_references:
            return None
        citing = self._store.citing(number, days.first, days.last)
        return Edges(
            tuple(self._store.records(citing[window])),
            tuple(self._store.contexts([(each, number) for each in citing[window]])),
            len(citing),
        )

    def graph(self, workplace: Path) -> CitationGraph:
        """The citations between its papers, by `numbers`; kept in `workplace` for this fingerprint.

        Raises SnapshotError where it cannot be kept there.
        """
        return CitationGraph.of(self._store.edges(), workplace, name=self.fingerprint[:24])

    def numbers(self, identifiers: Iterable[str]) -> list[int | None]:
        """Papers as the graph names them; None where there is none."""
        return self._store.numbers_of(identifiers)

    def by_number(self, numbers: Sequence[int]) -> list[PaperRecord]:
        """The other way round. Raises SnapshotError for a number that is no paper's."""
        return self._store.records(numbers)

    def _one(self, identifier: str) -> tuple[PaperRecord | None, int]:
        (number,) = self._store.numbers_of([identifier])
        return (self._store.records([number])[0], number) if number is not None else (None, -1)

    def _found(
        self,
        hits: Sequence[Hit],
        total: int,
        limit: int,
        records: dict[int, PaperRecord] | None = None,
    ) -> Found:
        """Papers of equal score stand by identifier: the order of rows in the file never shows.

        Args:
            records: read before, by number; those read here are added.
        """
        records = {} if records is None else records
        scores = sorted((hit.score for hit in hits), reverse=True)
        border = scores[limit - 1] if 0 < limit < len(scores) else -math.inf
        near = [hit for hit in hits if hit.score >= border]
        unread = [hit.number for hit in near if hit.number not in records]
        records.update(zip(unread, self._store.records(unread), strict=True))
        ranked = sorted(
            ((hit, records[hit.number]) for hit in near),
            key=lambda each: (-each[0].score, each[1].paper_id),
        )[:limit]
        return Found(
            tuple(record for _, record in ranked), tuple(hit.score for hit, _ in ranked), total
        )


def open_snapshot(folder: Path) -> Snapshot:
    """Open a finished snapshot.

    Raises:
        SnapshotError: it is missing, empty, half-built or damaged; one line that says how to mend
            it.
    """
    manifest = read_manifest(folder)
    try:
        return _opened(folder, manifest)
    except SnapshotError:
        newer = read_manifest(folder)
        if newer.generation == manifest.generation:
            raise
        return _opened(
            folder, newer
        )  # an update took the files of the older generation away meanwhile


def _opened(folder: Path, manifest: Manifest) -> Snapshot:
    path = folder / manifest.store_name
    if not path.is_file():
        raise SnapshotError(f"{folder} lacks {manifest.store_name}; build the snapshot again")
    text = TextIndex(folder / manifest.text_name)
    dimensions = manifest.embedding_dimensions
    vectors = (
        Vectors(folder / manifest.vectors_name, manifest.paper_count, dimensions)
        if dimensions
        else None
    )
    try:
        store = PaperStore(folder, name=manifest.store_name)
        counted = store.count()
    except sqlite3.DatabaseError as error:
        raise SnapshotError(f"{path} is damaged ({error}); build the snapshot again") from error
    if counted != manifest.paper_count or text.count() != counted:
        seen = f"{manifest.paper_count} papers promised, {counted} kept, {text.count()} indexed"
        raise SnapshotError(f"{folder} is damaged: {seen}; build the snapshot again")
    return Snapshot(folder, manifest, store, text, vectors)
