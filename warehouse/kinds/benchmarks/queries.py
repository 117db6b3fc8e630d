"""What readers ask about benchmarks. Only published ones are seen."""

from collections.abc import Sequence

from schemas.judgement.benchmark import BenchmarkScore
from warehouse.queries import Queries
from warehouse.rows import noun_of


def benchmark_scores_of(
    queries: Queries, run_ids: Sequence[str]
) -> dict[str, tuple[BenchmarkScore, ...]]:
    """Scores of some benchmarks, measured and published, in the order of their suites."""
    rows = queries.rows("benchmark_scores", run_ids=list(run_ids))
    found: dict[str, list[BenchmarkScore]] = {run_id: [] for run_id in run_ids}
    for row in rows:
        found[row["run_id"]].append(noun_of(BenchmarkScore, row))
    return {run_id: tuple(scores) for run_id, scores in found.items()}
