"""The second ranking: a cross-encoder reads query and text together (InnoEval: bge-reranker-base)."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from schemas.errors import ConfigurationError
from tasks.embeddings.local_model import PROCESS_LOCK

_MODELS: dict[str, Any] = {}


class Reranker(Protocol):
    """How well texts answer a query, by a model that sees both."""

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One value from 0 to 1 per text, in order."""
        ...


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder, loaded on first use and once per process.

    Raises (from `scores`):
        ConfigurationError: there is no such model, or its files cannot be had.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Reranker`: the model's logits through a sigmoid."""
        return await asyncio.to_thread(self._scores, query, list(texts)) if texts else []

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        import torch

        with PROCESS_LOCK:
            model = _MODELS.get(self._name) or _loaded(self._name)
            pairs = [(query, text) for text in texts]
            values = model.predict(pairs, activation_fn=torch.nn.Sigmoid(), show_progress_bar=False)
        return [
            round(float(value), 4) for value in np.asarray(values, dtype=np.float64).reshape(-1)
        ]


def _loaded(name: str) -> Any:
    from sentence_transformers import CrossEncoder

    try:
        _MODELS[name] = CrossEncoder(name, device="cpu")
    except (OSError, ValueError) as error:
        detail = " ".join(str(error).split())[:200]
        raise ConfigurationError(
            f"reranker {name} cannot be loaded ({detail}): name a cross-encoder that can be had, or leave `committee.reranker` out"
        ) from error
    return _MODELS[name]
