"""The report of a published run of whatever kind: of ideas, of manuscripts, of a benchmark."""

from dashboards.reports.benchmark_page import benchmark_page
from dashboards.reports.benchmark_write import benchmark_html, benchmark_markdown
from dashboards.reports.render import OutputFormat, run_report
from dashboards.reports.write_check import check_report
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.benchmarks.queries import benchmarks_of
from warehouse.layout import Layout
from warehouse.queries import open_queries


def any_report(
    layout: Layout, run_id: RunId, output_format: OutputFormat, *, catalogue_url: str | None = None
) -> str:
    """The run's report, a check's problems by manuscript, or a benchmark's scores beside published
    figures.

    Raises:
        ConfigurationError: no such lake, or nothing published under that name.
    """
    with open_queries(layout, catalogue_url=catalogue_url) as queries:
        evaluated = [run.run_id for run in queries.list_runs()]
        checked = [row["run_id"] for row in queries.rows("check_runs", dataset=None)]
        measured = [head.run_id for head in benchmarks_of(queries)]
        if run_id in measured:
            page = benchmark_page(queries, [run_id])
            return benchmark_markdown(page) if output_format == "md" else benchmark_html(page)
    if run_id in checked:
        return check_report(layout, run_id, output_format, catalogue_url=catalogue_url)
    if run_id in evaluated:
        return run_report(layout, run_id, output_format, catalogue_url=catalogue_url)
    kinds = {"runs": evaluated, "checks": checked, "benchmarks": measured}
    newest = (
        "; ".join(f"{kind} {', '.join(names[:3])}" for kind, names in kinds.items() if names)
        or "none"
    )
    raise ConfigurationError(f"nothing is published under {run_id}; the newest are: {newest}")
