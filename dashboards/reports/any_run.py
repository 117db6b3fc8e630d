"""The report of a published run of whatever kind: of ideas, of manuscripts, of questions, of a
curated set, of tasks, of a benchmark.
"""

from collections.abc import Callable
from enum import StrEnum

from dashboards.reports.render import OutputFormat, run_markdown_or_html
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.layout import Layout
from warehouse.queries import Queries, open_queries


class Reported(StrEnum):
    """What a report may be on."""

    RUN = "run"
    CHECK = "check"
    SURVEY = "survey"
    CURATION = "curation"
    EXPERIMENT = "experiment"
    BENCHMARK = "benchmark"


_NAMES: dict[Reported, Callable[[Queries], list[RunId]]] = {
    Reported.RUN: lambda queries: [run.run_id for run in queries.list_runs()],
    Reported.CHECK: lambda queries: _named(queries, "check_runs", dataset=None),
    Reported.SURVEY: lambda queries: _named(queries, "survey_runs"),
    Reported.CURATION: lambda queries: _named(queries, "curation_runs"),
    Reported.EXPERIMENT: lambda queries: _named(queries, "experiment_runs"),
    Reported.BENCHMARK: lambda queries: _named(queries, "benchmarks"),
}
"""What is published of each kind, newest first."""


def _named(queries: Queries, name: str, **parameters: object) -> list[RunId]:
    return [row["run_id"] for row in queries.rows(name, **parameters)]


def any_report(
    layout: Layout, run_id: RunId, output_format: OutputFormat, *, catalogue_url: str | None = None
) -> str:
    """The run's report, a check's problems by manuscript, a survey's papers, a curated set, an
    experiment's findings, or a benchmark's scores beside published figures.

    Raises:
        ConfigurationError: no such lake, or nothing published under that name.
    """
    with open_queries(layout, catalogue_url=catalogue_url) as queries:
        kind = kind_of(queries, run_id)
        if kind is Reported.RUN:
            return run_markdown_or_html(queries, run_id, output_format)
        if kind is Reported.BENCHMARK:
            from dashboards.reports.benchmark_page import benchmark_page
            from dashboards.reports.benchmark_write import benchmark_html, benchmark_markdown

            page = benchmark_page(queries, [run_id])
            return benchmark_markdown(page) if output_format == "md" else benchmark_html(page)
    if kind is Reported.CHECK:
        from dashboards.reports.write_check import check_report

        return check_report(layout, run_id, output_format, catalogue_url=catalogue_url)
    if kind is Reported.CURATION:
        from dashboards.reports.write_curation import curation_report

        return curation_report(layout, run_id, output_format, catalogue_url=catalogue_url)
    if kind is Reported.EXPERIMENT:
        from dashboards.reports.write_experiment import experiment_report

        return experiment_report(layout, run_id, output_format, catalogue_url=catalogue_url)
    from dashboards.reports.write_survey import survey_report

    return survey_report(layout, run_id, output_format, catalogue_url=catalogue_url)


def kind_of(queries: Queries, run_id: RunId) -> Reported:
    """What is published under that name.

    Raises:
        ConfigurationError: nothing is; names the newest of each.
    """
    published: dict[Reported, list[RunId]] = {}
    for kind, names_of in _NAMES.items():
        published[kind] = names_of(queries)
        if run_id in published[kind]:
            return kind
    newest = "; ".join(
        f"{kind}s {', '.join(names[:3])}" for kind, names in published.items() if names
    )
    raise ConfigurationError(
        f"nothing is published under {run_id}; the newest are: {newest or 'none'}"
    )
