"""The report on a curated set: each idea with its statements and the sentences they rest on, what
was left out and why.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from dashboards.reports import wording
from dashboards.reports.curated_set import CuratedSet, write_curated_set
from dashboards.reports.html_page import html_page
from dashboards.reports.render import OutputFormat, rendered
from schemas.curation import Curation
from schemas.curation_edit import CurationEdit, EditAgreement
from schemas.identifiers import RunId
from warehouse.curations.edits import edited, edits_of
from warehouse.curations.queries import curation_head, curations_of
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.parquet import write_bytes

IDEAS = "ideas.jsonl"
Agreement = Callable[[Sequence[CurationEdit]], tuple[EditAgreement, ...]]


def _unknown(_: Sequence[CurationEdit]) -> tuple[EditAgreement, ...]:
    return ()


def curation_report(
    layout: Layout,
    run_id: RunId,
    output_format: OutputFormat = "md",
    *,
    catalogue_url: str | None = None,
) -> str:
    """The report as Markdown or as one HTML page.

    Raises UnknownNameError when the run is not published.
    """
    page = curated_set(layout, run_id, catalogue_url=catalogue_url)
    return _html(page) if output_format == "html" else _markdown(page)


def curation_json(layout: Layout, run_id: RunId, *, catalogue_url: str | None = None) -> str:
    """Every paper as it was landed. Raises UnknownNameError when the run is not published."""
    found = curated_set(layout, run_id, catalogue_url=catalogue_url).curations
    return TypeAdapter(tuple[Curation, ...]).dump_json(found, indent=2).decode() + "\n"


def write_curation_report(
    layout: Layout, run_id: RunId, agreement_on: Agreement, *, catalogue_url: str | None = None
) -> tuple[Path, ...]:
    """Write `reports/<run_id>/index.html`, `index.md`, `ideas.jsonl` and its datasheet; their
    paths.
    """
    page = curated_set(layout, run_id, agreement_on, catalogue_url=catalogue_url)
    folder = layout.reports / run_id
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "index.html", folder / "index.md"
    for path, text in zip(paths, (_html(page), _markdown(page)), strict=True):
        building = path.with_suffix(".building")
        write_bytes(building, text.encode("utf-8", "replace"))
        building.replace(path)
    return *paths, *write_curated_set(folder / IDEAS, page)


def curated_set(
    layout: Layout,
    run_id: RunId,
    agreement_on: Agreement = _unknown,
    *,
    catalogue_url: str | None = None,
) -> CuratedSet:
    """All of a published run, as people have edited it; `agreement_on` says how far they agree.

    Raises UnknownNameError when it is not published.
    """
    with open_reader(layout, catalogue_url=catalogue_url) as connection:
        edits = edits_of(connection, run_id)
        found = (edited(each, edits) for each in curations_of(connection, run_id))
        head = curation_head(connection, run_id)
        return CuratedSet(head, tuple(found), edits, agreement_on(edits))


def _markdown(page: CuratedSet) -> str:
    banners = wording.banners(page.head.engine, "")
    return rendered("curation.md.jinja", page=page, banners=banners)


def _html(page: CuratedSet) -> str:
    return html_page(_markdown(page), title=f"Curation {page.head.run_id}")
