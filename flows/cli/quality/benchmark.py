"""`assay benchmark`: benchmarks of models and profiles."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from dashboards.render.figures import usd
from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, print_answer
from flows.cli.options import Json, output_option
from flows.cli.output import print_columns
from flows.cli.terminal import print_note
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRequest, SuiteName
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.settings import Settings
from schemas.work import Summary
from warehouse.warehouse import Warehouse

ALL, FETCH = "all", "fetch"


def benchmark(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help=f"One of {', '.join(SuiteName)}; `{ALL}`; or `{FETCH}` with DIR.",
        ),
    ],
    options: BenchmarkOptions,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help=f"Of `{FETCH}`: folder for the public sets."),
    ] = None,
    output: Annotated[
        Path | None,
        output_option(
            "Write the report here instead of to stdout, by the ending: html, pdf, docx or json;"
            " else Markdown."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Run a benchmark suite, and print scores with 95 % intervals next to published figures.
    `fetch DIR` downloads public data sets.

    The same command resumes, and costs nothing when everything is done.
    Bounds apply to the suite and to each of its evaluations separately.
    """
    if suite == FETCH:
        return _fetch(folder, as_json=json)
    if folder is not None:
        raise ConfigurationError(f"DIR goes with `{FETCH}` alone: name the data with --data DIR")
    if suite == ALL and options.dry_run:
        return _print_estimate(options, as_json=json)
    from flows.cli.works import run

    def with_compared(
        request: "BenchmarkRequest", summary: "Summary[BenchmarkHead]"
    ) -> "BenchmarkRequest":
        """Add the other suites of `all` and those of --compare."""
        unit = replace(request.units[0], compared=_others(request, summary, options.compare))
        return replace(request, units=(unit,))

    def more(request: "BenchmarkRequest", summary: "Summary[BenchmarkHead]") -> tuple[Path, ...]:
        paths = () if options.calibrate is None else (_calibrator(request, summary, options),)
        return (*paths, *_comparison(with_compared(request, summary), summary, options.compare))

    return run(
        "benchmark", (suite,), options, output, as_json=json, more=more, choose_page=with_compared
    )


def _print_estimate(options: BenchmarkOptions, *, as_json: bool) -> int:
    from flows.run.estimate import estimate
    from flows.run.requests import request_of
    from flows.works.evaluate.idea_input import print_remarks
    from tasks.benchmarks.work import BENCHMARK

    settings = Settings()
    request: BenchmarkRequest = request_of(BENCHMARK, (ALL,), options, settings)
    print_remarks(request.remarks)
    estimates = {
        unit.suite: estimate(BENCHMARK, replace(request, units=(unit,)), settings)
        for unit in request.units
    }
    if as_json:
        omitted_fields = {"steps", "counts", "note", "lost"}
        rows = [
            {"suite": suite, **each.counts, **each.model_dump(exclude=omitted_fields)}
            for suite, each in estimates.items()
        ]
        print_answer("expected", rows)
        return EXIT_DONE
    print_columns(
        [*estimates.items()],
        {
            "suite": lambda one: one[0],
            "items": lambda one: f"{one[1].counts['items']:,}",
            "ideas evaluated first": lambda one: f"{one[1].counts['evaluated_ideas']:,}",
            "model calls": lambda one: f"{one[1].model_calls:,}",
            "prompt tokens": lambda one: f"{one[1].prompt_tokens:,}",
            "completion tokens": lambda one: f"{one[1].completion_tokens:,}",
            "cost": lambda one: usd(one[1].cost_usd) if one[1].model_calls else "none",
        },
    )
    print_note(f"nothing was asked; {next(each.note for each in estimates.values())}")
    return EXIT_DONE


