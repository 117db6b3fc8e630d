"""`assay benchmark`: how good a model with a profile is at judging ideas, by the literature's own
metrics.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.benchmarks.names import SUITE_NAMES
from flows.cli.answer import print_answer
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.options import Json
from flows.cli.talk import print_note, print_warning
from flows.profiles import load_profile
from flows.run.session import Session
from schemas.errors import ConfigurationError
from schemas.judgement.run_request import RunRequest
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.run import Run
from schemas.settings import Settings
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from flows.benchmarks.run import BenchmarkSummary
    from flows.benchmarks.suite import Suite
    from schemas.judgement.benchmark import BenchmarkRequest

ALL, FETCH = "all", "fetch"


def benchmark(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help=f"One of {', '.join(SUITE_NAMES)}; `{ALL}`; or `{FETCH}` with DIR.",
        ),
    ],
    options: BenchmarkOptions,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help=f"Of `{FETCH}`: where the public sets are to lie."),
    ] = None,
    json: Json = False,
) -> int:
    """Run a suite, and print its scores with 95 % intervals and the published figures beside them.
    `fetch DIR` downloads the public sets that suites read as they are.

    The same command again goes on where the last one stopped, and costs nothing once all is done.
    Bounds hold for the suite and for each of its evaluations apart.
    """
    if suite == FETCH:
        return _fetch(folder, as_json=json)
    if folder is not None:
        raise ConfigurationError(f"DIR goes with `{FETCH}` alone: name the data with --data DIR")
    from flows.benchmarks.request import resolve_benchmark

    suites = _suites(suite)
    if options.calibrate is not None:
        _check_calibrate(suites, options.profile)
    settings = Settings()
    requests = [resolve_benchmark(one.name, options, settings) for one in suites]
    if options.dry_run:
        return _print_expected(suites, requests, settings, as_json=json)
    summaries = _run(suites, requests, settings)
    if options.calibrate is not None:
        _write_calibrator(summaries, requests[0].warehouse, options.calibrate)
    return _print(summaries, requests[0], options.compare, as_json=json)


def _fetch(folder: Path | None, *, as_json: bool) -> int:
    from flows.benchmarks.fetching import fetch

    if folder is None:
        raise ConfigurationError(f"name the folder: assay benchmark {FETCH} DIR")
    found = fetch(folder, Settings())
    if as_json:
        told = found.model_dump()
        rows = [{"file": name, "state": state} for state, names in told.items() for name in names]
        state = "incomplete" if found.missing else "fetched"
        print_answer(state, rows, warnings=found.missing, folder=folder)
    return EXIT_FAILURES if found.missing else EXIT_DONE


def _suites(name: str) -> "list[Suite]":
    from flows.benchmarks.registry import SUITES

    if name == ALL:
        return list(SUITES.values())
    if name not in SUITES:
        raise ConfigurationError(f"no suite {name!r}: choose from {', '.join(SUITES)}, or `{ALL}`")
    return [SUITES[name]]


def _print_expected(
    suites: "list[Suite]", requests: "list[BenchmarkRequest]", settings: Settings, *, as_json: bool
) -> int:
    from flows.benchmarks.expected import estimate_suite
    from flows.benchmarks.suite import data_sha256
    from flows.cli.quality.benchmark_output import print_expected

    for one, request in zip(suites, requests, strict=True):
        data_sha256(one, request.data)
    print_expected(
        [
            estimate_suite(one, request, settings)
            for one, request in zip(suites, requests, strict=True)
        ],
        as_json=as_json,
    )
    return EXIT_DONE


def _run(
    suites: "list[Suite]", requests: "list[BenchmarkRequest]", settings: Settings
) -> "list[BenchmarkSummary]":
    from flows.benchmarks.run import run_suite
    from flows.benchmarks.suite import data_sha256
    from flows.run.preflight import check_models, check_place

    for one, request in zip(suites, requests, strict=True):
        data_sha256(one, request.data)
    first = requests[0]
    check_place(first.warehouse, settings)
    from tasks.evaluation.work import EVALUATE
    from tasks.steps import STEPS

    check_models(first, STEPS, settings)
    with Session() as session:

        def evaluate(request: RunRequest) -> Run:
            run: Run = session.run(EVALUATE, request).published_head()
            return run

        return [
            run_suite(one, request, settings, evaluate)
            for one, request in zip(suites, requests, strict=True)
        ]


def _check_calibrate(suites: "list[Suite]", profile: str) -> None:
    from flows.benchmarks.suites import novelty

    if novelty.NAME not in {one.name for one in suites}:
        raise ConfigurationError(f"--calibrate: only suite {novelty.NAME} fits a calibrator")
    if load_profile(profile).novelty.calibrator is not None:
        raise ConfigurationError(
            "--calibrate: the profile names a calibrator already; take `calibrator` out of its"
            " [novelty] to fit one"
        )


def _write_calibrator(summaries: "list[BenchmarkSummary]", warehouse: Path, out: Path) -> None:
    """Copy the calibrator that the suite left in its folder, if labels sufficed for one."""
    from flows.benchmarks.suites import novelty
    from flows.benchmarks.suites.novelty_calibration import FILE
    from flows.benchmarks.trial import folder_of
    from tasks.calibration.applying import load_calibrator, write_fitted

    (summary,) = [one for one in summaries if one.head.suite == novelty.NAME]
    path = folder_of(Warehouse(warehouse), summary.head.run_id) / FILE
    if not path.is_file():
        raise ConfigurationError(
            f"no calibrator was fitted, and {out} not written: the row of its mean_absolute_error"
            " says why"
        )
    write_fitted(load_calibrator(path), out)
    print_note(f"calibrator written to {out}: name it as `calibrator` under [novelty] of a profile")


def _print(
    summaries: "list[BenchmarkSummary]",
    request: "BenchmarkRequest",
    compared: Sequence[str],
    *,
    as_json: bool,
) -> int:
    from dashboards.views.benchmark_page import benchmark_page
    from dashboards.views.benchmark_write import write_benchmark_report
    from flows.benchmarks.comparing import differences
    from flows.cli.output import print_log_note
    from flows.cli.quality.benchmark_output import print_benchmarks
    from warehouse.objects.shared_reports import share_reports

    failed = [
        f"{summary.head.run_id} not published: {each}"
        for summary in summaries
        for each in summary.failed_expectations
    ]
    for line in failed:
        print_warning(line)
    published = [str(summary.head.run_id) for summary in summaries if summary.published]
    if published:
        warehouse = Warehouse(request.warehouse)
        run_ids = list(dict.fromkeys([*published, *compared]))
        with warehouse.queries() as queries:
            found = differences(queries, run_ids, compared, request.seed)
            page = benchmark_page(queries, run_ids, found)
        for other in {*compared} - {page.heads[line.second - 1].run_id for line in found}:
            print_note(
                f"--compare {other}: it shares no task with what was run, so that there are no"
                " differences to show"
            )
        paths = summaries[0].report_paths
        if len(run_ids) > 1:
            paths = write_benchmark_report(warehouse, run_ids, found)
            share_reports(warehouse, paths)
        print_benchmarks(page, paths, failed, as_json=as_json)
    elif as_json:
        print_answer("not_published", warnings=failed)
    for summary in summaries:
        print_log_note(summary.log_path)
    if len(published) < len(summaries):
        return EXIT_FAILURES
    if any(summary.head.incomplete_reason == "budget_exhausted" for summary in summaries):
        return EXIT_BUDGET
    return (
        EXIT_FAILURES
        if any(summary.head.incomplete_reason is not None for summary in summaries)
        else EXIT_DONE
    )
