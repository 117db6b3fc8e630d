"""Page “Work”: published work of every kind, and its reports."""

from typing import Any

from starlette.responses import Response

from dashboards.app.fields import Field, form, option_in_address
from dashboards.app.site import PageContent, Visit, attachment, idea_path, report_files, run_path
from dashboards.app.site_pages.jobs import in_progress
from dashboards.render import page as pg
from dashboards.render import wording
from dashboards.render.formats.report_file import report_file
from dashboards.render.formats.report_format import ReportFormat
from dashboards.views.pages_by_kind import published_view
from dashboards.views.ranking_page import ranking_view
from dashboards.views.run_page import run_view
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import IdeaId, RunId
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS
from warehouse.queries import Queries
from warehouse.units.kind import Kind

EVERY_KIND, MOST_SHOWN = "(every kind)", 500


def show(visit: Visit) -> PageContent:
    """Show active work, then published work, newest first."""
    lake = visit.lake
    heads = {kind: lake.heads(kind) for kind in KINDS if len(kind.ids) == 1}
    counts = {kind.word: len(kind_heads) for kind, kind_heads in heads.items() if kind_heads}
    active_runs = tuple(in_progress(visit))
    if not counts:
        return PageContent(
            "Work", (*active_runs, pg.text("Nothing has been published here yet.")), live=True
        )
    kind = option_in_address(visit, "kind", list(counts), EVERY_KIND)
    rows = [
        (each, head)
        for each, kind_heads in heads.items()
        for head in kind_heads.values()
        if kind in (EVERY_KIND, each.word)
    ]
    rows.sort(key=lambda row: row[1].started_at, reverse=True)
    options = [(EVERY_KIND, EVERY_KIND)]
    options += [(word, f"{word} ({count:,})") for word, count in counts.items()]
    columns = ("Started", "Kind", "Name", "Engine", "Ended early because")
    blocks = [pg.table(columns, (_row(each, head) for each, head in rows[:MOST_SHOWN]))]
    heading = [pg.heading("Published")] if active_runs else []
    more = [pg.text(f"The newest {MOST_SHOWN} of {len(rows):,}: choose a kind.")]
    return PageContent(
        "Work",
        (*active_runs, *heading, *blocks, *(more if len(rows) > MOST_SHOWN else ())),
        form(Field("kind", "Kind", kind, EVERY_KIND, options)),
        live=True,
    )


def _row(kind: Kind[Any, Any, Any], head: Any) -> tuple[pg.Part, ...]:
    end_reason = head.ended_early()
    return (
        head.started_at,
        kind.word,
        pg.report(str(head.run_id), run_path(head.run_id)),
        head.engine,
        "" if end_reason is None else wording.reason(end_reason),
    )


def show_run(visit: Visit) -> PageContent:
    """Show the report of published work of any kind."""
    run_id = RunId(visit.path["run_id"])
    if visit.lake.kind(run_id).word == RUNS.word:
        page = visit.lake.ask(run_with_links, run_id)
    else:
        page = visit.lake.ask_warehouse(published_view, run_id)
    return PageContent(
        page.document_name,
        (pg.facts(report_files(run_id, "", ReportFormat.BIB)), *page.blocks),
        address=lambda place: _address(run_id, place),
        heading=page.title,
    )


def run_with_links(queries: Queries, run_id: RunId) -> pg.Page:
    """Return the report of a run of ideas, with links to the ideas."""
    names = {idea.idea_id: str(idea.idea_id) for idea in queries.ranking(run_id)}
    return run_view(queries, run_id, names)


def _address(run_id: RunId, place: str) -> str:
    folder, _, name = place.partition("/")
    if folder == "ideas" and name:
        return idea_path(run_id, name)
    return f"{run_path(run_id)}/ranking" if place == "ranking" else place


def show_ranking(visit: Visit) -> PageContent:
    """Show the ranking of a run by matches.

    Raises:
        UnknownNameError: the run has none.
    """
    run_id = RunId(visit.path["run_id"])
    page = visit.lake.ask(ranking_view, run_id)
    if page is None:
        raise UnknownNameError(f"run {run_id} has no ranking by matches yet: `assay rank {run_id}`")
    return PageContent(page.document_name, page.blocks, heading=page.title)


def send_file(visit: Visit) -> Response:
    """Send the report of a run or of one of its ideas as a file.

    Raises:
        ConfigurationError: the format is unknown, or the report cannot be written in it.
        UnknownNameError: there is no such run or idea.
    """
    run_id, text = RunId(visit.path["run_id"]), visit.query.get("format", "")
    if text not in set(ReportFormat):
        raise ConfigurationError(f"format: choose one of {', '.join(ReportFormat)}")
    output_format, idea = ReportFormat(text), visit.query.get("idea")
    idea_id = None if idea is None else IdeaId(idea)
    full = idea_id is not None and visit.query.get("full") == "1"
    content = report_file(visit.lake.warehouse, run_id, idea_id, output_format, full=full)
    return attachment(content, idea or run_id, output_format, output_format.media_type)