def _others(
    request: "BenchmarkRequest", summary: "Summary[BenchmarkHead]", compared_runs: tuple[str, ...]
) -> "tuple[RunId, ...]":
    """Return the other benchmarks of the command, then the compared ones.

    Raises:
        UnknownNameError: one of the latter is not published.
    """
    from warehouse.kinds.benchmarks import BENCHMARKS
    from warehouse.units.published_work import published_head, published_heads

    with Warehouse(request.warehouse).reader() as connection:
        published_ids = {head.run_id for head in published_heads(connection, BENCHMARKS)}
        compared_ids = [
            published_head(connection, BENCHMARKS, each).run_id for each in compared_runs
        ]
    suites = [each for each in summary.other_run_ids if each in published_ids]
    other_run_ids = dict.fromkeys(map(RunId, (*suites, *compared_ids)))
    return tuple(each for each in other_run_ids if each != summary.head.run_id)


def _comparison(
    request: "BenchmarkRequest", summary: "Summary[BenchmarkHead]", compared_runs: tuple[str, ...]
) -> tuple[Path, ...]:
    from flows.run.declared_campaign import published_page
    from tasks.benchmarks.work import BENCHMARK
    from warehouse.reports import share_reports

    run_ids = (summary.head.run_id, *request.units[0].compared)
    if len(run_ids) == 1:
        return ()
    warehouse = Warehouse(request.warehouse)
    page: Any = published_page(BENCHMARK, warehouse, run_ids[0], request)
    numbers_with_difference = {
        number for each in page.differences for number in (each.first, each.second)
    }
    for number, run_id in enumerate(run_ids, 1):
        if run_id in compared_runs and number not in numbers_with_difference:
            print_note(
                f"--compare {run_id}: it shares no task with what was run, so that there are no"
                " differences to show"
            )
    paths: tuple[Path, ...] = page.write(
        warehouse.reports / f"benchmarks-{content_hash(*run_ids, length=10)}"
    )
    share_reports(warehouse, paths)
    return paths


def _calibrator(
    request: "BenchmarkRequest", summary: "Summary[BenchmarkHead]", options: BenchmarkOptions
) -> Path:
    """Copy the calibrator of suite `novelty`, if there were enough labels for one."""
    from tasks.benchmarks.suite import folder_of
    from tasks.benchmarks.suites.novelty import FILE, SUITE
    from tasks.calibration.calibrator_files import load_calibrator, write_fitted
    from warehouse.kinds.benchmarks import BENCHMARKS
    from warehouse.units.published_work import published_heads

    assert options.calibrate is not None
    warehouse = Warehouse(request.warehouse)
    run_ids = {summary.head.run_id, *summary.other_run_ids}
    with warehouse.reader() as connection:
        heads = published_heads(connection, BENCHMARKS)
    run_ids_of_suite = (each.run_id for each in heads if each.suite == SUITE.name)
    paths = (folder_of(warehouse, each) / FILE for each in run_ids_of_suite if each in run_ids)
    path = next(paths, None)
    if path is None or not path.is_file():
        raise ConfigurationError(
            f"no calibrator was fitted, and {options.calibrate} not written: the row of its"
            " error_rate or mean_absolute_error says why"
        )
    write_fitted(load_calibrator(path), options.calibrate)
    return options.calibrate


def _fetch(folder: Path | None, *, as_json: bool) -> int:
    from tasks.benchmarks.public_data import LOCK_FILE, fetch_sets, manual_sets, public_sets

    if folder is None:
        raise ConfigurationError(f"name the folder: assay benchmark {FETCH} DIR")
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is no folder: name one for the data sets")
    sets = public_sets()
    for one in sets:
        print_note(f"{one.name} (suites {one.suites}), licence: {one.licence}; from {one.home}")
    result = asyncio.run(fetch_sets(sets, folder, Settings().documents, print_note))
    if result.locked:
        print_note(
            f"first fetch of {len(result.locked)} files: their digests are in {folder / LOCK_FILE},"
            " and later fetches hold them to it"
        )
    for other in manual_sets():
        print_note(f"not fetched: {other.name} ({other.files}), in another form at {other.home}")
    if as_json:
        files_by_state = result.model_dump()
        rows = [
            {"file": name, "state": state}
            for state, names in files_by_state.items()
            for name in names
        ]
        state = "incomplete" if result.missing else "fetched"
        print_answer(state, rows, warnings=result.missing, folder=folder)
    return EXIT_FAILURES if result.missing else EXIT_DONE
