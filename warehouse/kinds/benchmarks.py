"""Declaration of benchmarks.

landing/benchmark=<run>/suite=<name>/<table>.parquet, receipt.json
landing/benchmark=<run>/benchmark.json
"""

from typing import Any

from schemas.judgement.benchmark import BenchmarkHead, BenchmarkReceipt, BenchmarkRun
from schemas.people.ledger import Artefact
from warehouse.rows import Rows
from warehouse.units.kind import Kind


def _totals(rows: Rows) -> dict[str, Any]:
    calls = rows.get("llm_calls", [])
    prices = [call["cost_usd"] for call in calls]
    return {
        "llm_calls": len(calls),
        "prompt_tokens": sum(call["prompt_tokens"] for call in calls),
        "completion_tokens": sum(call["completion_tokens"] for call in calls),
        "cost_usd": None if None in prices else sum(prices),
    }


BENCHMARKS = Kind(
    folders={"benchmark": "run_id"},
    unit=("suite", "suite"),
    noun=BenchmarkRun,
    head=BenchmarkHead,
    receipt=BenchmarkReceipt,
    tables=("benchmark_scores", "benchmark_items", "llm_calls", "failures"),
    artefact=Artefact.BENCHMARK,
    totals=_totals,
)
