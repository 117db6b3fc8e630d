"""Queries on a finished snapshot: search, look-ups, recommendations, references.

Results are the same on every machine.
"""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from tasks.literature.snapshot.contexts import CitationContexts
from tasks.literature.snapshot.folder import Manifest, read_manifest
from tasks.literature.snapshot.records import PaperRecord, normal_title
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.text_index import (
    EVER,
    TITLE_BOOST,
    DayRange,
    Hit,
    TextIndex,
    YearOnlyCounts,
    parse_bulk_query,
    query_terms,
    terms_of,
)
from tasks.literature.snapshot.vectors import Vectors, embedded_text

_KEY_TERMS = 25
_RERANKED_AT_LEAST = 100
_MATCH_CANDIDATES = 20
EVERY = slice(None)


@dataclass(frozen=True, slots=True)
class Edges:
    """A window of references or citations with their contexts.

    `total` counts all of them.
    """

    papers: tuple[PaperRecord, ...]
    contexts: tuple[CitationContexts, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Found:
    """Papers, best first, with their scores and the number of matches.

    Attributes:
        late: papers excluded only because they are after the last day.
    """

    papers: tuple[PaperRecord, ...] = ()
    scores: tuple[float, ...] = ()
    total: int = 0
    late: tuple[PaperRecord, ...] = ()


class Snapshot:
    """A read-only snapshot, safe for concurrent readers. Use `open_snapshot`."""

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
        manifest = self.manifest
        text = f"snapshot {self.fingerprint[:12]}: {manifest.paper_count:,} papers"
        if manifest.duplicate_count or manifest.untitled_count:
            text += (
                f" ({manifest.duplicate_count:,} duplicates and {manifest.untitled_count:,} rows without"
                " title left out)"
            )
        unreadable = [f"{name} in {count:,}" for name, count in sorted(manifest.unreadable.items())]
        return f"{text}; could not be read: {', '.join(unreadable)}" if unreadable else text

    @property
    def fingerprint(self) -> str:
        """Content hash, part of evaluation keys."""
        return self.manifest.fingerprint

    @property
    def paper_count(self) -> int:
        return self.manifest.paper_count

    @property
    def has_vectors(self) -> bool:
        """Whether embeddings are complete; only then do searches use them."""
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
        """Return papers that share words with the query, best first.

        Papers are ranked by BM25, or with `vector`, the query's unit embedding, by the mean of BM25
        and cosine. `late` holds the papers after `days.last` among the best `late_among` of the
        search without that limit.
        """
        terms = query_terms(query)
        if not terms or limit < 1:
            return Found()
        records: dict[int, PaperRecord] = {}
        results = self._rank(*self._hits(terms, limit, days, vector), limit, records)
        if late_among < 1 or days.last == EVER.last:
            return results
        # Reading records takes most of the time, so those of the first search are reused.
        hits, total = self._hits(terms, late_among, replace(days, last=EVER.last), vector)
        best = self._rank(hits, total, late_among, records).papers
        return replace(results, late=tuple(each for each in best if each.last_day > days.last))

    def _hits(
        self,
        terms: Sequence[str],
        limit: int,
        days: DayRange,
        vector: NDArray[np.float32] | None = None,
    ) -> tuple[list[Hit], int]:
        query = self._text.any_of(terms)
        if vector is None or self._vectors is None:
            return self._text.search(query, limit, days)
        hits, total = self._text.search(query, max(limit, _RERANKED_AT_LEAST), days)
        if not hits:
            return [], total
        cosines = self._vectors.of([hit.number for hit in hits]) @ vector
        best = max(hit.score for hit in hits) or 1.0
        return [
            Hit(hit.number, round(hit.score / best / 2 + float(cosine) / 2, 4))
            for hit, cosine in zip(hits, cosines, strict=True)
        ], total

    def search_bulk(self, query: str, limit: int, days: DayRange = EVER) -> Found:
        """Return papers whose title or abstract matches a bulk query, best first."""
        parsed_query = parse_bulk_query(query, self._text)
        return self._rank(*self._text.search(parsed_query, limit, days), limit)

    def year_only_counts(self, last_day: int) -> YearOnlyCounts:
        """Count the papers dated by the year of `last_day` (YYYYMMDD) alone."""
        return self._text.year_only_counts(last_day)

    def match_title(self, title: str, days: DayRange = EVER) -> Found:
        """Return the paper with the closest title, if any."""
        terms = query_terms(title)
        if not terms:
            return Found()
        results = self._rank(*self._hits(terms, _MATCH_CANDIDATES, days), _MATCH_CANDIDATES)
        wanted_title = normal_title(title)
        titles = [normal_title(paper.title) for paper in results.papers]
        place = titles.index(wanted_title) if wanted_title in titles else 0
        best = slice(place, place + 1)
        return Found(results.papers[best], results.scores[best], min(results.total, 1))

    def papers(self, identifiers: Iterable[str]) -> list[PaperRecord | None]:
        """Return papers by any API identifier, in order; None for unknown ones."""
        numbers = self._store.numbers_of(identifiers)
        present = list(dict.fromkeys(number for number in numbers if number is not None))
        records = dict(zip(present, self._store.records(present), strict=True))
        return [records[number] if number is not None else None for number in numbers]

    def recommend(self, seeds: Sequence[str], limit: int, days: DayRange = EVER) -> Found | None:
        """Return papers similar to the seeds, without the seeds.

        Returns None if no seed is known.

        With embeddings they are the nearest neighbors of the seeds' mean, else the best by BM25
        over the seeds' key terms.
        """
        seed_numbers = self._store.numbers_of(seeds)
        numbers = list(dict.fromkeys(number for number in seed_numbers if number is not None))
        if not numbers:
            return None
        hit_limit = limit + len(numbers)
        if self._vectors is not None:
            hits = self._nearest(self._vectors, numbers, hit_limit, days)
        else:
            hits, _ = self._hits(self._key_terms(self._store.records(numbers)), hit_limit, days)
        return self._rank([hit for hit in hits if hit.number not in numbers], len(hits), limit)

    def _key_terms(self, papers: Sequence[PaperRecord]) -> list[str]:
        """Return terms that are frequent in these papers and rare in others.

        Titles count double.
        """
        counts = defaultdict[str, float](float)
        for paper in papers:
            for term in terms_of(paper.title):
                counts[term] += TITLE_BOOST
            for term in terms_of(paper.abstract or ""):
                counts[term] += 1
        every, weights = self._text.count(), {}
        for term, count in counts.items():
            rarity = math.log(1 + every / (1 + self._text.document_frequency(term)))
            weights[term] = (1 + math.log(count)) * rarity
        return sorted(weights, key=lambda term: (-round(weights[term], 6), term))[:_KEY_TERMS]

    def _nearest(
        self, vectors: Vectors, numbers: Sequence[int], limit: int, days: DayRange
    ) -> list[Hit]:
        mean = vectors.of(numbers).mean(axis=0)
        similarities = vectors.similarities(mean / (np.linalg.norm(mean) or 1.0))
        candidate_count = min(len(similarities), limit)
        while True:
            places = np.argsort(-similarities, kind="stable")[:candidate_count]
            records = self._store.records([int(place) for place in places])
            hits = [
                Hit(int(place), round(float(similarities[place]), 4))
                for place, record in zip(places, records, strict=True)
                if days.first <= record.last_day <= days.last
            ]
            if len(hits) >= limit or candidate_count == len(similarities):
                return hits
            candidate_count = min(len(similarities), candidate_count * 4)

    def vector_of(self, record: PaperRecord) -> NDArray[np.float32] | None:
        """Return the vector of a paper if its embedded text is unchanged, else None."""
        paper, number = self._one(record.paper_id)
        is_unchanged = paper is not None and embedded_text(paper) == embedded_text(record)
        if not is_unchanged or self._vectors is None:
            return None
        row: NDArray[np.float32] = self._vectors.of([number])[0]
        return row

    def references(self, identifier: str, window: slice = EVERY) -> Edges | None:
        """Return the papers that this one cites, in list order.

        Returns None if unknown.
        """
        paper, number = self._one(identifier)
        if paper is None or paper.reference_count is None:
            return None
        cited_numbers = self._store.cited_by(number)
        pairs = [(number, each) for each in cited_numbers[window]]
        return self._edges(cited_numbers[window], pairs, len(cited_numbers))

    def citations(
        self, identifier: str, window: slice = EVERY, days: DayRange = EVER
    ) -> Edges | None:
        """Return the papers that cite this one.

        Returns None if the snapshot has no references.

        With `days`, only papers that may have appeared on one of them: a paper dated by year alone
        may lie outside.
        """
        paper, number = self._one(identifier)
        if paper is None or not self.manifest.has_references:
            return None
        citing = self._store.citing(number, days.first, days.last)
        pairs = [(each, number) for each in citing[window]]
        return self._edges(citing[window], pairs, len(citing))

    def _edges(self, papers: list[int], edges: list[tuple[int, int]], total: int) -> Edges:
        records, contexts = self._store.records(papers), self._store.contexts(edges)
        return Edges(tuple(records), tuple(contexts), total)

    def _one(self, identifier: str) -> tuple[PaperRecord | None, int]:
        (number,) = self._store.numbers_of([identifier])
        return (self._store.records([number])[0], number) if number is not None else (None, -1)

    def _rank(
        self,
        hits: Sequence[Hit],
        total: int,
        limit: int,
        records: dict[int, PaperRecord] | None = None,
    ) -> Found:
        """Return the best hits; equal scores are ordered by identifier.

        Args:
            records: records already read, by number; those read here are added.
        """
        records = {} if records is None else records
        scores = sorted((hit.score for hit in hits), reverse=True)
        border = scores[limit - 1] if 0 < limit < len(scores) else -math.inf
        top_hits = [hit for hit in hits if hit.score >= border]
        unread = [hit.number for hit in top_hits if hit.number not in records]
        records.update(zip(unread, self._store.records(unread), strict=True))
        top_hits.sort(key=lambda hit: (-hit.score, records[hit.number].paper_id))
        papers = tuple(records[hit.number] for hit in top_hits[:limit])
        return Found(papers, tuple(hit.score for hit in top_hits[:limit]), total)


def open_snapshot(folder: Path) -> Snapshot:
    """Open a finished snapshot.

    Raises:
        SnapshotError: it is missing, empty, half-built or damaged; one line with its repair.
    """
    manifest = read_manifest(folder)
    try:
        return _open(folder, manifest)
    except SnapshotError:
        newer = read_manifest(folder)
        if newer.generation == manifest.generation:
            raise
        # An update removed the files of the older generation meanwhile.
        return _open(folder, newer)


def _open(folder: Path, manifest: Manifest) -> Snapshot:
    path = folder / manifest.store_name
    if not path.is_file():
        raise SnapshotError(f"{folder} lacks {manifest.store_name}; build the snapshot again")
    text = TextIndex(folder / manifest.text_name)
    count, dimensions = manifest.paper_count, manifest.embedding_dimensions
    vectors = Vectors(folder / manifest.vectors_name, count, dimensions) if dimensions else None
    try:
        store = PaperStore(folder, name=manifest.store_name)
        stored_count = store.count()
    except sqlite3.DatabaseError as error:
        raise SnapshotError(f"{path} is damaged ({error}); build the snapshot again") from error
    if stored_count != count or text.count() != stored_count:
        counts = f"{count} papers promised, {stored_count} kept, {text.count()} indexed"
        raise SnapshotError(f"{folder} is damaged: {counts}; build the snapshot again")
    return Snapshot(folder, manifest, store, text, vectors)
