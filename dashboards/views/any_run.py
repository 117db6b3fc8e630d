"""The page of a published run of whatever kind."""

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
    """Whether the page of a kind can be written as `.bib`."""
    own = _own_page(kind)
    return own is not None and get_type_hints(own)["return"].bib is not PublishedPage.bib


def page_of(kind: Kind[Any, Any, Any], warehouse: Warehouse, run_id: RunId) -> PublishedPage:
    """The page of a published run. Raises UnknownNameError when it is not published."""
    own = _own_page(kind)
    return units_page(kind, warehouse, run_id) if own is None else own(warehouse, run_id)


def _own_page(kind: Kind[Any, Any, Any]) -> Callable[[Warehouse, RunId], PublishedPage] | None:
    """What makes the page of a kind, imported when it is first looked at; None: it has none."""
    place = f"{__package__}.write_{kind.word}"
    if find_spec(place) is None:
        return None
    page: Callable[[Warehouse, RunId], PublishedPage] = resolve_name(f"{place}:{kind.word}_page")
    return page


def any_view(warehouse: Warehouse, run_id: RunId) -> Page:
    """The report of what is published under a name, whatever it is.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: no such lake, or nothing published under that name.
    """
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
    return page_of(kind, warehouse, run_id).page()
