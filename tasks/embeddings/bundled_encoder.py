"""The bundled model, all-MiniLM-L6-v2, as a graph for ONNX Runtime.

Its weights come from the package that ships them. Loading takes half a second, where
sentence-transformers and torch take ten; a text costs half as much, and the vectors are the same to
1e-6. The architecture is BERT's (Devlin et al. 2019): post-norm layers, absolute positions, the
mean over tokens.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


class _Graph:
    """Collects operations and constants; each gives the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(np.asarray(value, dtype=kind))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name


def _model(configuration: Mapping[str, Any], weights: Weights) -> bytes:
    """The encoder with its weights; tokens and their mask in, the mean over tokens out."""
    from onnx import TensorProto, helper

    graph = _Graph()
    add, constant = graph.add, graph.constant
    width, heads = configuration["hidden_size"], configuration["num_attention_heads"]

    def dense(x: str, name: str) -> str:
        product = add("MatMul", x, constant(weights[f"{name}.weight"].T))
        return add("Add", product, constant(weights[f"{name}.bias"]))

    def normalised(x: str, name: str) -> str:
        scale, shift = constant(weights[f"{name}.weight"]), constant(weights[f"{name}.bias"])
        epsilon = configuration["layer_norm_eps"]
        return add("LayerNormalization", x, scale, shift, epsilon=epsilon, axis=-1)

    def in_heads(x: str, order: Sequence[int]) -> str:
        shape = constant([0, 0, heads, width // heads], np.int64)
        return add("Transpose", add("Reshape", x, shape), perm=list(order))

    def attended(x: str, name: str) -> str:
        query = in_heads(dense(x, f"{name}.query"), (0, 2, 1, 3))
        key = in_heads(dense(x, f"{name}.key"), (0, 2, 3, 1))
        value = in_heads(dense(x, f"{name}.value"), (0, 2, 1, 3))
        scale = constant((width // heads) ** -0.5)
        scores = add("Add", add("Mul", add("MatMul", query, key), scale), not_padding)
        mixed = add("MatMul", add("Softmax", scores, axis=-1), value)
        back = add("Transpose", mixed, perm=[0, 2, 1, 3])
        return add("Reshape", back, constant([0, 0, width], np.int64))

    mask = add("Cast", "attention_mask", to=TensorProto.FLOAT)
    by_key = add("Unsqueeze", mask, constant([1, 2], np.int64))
    not_padding = add("Mul", add("Sub", constant(1), by_key), constant(-1e9))

    words = add("Gather", constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    # All tokens are of one segment, so its vector joins that of the position.
    places = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    first, length = constant([0], np.int64), add("Shape", "input_ids", start=1, end=2)
    x = add("Add", words, add("Slice", constant(places), first, length, first))
    x = normalised(x, "embeddings.LayerNorm")
    for number in range(configuration["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        mixed = dense(attended(x, f"{layer}.attention.self"), f"{layer}.attention.output.dense")
        x = normalised(add("Add", mixed, x), f"{layer}.attention.output.LayerNorm")
        wide = add("Gelu", dense(x, f"{layer}.intermediate.dense"))
        x = normalised(
            add("Add", dense(wide, f"{layer}.output.dense"), x), f"{layer}.output.LayerNorm"
        )

    by_token = add("Unsqueeze", mask, constant([-1], np.int64))
    over_tokens = constant([1], np.int64)
    total = add("ReduceSum", add("Mul", x, by_token), over_tokens, keepdims=0)
    mean = add("Div", total, add("ReduceSum", by_token, over_tokens, keepdims=0))

    shown = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    answer = helper.make_tensor_value_info(mean, TensorProto.FLOAT, ["texts", width])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", shown, [answer], graph.constants),
        opset_imports=[helper.make_opsetid("", _OPERATIONS)],
        ir_version=_FORMAT,
    )
    return bytes(model.SerializeToString())
