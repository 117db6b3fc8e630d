"""Ideas that say the same, or nearly the same, as an earlier one."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.idea import Idea
from tasks.ideas.words import WORD

DUPLICATE_SIMILARITY = 0.8
"""Jaccard similarity of the sets of five-word sequences from which an idea counts as a duplicate."""

SHINGLE_WORDS = 5
_BANDS, _ROWS_PER_BAND = 21, 6  # finds 99.8 % of pairs at 0.8, proposes 1.5 % of pairs at 0.3
_SEED = 20_240_924

_SHINGLES_AT_ONCE = 4096

Shingles = NDArray[np.uint64]
Band = tuple[int, bytes]


def mark_duplicates(ideas: Sequence[Idea]) -> tuple[Idea, ...]:
    """Mark each idea that repeats an earlier one: `duplicate_of` and `duplicate_similarity_0_to_1`.

    Nothing is removed: whoever evaluates the same idea under four names wants four evaluations. The idea named is
    never itself a duplicate. MinHash proposes, exact similarity decides; time grows linearly with the text.
    """
    index = _Index()
    marked: list[Idea] = []
    for position, idea in enumerate(ideas):
        shingles = index.shingles(idea.text)
        bands = index.bands(shingles)
        match = index.best_match(shingles, bands)
        if match is None:
            index.add(position, shingles, bands)
            marked.append(idea)
        else:
            earlier, similarity = match
            marked.append(
                replace(
                    idea,
                    duplicate_of=ideas[earlier].idea_id,
                    duplicate_similarity_0_to_1=similarity,
                )
            )
    return tuple(marked)


class _Index:
    def __init__(self) -> None:
        random = np.random.default_rng(_SEED)
        count = _BANDS * _ROWS_PER_BAND
        self._multipliers = random.integers(1, 2**63, count, dtype=np.uint64) | np.uint64(1)
        self._offsets = random.integers(0, 2**63, count, dtype=np.uint64)
        self._powers = random.integers(1, 2**63, SHINGLE_WORDS, dtype=np.uint64) | np.uint64(1)
        self._shingles: dict[int, Shingles] = {}
        self._positions: dict[Band, list[int]] = {}
        self._word_hashes: dict[str, int] = {}

    def shingles(self, text: str) -> Shingles:
        """Sorted unique hashes of the word sequences; case and punctuation do not count."""
        hashes = self._word_hashes
        words = WORD.findall(text.casefold())
        for word in set(words).difference(hashes):
            hashes[word] = zlib.crc32(word.encode("utf-8", "surrogatepass")) + 1
        numbers = np.array([hashes[word] for word in words], dtype=np.uint64)
        length = min(SHINGLE_WORDS, len(numbers))
        combined = np.zeros(max(len(numbers) - length + 1, 0), dtype=np.uint64)
        for step in range(length):
            combined = _mixed(combined + numbers[step : step + len(combined)] * self._powers[step])
        return np.unique(combined)

    def bands(self, shingles: Shingles) -> tuple[Band, ...]:
        """Keys that similar texts share: each stands for the smallest values of a few random orders."""
        if not len(shingles):
            return ()
        smallest = np.full(len(self._offsets), np.iinfo(np.uint64).max, dtype=np.uint64)
        for start in range(0, len(shingles), _SHINGLES_AT_ONCE):
            piece = shingles[start : start + _SHINGLES_AT_ONCE]
            np.minimum(
                smallest,
                _mixed(piece * self._multipliers[:, None] + self._offsets[:, None]).min(axis=1),
                out=smallest,
            )
        return tuple(
            (band, rows.tobytes())
            for band, rows in enumerate(smallest.reshape(_BANDS, _ROWS_PER_BAND))
        )

    def best_match(self, shingles: Shingles, bands: tuple[Band, ...]) -> tuple[int, float] | None:
        """The most similar earlier idea at or above the threshold, the earliest of equals."""
        candidates = sorted(
            {position for band in bands for position in self._positions.get(band, ())}
        )
        scored = [
            (_jaccard(self._shingles[position], shingles), -position) for position in candidates
        ]
        similarity, position = max(scored, default=(0.0, 0))
        return (-position, similarity) if similarity >= DUPLICATE_SIMILARITY else None

    def add(self, position: int, shingles: Shingles, bands: tuple[Band, ...]) -> None:
        self._shingles[position] = shingles
        for band in bands:
            self._positions.setdefault(band, []).append(position)


def _mixed(values: Shingles) -> Shingles:
    mixed = (values ^ (values >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def _jaccard(one: Shingles, other: Shingles) -> float:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared) if len(one) or len(other) else 0.0
