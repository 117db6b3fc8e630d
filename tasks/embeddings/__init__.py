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
