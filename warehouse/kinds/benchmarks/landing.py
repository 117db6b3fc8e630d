"""Benchmarks: their declaration; the same command replaces one.

landing/benchmark=<id>/<table>.parquet, receipt.json
"""

from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRun
from schemas.people.ledger import Artefact
from warehouse.units.kind import Kind

BENCHMARKS = Kind(
    folders={"benchmark": "run_id"},
    unit=None,
    noun=BenchmarkRun,
    head=BenchmarkHead,
    receipt=BenchmarkHead,
    tables=("benchmark_scores", "benchmark_items", "llm_calls"),
    artefact=Artefact.BENCHMARK,
)
