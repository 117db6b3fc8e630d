"""The report of a published run of whatever kind: of ideas, of manuscripts, of questions, of a
benchmark.
"""

from typing import Any

from dashboards.reports.benchmark_page import benchmark_page
from dashboards.reports.benchmark_write import benchmark_html, benchmark_markdown
from dashboards.reports.render import OutputFormat, run_report
from dashboards.reports.write_check import check_report
from dashboards.reports.write_survey import survey_report
from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from warehouse.benchmarks.landing import BENCHMARKS
from warehouse.benchmarks.queries import benchmarks_of
from warehouse.layout import Layout
from warehouse.manuscripts.landing import CHECKS
from warehouse.queries import Queries, open_queries
from warehouse.runs.landing import RUNS
from warehouse.surveys.landing import SURVEYS
from warehouse.units.kind import Kind


def any_report(
    layout: Layout, run_id: RunId, output_format: OutputFormat, *, catalogue_url: str | None = None
) -> str:
    """The run's report, a check's problems by manuscript, a survey's papers, or a benchmark's scores
    beside published figures.

    Raises:
        ConfigurationError: no such lake, or nothing published under that name.
    """
    with open_queries(layout, catalogue_url=catalogue_url) as queries:
        kind = kind_of(queries, run_id)
        if kind is BENCHMARKS:
            page = benchmark_page(queries, [run_id])
            return benchmark_markdown(page) if output_format == "md" else benchmark_html(page)
    report = {CHECKS: check_report, SURVEYS: survey_report}.get(kind, run_report)
    return report(layout, run_id, output_format, catalogue_url=catalogue_url)


def kind_of(queries: Queries, run_id: RunId) -> Kind[Any, Any]:
    """What is published under that name: RUNS, CHECKS, SURVEYS or BENCHMARKS.

    Raises:
        ConfigurationError: nothing is; names the newest of each.
    """
    published: dict[Kind[Any, Any], list[RunId]] = {
        RUNS: [run.run_id for run in queries.list_runs()],
        CHECKS: [row["run_id"] for row in queries.rows("check_runs", dataset=None)],
        SURVEYS: [row["run_id"] for row in queries.rows("survey_runs")],
        BENCHMARKS: [head.run_id for head in benchmarks_of(queries)],
    }
    for kind, names in published.items():
        if run_id in names:
            return kind
    newest = "; ".join(
        f"{kind.word}s {', '.join(names[:3])}" for kind, names in published.items() if names
    )
    raise UnknownNameError(
        f"nothing is published under {run_id}; the newest are: {newest or 'none'}"
    )
