"""Sentence embeddings of a snapshot's papers: one row of 16-bit floats per paper, in the order of their numbers."""

import asyncio
import json
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from tasks.embeddings.embedder import Embedder
from tasks.literature.snapshot.text_index import PapersFrom

FILE_NAME = "embeddings.f16"
_SHAPE_NAME = "embeddings.json"
_TEXTS_PER_BATCH = 256
_ROWS_PER_BLOCK = 16_384


def write_vectors(folder: Path, papers_from: PapersFrom, embedder: Embedder, on_batch: Callable[[int], None]) -> int:
    """Embed the papers, going on after the last whole row of an interrupted build. Returns the dimensions of a vector.

    Raises:
        SnapshotError: the embedder now gives vectors of other dimensions than before the interruption.
    """
    return asyncio.run(_write_vectors(folder, papers_from, embedder, on_batch))


async def _write_vectors(folder: Path, papers_from: PapersFrom, embedder: Embedder, on_batch: Callable[[int], None]) -> int:
    dimensions, done = _resumable(folder)
    papers = papers_from(done)
    with (folder / FILE_NAME).open("ab") as stream:
        while batch := list(islice(papers, _TEXTS_PER_BATCH)):
            rows = await embedder.embed([f"{record.title}. {record.abstract or ''}".strip() for _, record in batch])
            if dimensions is None:
                dimensions = int(rows.shape[1])
                (folder / _SHAPE_NAME).write_text(json.dumps({"dimensions": dimensions}))
            if rows.shape[1] != dimensions:
                had = f"{rows.shape[1]} dimensions instead of {dimensions}"
                raise SnapshotError(f"{folder / FILE_NAME}: the embedder gives {had}; delete this file and build again")
            stream.write(rows.astype(np.float16).tobytes())
            stream.flush()
            done += len(batch)
            on_batch(done)
    return dimensions or 0


def _resumable(folder: Path) -> tuple[int | None, int]:
    """Dimensions and whole rows already written; a torn last row is cut off."""
    path, shape = folder / FILE_NAME, folder / _SHAPE_NAME
    try:
        dimensions = int(json.loads(shape.read_text())["dimensions"])
    except (OSError, ValueError, KeyError):
        path.unlink(missing_ok=True)
        return None, 0
    rows = path.stat().st_size // (2 * dimensions) if path.exists() else 0
    if path.exists():
        with path.open("r+b") as stream:
            stream.truncate(rows * 2 * dimensions)
    return dimensions, rows


class Vectors:
    """The finished matrix, memory-mapped."""

    def __init__(self, folder: Path, count: int, dimensions: int) -> None:
        """Raises SnapshotError when the file is not as large as the manifest says."""
        path = folder / FILE_NAME
        if not path.exists() or path.stat().st_size != count * dimensions * 2:
            raise SnapshotError(f"{path} is missing or cut off; build the snapshot again with --embeddings")
        self._matrix = np.memmap(path, dtype=np.float16, mode="r", shape=(count, dimensions))

    def of(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Rows by number, shape (len(numbers), dimensions)."""
        return self._matrix[list(numbers)].astype(np.float32)

    def similarities(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine with every paper, shape (count,); blockwise, so that memory stays flat."""
        result = np.empty(len(self._matrix), dtype=np.float32)
        for start in range(0, len(self._matrix), _ROWS_PER_BLOCK):
            block = self._matrix[start : start + _ROWS_PER_BLOCK].astype(np.float32)
            result[start : start + len(block)] = block @ vector
        return result
