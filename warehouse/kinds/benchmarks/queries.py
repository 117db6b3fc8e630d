"""Queries on published benchmarks."""

from collections.abc import Sequence

from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRun, BenchmarkScore
from warehouse.catalogue.connection import Connection
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.queries import Queries
from warehouse.rows import noun_of
from warehouse.units.published_work import published_head, published_units


def benchmark_scores_of(
    queries: Queries, run_ids: Sequence[str]
) -> dict[str, tuple[BenchmarkScore, ...]]:
    """Return the published scores of some benchmarks, in the order of their suites."""
    rows = queries.rows("benchmark_scores", run_ids=list(run_ids))
    scores_of: dict[str, list[BenchmarkScore]] = {run_id: [] for run_id in run_ids}
    for row in rows:
        scores_of[row["run_id"]].append(noun_of(BenchmarkScore, row))
    return {run_id: tuple(scores) for run_id, scores in scores_of.items()}


def published_benchmark(
    connection: Connection, run_id: RunId
) -> tuple[BenchmarkHead, tuple[BenchmarkRun, ...]]:
    """Return head and suite of a benchmark; no suite if its worker was lost.

    Raises:
        UnknownNameError: it is not published.
    """
    head = published_head(connection, BENCHMARKS, run_id)
    return head, published_units(connection, BENCHMARKS, run_id)
