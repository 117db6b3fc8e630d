"""What readers ask about benchmarks. Only published ones are seen."""

from collections.abc import Sequence
from datetime import date, datetime

from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkScore, JudgeWording
from warehouse.queries import Queries
from warehouse.rows import noun_of


class BenchmarkHead(Noun):
    """One row of `benchmarks`."""

    run_id: RunId
    suite: str
    engine: str
    model_answered: str | None
    profile: str
    seed: int
    data_sha256: str
    prompt_sha256: str
    labels_public_since: date | None = None
    judge_training_until: date | None = None
    judge: JudgeWording | None = None
    literature: str
    item_limit: int | None
    evaluated_run_ids: tuple[str, ...] = Field(
        description="Runs whose evaluations answered or were judged."
    )
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    incomplete_reason: str | None
    assay_version: str
    started_at: datetime
    finished_at: datetime


def benchmarks_of(queries: Queries, suite: str | None = None) -> tuple[BenchmarkHead, ...]:
    """Published benchmarks, of one suite or of all, newest first."""
    return tuple(
        noun_of(BenchmarkHead, row)
        for row in queries.rows("benchmarks")
        if suite is None or row["suite"] == suite
    )


def benchmark(queries: Queries, run_id: str) -> BenchmarkHead:
    """One benchmark. Raises ConfigurationError when it is not published."""
    found = benchmarks_of(queries)
    for head in found:
        if head.run_id == run_id:
            return head
    newest = ", ".join(head.run_id for head in found[:3]) or "none"
    raise ConfigurationError(f"no published benchmark {run_id}; the newest are: {newest}")


def benchmark_scores_of(
    queries: Queries, run_ids: Sequence[str]
) -> dict[str, tuple[BenchmarkScore, ...]]:
    """Scores of some benchmarks, measured and published, in the order of their suites."""
    rows = queries.rows("benchmark_scores", run_ids=list(run_ids))
    found: dict[str, list[BenchmarkScore]] = {run_id: [] for run_id in run_ids}
    for row in rows:
        found[row["run_id"]].append(
            noun_of(BenchmarkScore, row | {"published": row["origin"] == "published"})
        )
    return {run_id: tuple(scores) for run_id, scores in found.items()}
