"""Ideas whose text repeats, or nearly repeats, an earlier one.

datasketch is not used: its index returns every idea that shares a key, which takes quadratic time
for a batch of ideas from one template.
"""

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.idea import Idea
from schemas.text.words import WORD

DUPLICATE_SIMILARITY = 0.8
"""Jaccard similarity of five-word sequences from which an idea is a duplicate."""

SHINGLE_WORDS = 5
_BANDS, _ROWS_PER_BAND = 21, 6  # finds 99.8 % of pairs at 0.8, proposes 1.5 % of pairs at 0.3
_SEED = 20_240_924

_SHINGLES_AT_ONCE = 4096

_MOST_CANDIDATES = 500
"""Signatures compared per idea. Only ideas from a template have more candidates; those that
share the rarest keys are the likeliest and come first."""
_MOST_COMPARED = 8
"""Candidates compared exactly: those whose signatures agree most."""
_LEAST_AGREEMENT = 0.65
"""Least agreement of signatures; at a similarity of 0.8 that is four standard errors below."""

Shingles = NDArray[np.uint64]


def mark_duplicates(ideas: Sequence[Idea]) -> tuple[Idea, ...]:
    """Mark each idea that repeats an earlier one: `duplicate_of` and `duplicate_similarity_0_to_1`.

    Nothing is removed: users may want the same idea evaluated under several names. The earlier idea
    is never itself a duplicate. MinHash proposes candidates, exact similarity decides, in time linear
    in the text. Exact repetitions are always detected; near repetitions may be missed among
    hundreds of ideas from one template.
    """
    index = _Index([idea.text for idea in ideas])
    results: list[Idea] = []
    for position, idea in enumerate(ideas):
        match = index.best_match(position)
        if match is None:
            index.add(position)
            results.append(idea)
            continue
        earlier = {"duplicate_of": ideas[match[0]].idea_id, "duplicate_similarity_0_to_1": match[1]}
        results.append(replace(idea, **earlier))
    return tuple(results)


class _Index:
    """Index of word sequences of all texts, and the positions added so far."""

    def __init__(self, texts: Sequence[str]) -> None:
        random = np.random.default_rng(_SEED)
        count = _BANDS * _ROWS_PER_BAND
        multipliers = random.integers(1, 2**63, count, dtype=np.uint64) | np.uint64(1)
        offsets = random.integers(0, 2**63, count, dtype=np.uint64)
        powers = random.integers(1, 2**63, SHINGLE_WORDS, dtype=np.uint64) | np.uint64(1)
        hashes: dict[str, int] = {}
        self._shingles = [_shingles(text, hashes, powers) for text in texts]
        self._signatures = np.empty((len(texts), count), np.uint16)
        keys = np.zeros((_BANDS, len(texts)), np.uint64)
        for position, shingles in enumerate(self._shingles):
            # The smallest values of random orders, of which similar texts share many.
            smallest = np.full(count, np.iinfo(np.uint64).max, dtype=np.uint64)
            for start in range(0, len(shingles), _SHINGLES_AT_ONCE):
                piece = shingles[start : start + _SHINGLES_AT_ONCE]
                orders = _mix(piece * multipliers[:, None] + offsets[:, None])
                np.minimum(smallest, orders.min(axis=1), out=smallest)
            self._signatures[position] = smallest >> np.uint64(48)
            for column in smallest.reshape(_BANDS, _ROWS_PER_BAND).T:
                keys[:, position] = _mix(keys[:, position] + column)
        # The keys of each band as bucket numbers; -1 for a key of a single text.
        self._buckets = np.empty(keys.shape, np.int32)
        first = 0
        for band, row in enumerate(keys):
            _, numbers, counts = np.unique(row, return_inverse=True, return_counts=True)
            self._buckets[band] = np.where(counts[numbers] > 1, numbers + first, -1)
            first += len(counts)
        self._members: dict[int, list[int]] = {}
        self._exact: dict[int, int] = {}

    def best_match(self, position: int) -> tuple[int, float] | None:
        """Return the most similar earlier idea above the limit.

        Of equally similar ideas it is the earliest.
        """
        shingles = self._shingles[position]
        if not len(shingles):
            return None
        equal_position = self._exact.get(_sum(shingles))
        if equal_position is not None and np.array_equal(self._shingles[equal_position], shingles):
            return equal_position, 1.0
        buckets = [self._members.get(bucket, []) for bucket in self._buckets_of(position)]
        similar: set[int] = set()
        for members in sorted(buckets, key=len):
            similar.update(members[: _MOST_CANDIDATES - len(similar)])
        candidates = sorted(similar)
        if not candidates:
            return None
        agreement = (self._signatures[candidates] == self._signatures[position]).mean(axis=1)
        likeliest = np.argsort(-agreement, kind="stable")[:_MOST_COMPARED]
        similarities = [
            (_jaccard(self._shingles[candidates[place]], shingles), -candidates[place])
            for place in likeliest
            if agreement[place] >= _LEAST_AGREEMENT
        ]
        similarity, negated_position = max(similarities, default=(0.0, 0))
        return (-negated_position, similarity) if similarity >= DUPLICATE_SIMILARITY else None

    def add(self, position: int) -> None:
        self._exact.setdefault(_sum(self._shingles[position]), position)
        for bucket in self._buckets_of(position):
            self._members.setdefault(bucket, []).append(position)

    def _buckets_of(self, position: int) -> Iterator[int]:
        return (bucket for bucket in self._buckets[:, position].tolist() if bucket >= 0)


def _shingles(text: str, hashes: dict[str, int], powers: Shingles) -> Shingles:
    """Return sorted unique hashes of word sequences, ignoring case and punctuation."""
    words = WORD.findall(text.casefold())
    for word in set(words).difference(hashes):
        hashes[word] = zlib.crc32(word.encode("utf-8", "surrogatepass")) + 1
    numbers = np.array([hashes[word] for word in words], dtype=np.uint64)
    length = min(SHINGLE_WORDS, len(numbers))
    sequence_hashes = np.zeros(max(len(numbers) - length + 1, 0), dtype=np.uint64)
    for step in range(length):
        sequence_hashes = _mix(
            sequence_hashes + numbers[step : step + len(sequence_hashes)] * powers[step]
        )
    return np.unique(sequence_hashes)


def _sum(shingles: Shingles) -> int:
    return int(_mix(shingles).sum())


def _mix(values: Shingles) -> Shingles:
    product = (values ^ (values >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return product ^ (product >> np.uint64(29))


def _jaccard(one: Shingles, other: Shingles) -> float:
    shared_count = len(np.intersect1d(one, other, assume_unique=True))
    return shared_count / (len(one) + len(other) - shared_count) if len(one) or len(other) else 0.0
