"""Sentence embeddings, and similarity of papers to an idea."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """An embedder of texts as unit vectors."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as unit rows, in order; shape (len(texts), dimensions)."""
        ...


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Normalize rows to unit length; rows of zeros are unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
