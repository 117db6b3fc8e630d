"""The page of a published run of whatever kind."""

from pkgutil import resolve_name
from typing import Any, get_type_hints

from dashboards.render.page import Page
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.units.kind import Kind
from warehouse.units.reading import published_kind
from warehouse.warehouse import Warehouse

_PAGES = {
    "run": "dashboards.views.write_run:evaluated_run",
    "ranking": "dashboards.views.write_ranking:ranked_run",
    "check": "dashboards.views.write_check:check_page",
    "survey": "dashboards.views.write_survey:survey_page",
    "curation": "dashboards.views.write_curation:curation_page",
    "experiment": "dashboards.views.write_experiment:experiment_page",
    "ideation": "dashboards.views.write_ideation:ideation_page",
    "draft": "dashboards.views.write_draft:draft_page",
}
"""By the words of kinds; imported when one is first looked at."""


def cites_works(kind: Kind[Any, Any, Any]) -> bool:
    """Whether the page of a kind can be written as `.bib`."""
    page = get_type_hints(resolve_name(_PAGES[kind.word]))["return"]
    return page.bib is not PublishedPage.bib


def page_of(kind: Kind[Any, Any, Any], warehouse: Warehouse, run_id: RunId) -> PublishedPage:
    """The page of a published run. Raises UnknownNameError when it is not published."""
    page: PublishedPage = resolve_name(_PAGES[kind.word])(warehouse, run_id)
    return page


def any_view(warehouse: Warehouse, run_id: RunId) -> Page:
    """The report of what is published under a name, whatever it is.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: no such lake, or nothing published under that name.
    """
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
        if kind is BENCHMARKS:
            from dashboards.views.benchmark_page import benchmark_page
            from dashboards.views.benchmark_write import benchmark_view

            return benchmark_view(benchmark_page(queries, [run_id]))
    return page_of(kind, warehouse, run_id).page()
