"""Reports as text."""

from dashboards.render.render import (
    OutputFormat,
    published_idea,
    published_ranking,
    written,
)
from dashboards.views.any_run import any_view
from schemas.identifiers import IdeaId, RunId
from warehouse.warehouse import Warehouse


def idea_report(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId, form: OutputFormat, *, full: bool = False
) -> str:
    return written(published_idea(warehouse, run_id, idea_id, full=full), form)


def run_report(warehouse: Warehouse, run_id: RunId, form: OutputFormat) -> str:
    """Of a published run of whatever kind."""
    return written(any_view(warehouse, run_id), form)


def ranking_report(
    warehouse: Warehouse, run_id: RunId, form: OutputFormat, *, ranking_id: str | None = None
) -> str:
    return written(published_ranking(warehouse, run_id, ranking_id=ranking_id), form)
