"""Sentence embeddings of a snapshot: one row of 16-bit floats per paper number."""

import asyncio
import json
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from tasks.embeddings import Embedder
from tasks.literature.snapshot.records import PaperRecord
from tasks.literature.snapshot.text_index import PapersFrom

_TEXTS_PER_BATCH = 256
# 25 MB of 32-bit floats at 384 dimensions.
_ROWS_PER_BLOCK = 16_384

KnownVector = Callable[[PaperRecord], "NDArray[np.float32] | None"]
"""Returns the vector of a paper that is already embedded, else None."""


def write_vectors(
    path: Path,
    papers_from: PapersFrom,
    embedder: Embedder,
    on_batch: Callable[[int], None],
    known_vector: KnownVector | None = None,
) -> int:
    """Embed the papers into the file `path`, resuming after the last complete row.

    Returns the dimensions of a vector.

    Raises:
        SnapshotError: the embedder returns vectors of other dimensions than before the
            interruption.
    """

    async def write() -> int:
        dimensions, written_count = _resumable(path)
        papers = papers_from(written_count)
        with path.open("ab") as stream:
            while batch := [record for _, record in islice(papers, _TEXTS_PER_BATCH)]:
                vectors = [
                    known_vector(record) if known_vector is not None else None for record in batch
                ]
                pairs = zip(batch, vectors, strict=True)
                missing = [embedded_text(record) for record, row in pairs if row is None]
                new_rows = iter(await embedder.embed(missing) if missing else ())
                rows = np.vstack([next(new_rows) if row is None else row for row in vectors])
                if dimensions is None:
                    dimensions = int(rows.shape[1])
                    path.with_suffix(".json").write_text(json.dumps({"dimensions": dimensions}))
                if rows.shape[1] != dimensions:
                    problem = f"{rows.shape[1]} dimensions instead of {dimensions}"
                    raise SnapshotError(
                        f"{path}: the embedder gives {problem}; delete this file and build again"
                    )
                stream.write(rows.astype(np.float16).tobytes())
                stream.flush()
                written_count += len(batch)
                on_batch(written_count)
        return dimensions or 0

    return asyncio.run(write())


def embedded_text(record: PaperRecord) -> str:
    return f"{record.title}. {record.abstract or ''}".strip()


def _resumable(path: Path) -> tuple[int | None, int]:
    """Return the dimensions and complete rows of `path`, after removing a partial row."""
    try:
        dimensions = int(json.loads(path.with_suffix(".json").read_text())["dimensions"])
        if dimensions < 1:
            raise ValueError("no vector has so many dimensions")
    except (OSError, ValueError, KeyError, TypeError):
        path.unlink(missing_ok=True)
        return None, 0
    rows = path.stat().st_size // (2 * dimensions) if path.exists() else 0
    if path.exists():
        with path.open("r+b") as stream:
            stream.truncate(rows * 2 * dimensions)
    return dimensions, rows


class Vectors:
    """A memory-mapped matrix of vectors."""

    def __init__(self, path: Path, count: int, dimensions: int) -> None:
        """Open the file.

        Raises SnapshotError if its size does not match the manifest.
        """
        if not path.exists() or path.stat().st_size != count * dimensions * 2:
            raise SnapshotError(
                f"{path} is missing or cut off; build the snapshot again with --embeddings"
            )
        self._matrix = np.memmap(path, dtype=np.float16, mode="r", shape=(count, dimensions))

    def of(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Return rows by number, shape (len(numbers), dimensions)."""
        return self._matrix[list(numbers)].astype(np.float32)

    def similarities(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine with every paper, shape (count,)."""
        # Blockwise, to bound the memory.
        result = np.empty(len(self._matrix), dtype=np.float32)
        for start in range(0, len(self._matrix), _ROWS_PER_BLOCK):
            block = self._matrix[start : start + _ROWS_PER_BLOCK].astype(np.float32)
            result[start : start + len(block)] = block @ vector
        return result
