"""Queries on published benchmarks."""

from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRun
from warehouse.catalogue.connection import Connection
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.units.published_work import published_head, published_units


def published_benchmark(
    connection: Connection, run_id: RunId
) -> tuple[BenchmarkHead, tuple[BenchmarkRun, ...]]:
    """Return head and suite of a benchmark; no suite if its worker was lost.

    Raises:
        UnknownNameError: it is not published.
    """
    head = published_head(connection, BENCHMARKS, run_id)
    return head, published_units(connection, BENCHMARKS, run_id)
