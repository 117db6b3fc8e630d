"""Runs one suite: asks, scores, sets published figures beside, lands, publishes and reports."""

from importlib import metadata
from pathlib import Path

from dashboards.views.benchmark_write import write_benchmark_report
from flows.benchmarks.published_figures import published_scores, training_until
from flows.benchmarks.suite import Suite, benchmark_id, data_sha256, prompts_sha256
from flows.benchmarks.trial import Evaluates, Trial
from flows.run.campaign import summary_of
from flows.run.run_lock import only_command_on
from schemas.base import replace
from schemas.judgement.benchmark import (
    BenchmarkHead,
    BenchmarkRequest,
    BenchmarkRun,
    BenchmarkScore,
)
from schemas.settings import Settings
from schemas.stopwatch import Stopwatch
from schemas.work import Summary
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.objects.shared_reports import share_reports
from warehouse.run_log import EVENTS, run_log
from warehouse.units.landing import complete_receipt, journalled_calls
from warehouse.units.publish import publish
from warehouse.units.record import land_unit
from warehouse.warehouse import Warehouse

BenchmarkSummary = Summary[BenchmarkHead]


def run_suite(
    suite: Suite, request: BenchmarkRequest, settings: Settings, evaluate: Evaluates
) -> BenchmarkSummary:
    """Run `suite` and publish its scores.

    Done already: nothing is asked or changed; interrupted before: it goes on from there.

    Raises:
        ConfigurationError: data are missing or do not fit, or the engine cannot be used.
    """
    warehouse, data = Warehouse(request.warehouse, settings), data_sha256(suite, request.data)
    run_id = benchmark_id(suite, request, settings, data)
    with only_command_on(warehouse, run_id), run_log(warehouse.log(run_id)):
        EVENTS.info("benchmark begun", extra={"suite": suite.name, "engine": request.engine.text})
        receipt = complete_receipt(warehouse, BENCHMARKS, run_id)
        if receipt is None:
            trial = Trial(request, run_id, settings, evaluate)
            trial.folder.mkdir(parents=True, exist_ok=True)
            watch = Stopwatch()
            scores = tuple(suite.run(trial))
            run = _run(suite, trial, data, scores, watch)
            receipt = land_unit(warehouse, BENCHMARKS, run_id, run, run.started_at, run.finished_at)
        publication = publish(warehouse, BENCHMARKS, receipt)
        told = publication.model_dump(include={"published", "unchanged", "failed_expectations"})
        EVENTS.info("benchmark ended", extra=told)
    reports: tuple[Path, ...] = ()
    if publication.published:
        reports = write_benchmark_report(warehouse, (run_id,))
        share_reports(warehouse, reports)
    summary = summary_of("benchmark", BENCHMARKS, receipt, publication, reports)
    return replace(summary, log_path=warehouse.log(run_id))


def _run(
    suite: Suite, trial: Trial, data: str, scores: tuple[BenchmarkScore, ...], watch: Stopwatch
) -> BenchmarkRun:
    request = trial.request
    # Those that were paid for but answered nothing, as a kill came first, are in the journal alone.
    journalled = journalled_calls(
        trial.warehouse, BENCHMARKS.unit_path(trial.warehouse, trial.run_id)
    )
    calls = tuple({call.call_id: call for call in (*journalled, *trial.calls)}.values())
    prices = [call.cost_usd for call in calls]
    models = {call.model_answered for call in calls if call.model_answered is not None}
    return BenchmarkRun(
        run_id=trial.run_id,
        suite=suite.name,
        engine=request.engine.text,
        model_answered=", ".join(sorted(models)) or None,
        profile=request.profile.name,
        data_sha256=data,
        prompt_sha256=prompts_sha256(suite, request),
        seed=request.seed,
        scores=(*scores, *published_scores(suite.name)),
        items=tuple(trial.items),
        calls=calls,
        labels_public_since=suite.labels_public_since,
        judge_training_until=training_until(request.engine, request.training_until),
        judge=request.judge,
        literature=request.literature.text if trial.modules(suite.modules) else "",
        item_limit=request.item_limit,
        evaluated_run_ids=tuple(dict.fromkeys(trial.evaluated_run_ids)),
        incomplete_reason=trial.missing_reason,
        assay_version=metadata.version("assay"),
        llm_calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cost_usd=None if None in prices else sum(price for price in prices if price is not None),
        started_at=watch.started_at,
        finished_at=watch.finished_at,
    )
