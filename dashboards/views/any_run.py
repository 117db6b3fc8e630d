"""The report of a published run of whatever kind: of ideas, of manuscripts, of questions, of a
curated set, of tasks, of ideas made in rounds, a draft, or of a benchmark.
"""

from collections.abc import Callable
from typing import Any

from dashboards.render.render import OutputFormat, run_markdown_or_html
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.kinds.curations.landing import CURATIONS
from warehouse.kinds.drafts import DRAFTS
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.kinds.ideations import IDEATIONS
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.kinds.runs.landing import RUNS
from warehouse.layout import Layout
from warehouse.queries import open_queries
from warehouse.units.kind import Kind
from warehouse.units.reading import published_kind


def any_report(
    layout: Layout, run_id: RunId, output_format: OutputFormat, *, catalogue_url: str | None = None
) -> str:
    """The run's report, a check's problems by manuscript, a survey's papers, a curated set, an
    experiment's findings, the lineage of ideas, a draft, or a benchmark's scores beside published
    figures.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: no such lake, or nothing published under that name.
    """
    with open_queries(layout, catalogue_url=catalogue_url) as queries:
        kind = published_kind(queries.connection, run_id)
        if kind is RUNS:
            return run_markdown_or_html(queries, run_id, output_format)
        if kind is BENCHMARKS:
            from dashboards.views.benchmark_page import benchmark_page
            from dashboards.views.benchmark_write import benchmark_html, benchmark_markdown

            page = benchmark_page(queries, [run_id])
            return benchmark_markdown(page) if output_format == "md" else benchmark_html(page)
    return page_of(kind, layout, run_id, catalogue_url=catalogue_url).written_as(output_format)


def page_of(
    kind: Kind[Any, Any], layout: Layout, run_id: RunId, *, catalogue_url: str | None = None
) -> PublishedPage:
    """The page of a published run of a kind other than ideas and benchmarks."""
    opened: Callable[..., PublishedPage]
    if kind is CHECKS:
        from dashboards.views.write_check import check_page as opened
    elif kind is CURATIONS:
        from dashboards.views.write_curation import curation_page as opened
    elif kind is EXPERIMENTS:
        from dashboards.views.write_experiment import experiment_page as opened
    elif kind is IDEATIONS:
        from dashboards.views.write_ideation import ideation_page as opened
    elif kind is DRAFTS:
        from dashboards.views.write_draft import draft_page as opened
    else:
        from dashboards.views.write_survey import survey_page as opened
    return opened(layout, run_id, catalogue_url=catalogue_url)
