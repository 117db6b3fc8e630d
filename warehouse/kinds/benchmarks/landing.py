"""Benchmarks: their declaration, and how one is landed; the same command replaces it.

landing/benchmark=<id>/<table>.parquet, receipt.json
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkReceipt, BenchmarkRun
from schemas.people.ledger import Artefact
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import landing
from warehouse.units.kind import Kind

BENCHMARKS = Kind(
    folders={"benchmark": "run_id"},
    unit=None,
    receipt=BenchmarkReceipt,
    head=BenchmarkReceipt,
    head_table="benchmarks",
    tables=("benchmarks", "benchmark_scores", "benchmark_items", "llm_calls"),
    checks=("benchmark_checks", "benchmark_scores"),
    artefact=(Artefact.BENCHMARK, ""),
    remedy="remove its folder to run the benchmark anew",
    publish_again="remove its folder, run it again",
)
_MADE_BY = ("suite", "engine", "profile", "seed", "data_sha256", "prompt_sha256")


def land_benchmark(layout: Layout, run: BenchmarkRun) -> BenchmarkReceipt:
    """Write all that a benchmark came to; afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    receipt = BenchmarkReceipt(
        run_id=RunId(run.benchmark_id),
        suite=run.suite,
        incomplete_reason=run.incomplete_reason,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )
    return landing.land(layout, BENCHMARKS, rows_of_benchmark(run), receipt)


def rows_of_benchmark(run: BenchmarkRun) -> Rows:
    """Every row of a benchmark by table name; a field and its column bear the same name, what
    differs is written here.
    """
    own: Row = {"run_id": run.benchmark_id}
    made_by = own | {name: getattr(run, name) for name in _MADE_BY}
    made_by["model_answered"] = _answered(run)
    published: Row = {"landing_sha256": "", "published_at": datetime.now(UTC)}
    nouns: dict[str, tuple[Sequence[Noun], Row]] = {
        "benchmarks": ((run,), made_by | published),
        "benchmark_scores": (run.scores, made_by | {"created_at": run.finished_at}),
        "benchmark_items": (run.items, own),
        "llm_calls": (run.calls, own),
    }
    return {
        name: [
            row_of(TABLE[name], noun, known | {"position": place})
            for place, noun in enumerate(found)
        ]
        for name, (found, known) in nouns.items()
        if found
    }


def _answered(run: BenchmarkRun) -> str | None:
    """Model that answered the suite's own calls; of several, all their names."""
    names = sorted({call.model_answered for call in run.calls if call.model_answered is not None})
    return ", ".join(names) or None
