"""Sentence embeddings, cached by text hash, and what the method asks of them."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Texts to unit vectors."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text, in order, each of length one; shape (len(texts), dimensions)."""
        ...


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows, each of length one; a row of zeros stays so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
