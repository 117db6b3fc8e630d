"""The page of a published run of a declared kind, with what only tasks can compute."""

import dataclasses
from typing import Any

from dashboards.views.any_run import page_of
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.work import Request
from tasks.work.declaration import Work
from warehouse.warehouse import Warehouse


def published_page(
    work: Work[Any, Any, Any],
    warehouse: Warehouse,
    run_id: RunId,
    request: Request[Any, Any] | None = None,
) -> PublishedPage:
    """All of a published run. Raises UnknownNameError when it is not published.

    Args:
        request: of the command; None: it is looked at later.
    """
    page: Any = page_of(work.kind, warehouse, run_id)
    complete: PublishedPage = dataclasses.replace(page, **work.figures(page, request))
    return complete
