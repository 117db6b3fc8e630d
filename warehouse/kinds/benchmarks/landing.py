"""Benchmarks: their declaration; the same command replaces one.

landing/benchmark=<id>/<table>.parquet, receipt.json
"""

from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRun
from schemas.people.ledger import Artefact
from warehouse.units.kind import Kind
from warehouse.units.record import UnitRecord

BENCHMARKS = Kind(
    folders={"benchmark": "run_id"},
    unit=None,
    receipt=BenchmarkHead,
    head=BenchmarkHead,
    head_table="benchmarks",
    tables=("benchmark_scores", "benchmark_items", "llm_calls"),
    checks=("benchmark_checks", "benchmark_scores"),
    artefact=(Artefact.BENCHMARK, ""),
)

BENCHMARK_RECORD = UnitRecord(kind=BENCHMARKS, noun=BenchmarkRun)
