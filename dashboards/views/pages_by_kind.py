"""Pages of published work by kind."""

from collections.abc import Callable
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, get_type_hints

from dashboards.render.page import Page
from dashboards.views.published_page import PublishedPage
from dashboards.views.units_page import units_page
from schemas.identifiers import RunId
from warehouse.units.kind import Kind
from warehouse.units.published_work import published_kind
from warehouse.warehouse import Warehouse


def cites_works(kind: Kind[Any, Any, Any]) -> bool:
    """Return whether the page of a kind can be written as `.bib`."""
    page_function = _page_function(kind)
    return (
        page_function is not None
        and get_type_hints(page_function)["return"].bib is not PublishedPage.bib
    )


def page_of(kind: Kind[Any, Any, Any], warehouse: Warehouse, run_id: RunId) -> PublishedPage:
    """Return the page of published work; raise UnknownNameError without any."""
    page_function = _page_function(kind)
    return (
        units_page(kind, warehouse, run_id)
        if page_function is None
        else page_function(warehouse, run_id)
    )


def _page_function(kind: Kind[Any, Any, Any]) -> Callable[[Warehouse, RunId], PublishedPage] | None:
    """Return the kind's page function, imported at first use; None: it has none."""
    place = f"{__package__}.write_{kind.word}"
    if find_spec(place) is None:
        return None
    page: Callable[[Warehouse, RunId], PublishedPage] = resolve_name(f"{place}:{kind.word}_page")
    return page


def published_view(warehouse: Warehouse, run_id: RunId) -> Page:
    """Return the report of published work of any kind.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: there is no such lake, or nothing published under that name.
    """
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
    return page_of(kind, warehouse, run_id).page()
