"""Texts per second and per CPU-second of the bundled embedding model, by precision and threads.

Run as `python tests/benchmarks/embedding_rate.py [--texts 160]`; needs
`../shared/data/literature.parquet`. int8 (dynamic quantisation) is measured as well although Assay
does not offer it: its vectors are too far off.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tasks.embeddings import local_model

LITERATURE = Path(__file__).parents[3] / "shared" / "data" / "literature.parquet"


def abstracts(count: int) -> list[str]:
    papers = (
        pl.read_parquet(LITERATURE, columns=["title", "abstract"], n_rows=20_000)
        .drop_nulls()
        .sample(count, seed=1)
    )
    return [f"{title}. {abstract}" for title, abstract in papers.iter_rows()]


def model_of(precision: str) -> local_model.LocalModel:
    import torch

    if precision != "int8":
        return local_model.load(local_model.BUNDLED, 128, precision)
    loaded = local_model._load(local_model.BUNDLED, 128, "float32")
    transformer: Any = loaded.model[0]
    transformer.model = torch.ao.quantization.quantize_dynamic(
        transformer.model, {torch.nn.Linear}, dtype=torch.qint8
    )
    return loaded


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=160)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args()
    import torch

    texts = abstracts(options.texts)
    reference = model_of("float32").encode(texts, options.batch_size)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for precision in ("float32", "int8", "bfloat16"):
            model = model_of(precision)
            model.encode(texts[: options.batch_size], options.batch_size)
            started, used = time.perf_counter(), time.process_time()
            vectors = model.encode(texts, options.batch_size)
            seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - used
            cosines = np.sum(vectors * reference, axis=1)
            print(
                f"{precision:9} {threads} threads: {len(texts) / seconds:6.1f} texts/s,"
                f" {len(texts) / cpu_seconds:6.1f} per CPU-second, cosine to float32 mean"
                f" {cosines.mean():.4f} lowest {cosines.min():.4f}"
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
