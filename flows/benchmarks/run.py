"""Runs one suite: asks, scores, sets published figures beside, lands, publishes and reports."""

from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from dashboards.reports.benchmark_write import write_benchmark_report
from flows.benchmarks.naming import benchmark_id, data_sha256, prompts_sha256
from flows.benchmarks.published_figures import published_scores
from flows.benchmarks.suite import Suite
from flows.benchmarks.trial import Evaluates, Trial
from flows.run_lock import only_command_on
from schemas.base import Noun
from schemas.benchmark import BenchmarkRequest, BenchmarkRun, BenchmarkScore
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.settings import Settings
from warehouse.benchmarks.landing import land_benchmark, read_benchmark_receipt
from warehouse.benchmarks.publish import publish_benchmark
from warehouse.layout import Layout


class BenchmarkSummary(Noun):
    """What a benchmark came to."""

    run_id: RunId
    suite: str
    published: bool
    unchanged: bool
    incomplete_reason: Reason | None
    failed_expectations: tuple[str, ...]
    report_paths: tuple[Path, ...]


def run_suite(
    suite: Suite, request: BenchmarkRequest, settings: Settings, evaluate: Evaluates
) -> BenchmarkSummary:
    """Run `suite` and publish its scores. Done already: nothing is asked or changed; interrupted before: it goes on from there.

    Raises:
        ConfigurationError: data are missing or do not fit, or the engine cannot be used.
    """
    layout, data = Layout(request.warehouse), data_sha256(suite, request.data)
    run_id = benchmark_id(suite, request, settings, data)
    with only_command_on(layout, run_id):
        receipt = read_benchmark_receipt(layout, run_id)
        if receipt is None or receipt.incomplete_reason is not None:
            trial = Trial(request, run_id, settings, evaluate)
            trial.folder.mkdir(parents=True, exist_ok=True)
            started_at = datetime.now(UTC)
            scores = tuple(suite.run(trial))
            receipt = land_benchmark(layout, _run(suite, trial, data, scores, started_at))
        publication = publish_benchmark(layout, run_id, catalogue_url=settings.catalogue)
    return BenchmarkSummary(
        run_id=run_id,
        suite=suite.name,
        published=publication.published,
        unchanged=publication.unchanged,
        incomplete_reason=receipt.incomplete_reason,
        failed_expectations=publication.failed_expectations,
        report_paths=write_benchmark_report(layout, (run_id,), catalogue_url=settings.catalogue)
        if publication.published
        else (),
    )


def _run(
    suite: Suite, trial: Trial, data: str, scores: tuple[BenchmarkScore, ...], started_at: datetime
) -> BenchmarkRun:
    request = trial.request
    prices = [call.cost_usd for call in trial.calls]
    return BenchmarkRun(
        benchmark_id=trial.run_id,
        suite=suite.name,
        engine=request.engine.text,
        profile=request.profile.name,
        data_sha256=data,
        prompt_sha256=prompts_sha256(suite, request),
        seed=request.seed,
        scores=(*scores, *published_scores(suite.name)),
        items=tuple(trial.items),
        calls=tuple(trial.calls),
        literature=request.literature.text if trial.modules(suite.modules) else "",
        item_limit=request.item_limit,
        evaluated_run_ids=tuple(dict.fromkeys(trial.evaluated_run_ids)),
        incomplete_reason=trial.missing_reason,
        assay_version=metadata.version("assay"),
        llm_calls=len(trial.calls),
        prompt_tokens=sum(call.prompt_tokens for call in trial.calls),
        completion_tokens=sum(call.completion_tokens for call in trial.calls),
        cost_usd=None if None in prices else sum(price for price in prices if price is not None),
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )
