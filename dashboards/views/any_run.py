"""The report of a published run of any kind."""

from pkgutil import resolve_name
from typing import Any, get_type_hints

from dashboards.render.page import Page
from dashboards.views.published_page import PublishedPage
from dashboards.views.run_page import run_page
from schemas.identifiers import RunId
from warehouse.kinds.runs.landing import RUNS
from warehouse.units.kind import Kind
from warehouse.units.reading import published_kind
from warehouse.warehouse import Warehouse


def any_view(warehouse: Warehouse, run_id: RunId) -> Page:
    """The run's report, a check's problems by manuscript, a survey's papers, a curated set, an
    experiment's findings, the lineage of ideas, a draft, or a benchmark's scores beside published
    figures.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: no such lake, or nothing published under that name.
    """
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
        if kind is RUNS:
            return run_page(queries, run_id, {}, warehouse.settings.alarms)
    return page_of(kind, warehouse, run_id).page()


_PAGES = {
    "check": "dashboards.views.write_check:check_page",
    "survey": "dashboards.views.write_survey:survey_page",
    "curation": "dashboards.views.write_curation:curation_page",
    "experiment": "dashboards.views.write_experiment:experiment_page",
    "ideation": "dashboards.views.write_ideation:ideation_page",
    "draft": "dashboards.views.write_draft:draft_page",
    "benchmark": "dashboards.views.write_benchmark:benchmark_page",
}
"""By the words of kinds; imported when one is first looked at."""


def cites_works(kind: Kind[Any, Any, Any]) -> bool:
    """Whether the page of a kind can be written as `.bib`."""
    page = get_type_hints(resolve_name(_PAGES[kind.word]))["return"]
    return page.bib is not PublishedPage.bib


def page_of(kind: Kind[Any, Any, Any], warehouse: Warehouse, run_id: RunId) -> PublishedPage:
    """Return the page of a published run of any kind but that of ideas."""
    page: PublishedPage = resolve_name(_PAGES[kind.word])(warehouse, run_id)
    return page
