"""The report of a published run of whatever kind: of ideas, of manuscripts, of questions, of a
curated set, of tasks, of ideas made in rounds, a draft, or of a benchmark.
"""

from collections.abc import Callable
from enum import StrEnum
from pkgutil import resolve_name
from typing import Any

from dashboards.render.render import OutputFormat, run_markdown_or_html
from dashboards.views.published_page import PublishedPage
from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from warehouse.kinds.curations.landing import CURATIONS
from warehouse.kinds.drafts import DRAFTS
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.kinds.ideations import IDEATIONS
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.kinds.surveys import SURVEYS
from warehouse.queries import Queries
from warehouse.units.kind import Kind
from warehouse.units.reading import published_heads
from warehouse.warehouse import Warehouse


class Reported(StrEnum):
    """What a report may be on."""

    RUN = "run"
    CHECK = "check"
    SURVEY = "survey"
    CURATION = "curation"
    EXPERIMENT = "experiment"
    IDEATION = "ideation"
    DRAFT = "draft"
    BENCHMARK = "benchmark"


_NAMES: dict[Reported, Callable[[Queries], list[RunId]]] = {
    Reported.RUN: lambda queries: [run.run_id for run in queries.list_runs()],
    Reported.CHECK: lambda queries: _published(queries, CHECKS),
    Reported.SURVEY: lambda queries: _published(queries, SURVEYS),
    Reported.CURATION: lambda queries: _published(queries, CURATIONS),
    Reported.EXPERIMENT: lambda queries: _published(queries, EXPERIMENTS),
    Reported.IDEATION: lambda queries: _published(queries, IDEATIONS),
    Reported.DRAFT: lambda queries: _published(queries, DRAFTS),
    Reported.BENCHMARK: lambda queries: [row["run_id"] for row in queries.rows("benchmarks")],
}
"""What is published of each kind, newest first."""


def _published(queries: Queries, kind: Kind[Any, Any]) -> list[RunId]:
    return [head.run_id for head in published_heads(queries.connection, kind)]


def any_report(warehouse: Warehouse, run_id: RunId, output_format: OutputFormat) -> str:
    """The run's report, a check's problems by manuscript, a survey's papers, a curated set, an
    experiment's findings, the lineage of ideas, a draft, or a benchmark's scores beside published
    figures.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: no such lake, or nothing published under that name.
    """
    with warehouse.queries() as queries:
        kind = kind_of(queries, run_id)
        if kind is Reported.RUN:
            thresholds = warehouse.settings.alarms
            return run_markdown_or_html(queries, run_id, output_format, thresholds)
        if kind is Reported.BENCHMARK:
            from dashboards.views.benchmark_page import benchmark_page
            from dashboards.views.benchmark_write import benchmark_html, benchmark_markdown

            page = benchmark_page(queries, [run_id])
            return benchmark_markdown(page) if output_format == "md" else benchmark_html(page)
    return page_of(kind, warehouse, run_id).written_as(output_format)


_PAGES = {
    Reported.CHECK: "dashboards.views.write_check:check_page",
    Reported.SURVEY: "dashboards.views.write_survey:survey_page",
    Reported.CURATION: "dashboards.views.write_curation:curation_page",
    Reported.EXPERIMENT: "dashboards.views.write_experiment:experiment_page",
    Reported.IDEATION: "dashboards.views.write_ideation:ideation_page",
    Reported.DRAFT: "dashboards.views.write_draft:draft_page",
}
"""Imported when one is first looked at."""


def page_of(kind: Reported, warehouse: Warehouse, run_id: RunId) -> PublishedPage:
    """The page of a published run of a kind other than ideas and benchmarks."""
    page: PublishedPage = resolve_name(_PAGES[kind])(warehouse, run_id)
    return page


def kind_of(queries: Queries, run_id: RunId) -> Reported:
    """What is published under that name.

    Raises:
        UnknownNameError: nothing is; names the newest of each.
    """
    published: dict[Reported, list[RunId]] = {}
    for kind, names_of in _NAMES.items():
        published[kind] = names_of(queries)
        if run_id in published[kind]:
            return kind
    newest = "; ".join(
        f"{kind}s {', '.join(names[:3])}" for kind, names in published.items() if names
    )
    raise UnknownNameError(
        f"nothing is published under {run_id}; the newest are: {newest or 'none'}"
    )
