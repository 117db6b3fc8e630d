"""`assay benchmark`: how good a model with a profile is at judging ideas, by the literature's own metrics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.benchmarks.names import SUITE_NAMES
from flows.commands import options
from flows.commands.session import Session
from flows.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.request import DEFAULT_PROFILE, DEFAULT_WAREHOUSE
from schemas.errors import ConfigurationError
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.benchmarks.run import BenchmarkSummary
    from flows.benchmarks.suite import Suite
    from schemas.benchmark import BenchmarkRequest

ALL = "all"
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", metavar="", help="Say what it would ask and cost, and ask nothing."),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="Folder of the data sets. Default: the setting ASSAY_DATA."
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        metavar="N",
        help="Only N items of each set, drawn by the seed. Default: the whole set, or the suite's sample.",
    ),
]
Modules = Annotated[
    str | None,
    typer.Option(
        "--modules",
        metavar="LIST",
        help="Modules of the main job, or `none`: judge by the text. Default: the suite's.",
    ),
]
JudgedRun = Annotated[
    str | None,
    typer.Option(
        "--run", metavar="RUN", help="A published run to judge instead of evaluating the ideas."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="Of draws and of resampled intervals.")
]
Without = Annotated[
    str,
    typer.Option(
        "--without",
        metavar="LIST",
        help="Parts of the method left out: mre, pa, pc (ScholarEval's ablations).",
    ),
]
Baselines = Annotated[
    str,
    typer.Option(
        "--baselines",
        metavar="LIST",
        help="Systems to hold beside it: prompt_only, prompt_with_search; or none.",
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="ID",
        help="A published benchmark to hold beside this one; may be repeated.",
    ),
]
Calibrate = Annotated[
    Path | None,
    typer.Option(
        "--calibrate",
        metavar="OUT",
        help="Suite novelty: write the calibrator it fits to this file, for a profile to name.",
    ),
]
CheckLinks = Annotated[
    bool,
    typer.Option(
        "--check-links",
        metavar="",
        help="Ask every cited address whether it exists (reference invalidity).",
    ),
]


def benchmark(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help=f"One of {', '.join(SUITE_NAMES)}; or `{ALL}`.")
    ],
    data: Data = None,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    profile: options.Profile = DEFAULT_PROFILE,
    engine: options.Engine = "extractive",
    api_base: options.ApiBase = None,
    literature: options.Literature = None,
    modules: Modules = None,
    run: JudgedRun = None,
    limit: Limit = None,
    without: Without = "",
    baselines: Baselines = "prompt_only,prompt_with_search",
    check_links: CheckLinks = False,
    full_text: options.FullText = None,
    seed: Seed = 0,
    workers: options.Workers = 2,
    scheduler: options.Scheduler = None,
    max_cost_usd: options.MaxCost = None,
    max_cost_usd_per_idea: options.MaxCostPerIdea = None,
    max_tokens: options.MaxTokens = None,
    max_requests: options.MaxRequests = None,
    compare: Compare = None,
    calibrate: Calibrate = None,
    dry_run: DryRun = False,
    json: options.Json = False,
) -> int:
    """Run a suite, and print its scores with 95 % intervals and the published figures beside them.

    The same command again goes on where the last one stopped, and costs nothing once all is done. Bounds hold for the suite and for
    each of its evaluations apart.
    """
    from flows.benchmarks.request import resolve_benchmark

    suites = _suites(suite)
    if calibrate is not None:
        _check_calibrate(suites, profile)
    settings = Settings()
    requests = [
        resolve_benchmark(
            one.name, settings, data=data, warehouse=warehouse, profile=profile, engine=engine, api_base=api_base, literature=literature,
            modules=modules, run=run, limit=limit, without=without,
            baselines=baselines, check_links=check_links, full_text=full_text, seed=seed,
            workers=workers, scheduler=scheduler, max_cost_usd=max_cost_usd, max_cost_usd_per_idea=max_cost_usd_per_idea,
            max_tokens=max_tokens, max_requests=max_requests,
        )
        for one in suites
    ]  # fmt: skip
    if dry_run:
        return _print_expected(suites, requests, settings, as_json=json)
    summaries = _run(suites, requests, settings)
    if calibrate is not None:
        _write_calibrator(summaries, requests[0].warehouse, calibrate)
    return _print(summaries, requests[0], compare or [], as_json=json)


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
    from flows.benchmarks.naming import data_sha256
    from flows.commands.benchmark_output import print_expected

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
    from flows.benchmarks.naming import data_sha256
    from flows.benchmarks.run import run_suite
    from flows.checks import check_models, check_writable
    from schemas.run import Run, RunRequest

    for one, request in zip(suites, requests, strict=True):
        data_sha256(one, request.data)
    first = requests[0]
    check_writable(first.warehouse)
    from tasks.steps import STEPS

    check_models(first, STEPS, settings)
    with Session() as session:

        def evaluate(request: RunRequest) -> Run:
            return session.evaluate(request).published_head()

        return [
            run_suite(one, request, settings, evaluate)
            for one, request in zip(suites, requests, strict=True)
        ]


def _check_calibrate(suites: "list[Suite]", profile: str) -> None:
    from flows.benchmarks import novelty
    from flows.profiles import load_profile

    if novelty.NAME not in {one.name for one in suites}:
        raise ConfigurationError(f"--calibrate: only suite {novelty.NAME} fits a calibrator")
    if load_profile(profile).novelty.calibrator is not None:
        raise ConfigurationError(
            "--calibrate: the profile names a calibrator already; take `calibrator` out of its [novelty] to fit one"
        )


def _write_calibrator(summaries: "list[BenchmarkSummary]", warehouse: Path, out: Path) -> None:
    """Copy the calibrator that the suite left in its folder, if labels sufficed for one."""
    from flows.benchmarks import novelty
    from flows.benchmarks.novelty_calibration import FILE
    from flows.benchmarks.trial import folder_of
    from flows.commands.output import print_note
    from tasks.novelty.calibration.store import load_calibrator, write_calibrator
    from warehouse.layout import Layout

    (summary,) = [one for one in summaries if one.head.suite == novelty.NAME]
    path = folder_of(Layout(warehouse), summary.head.run_id) / FILE
    if not path.is_file():
        raise ConfigurationError(
            f"no calibrator was fitted, and {out} not written: the row of its mean_absolute_error says why"
        )
    write_calibrator(load_calibrator(path), out)
    print_note(f"calibrator written to {out}: name it as `calibrator` under [novelty] of a profile")


def _print(
    summaries: "list[BenchmarkSummary]",
    request: "BenchmarkRequest",
    compared: list[str],
    *,
    as_json: bool,
) -> int:
    from dashboards.reports.benchmark_page import benchmark_page
    from dashboards.reports.benchmark_write import write_benchmark_report
    from flows.benchmarks.comparing import differences
    from flows.commands.benchmark_output import print_benchmarks
    from flows.commands.output import print_note
    from warehouse.layout import Layout
    from warehouse.queries import open_queries

    for summary in summaries:
        for failed in summary.failed_expectations:
            print_note(f"{summary.head.run_id} not published: {failed}")
    published = [str(summary.head.run_id) for summary in summaries if summary.published]
    if published:
        layout, catalogue = Layout(request.warehouse), Settings().catalogue
        run_ids = list(dict.fromkeys([*published, *compared]))
        with open_queries(layout, catalogue_url=catalogue) as queries:
            found = differences(queries, run_ids, compared, request.seed)
            page = benchmark_page(queries, run_ids, found)
        for other in {*compared} - {page.heads[line.second - 1].run_id for line in found}:
            print_note(
                f"--compare {other}: it shares no task with what was run, so that there are no differences to show"
            )
        paths = summaries[0].report_paths
        if len(run_ids) > 1:
            paths = write_benchmark_report(layout, run_ids, found, catalogue_url=catalogue)
        print_benchmarks(page, paths, as_json=as_json)
    if len(published) < len(summaries):
        return EXIT_FAILURES
    if any(summary.head.incomplete_reason == "budget_exhausted" for summary in summaries):
        return EXIT_BUDGET
    return (
        EXIT_FAILURES
        if any(summary.head.incomplete_reason is not None for summary in summaries)
        else EXIT_DONE
    )
