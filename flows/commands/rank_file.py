"""A ranking as a file: a table for spreadsheets and programs, or a page."""

import csv
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import orjson

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.settings import Settings
from warehouse.answers import RankedIdea
from warehouse.layout import Layout

_FORMULA_STARTS = ("=", "+", "-", "@", "\t")


def check_output(path: Path) -> None:
    """Raises ConfigurationError when the ending names no format, before anything is ranked."""
    if path.suffix.lower() not in (*_WRITERS, ".html"):
        raise ConfigurationError(f"--output {path}: end it in {', '.join(_WRITERS)} or .html")


def write_ranking(
    path: Path, ranked: Sequence[RankedIdea], warehouse: Path, run_id: RunId, *, by_matches: bool
) -> None:
    """Write the ranking in the format of the ending, in place of what was there."""
    if path.suffix.lower() == ".html":
        path.write_bytes(_page(Layout(warehouse), run_id, by_matches=by_matches))
        return
    _WRITERS[path.suffix.lower()](path, ranked)


def _page(layout: Layout, run_id: RunId, *, by_matches: bool) -> bytes:
    from dashboards.reports.any_run import any_report
    from dashboards.reports.formats.any_format import document
    from dashboards.reports.formats.report_format import ReportFormat
    from dashboards.reports.render import ranking_report

    report = ranking_report if by_matches else any_report
    report_of = partial(report, layout, run_id, catalogue_url=Settings().catalogue)
    return document(report_of, run_id, ReportFormat.HTML)


def _cells(ranked: Sequence[RankedIdea]) -> list[list[object]]:
    rows = [list(idea.model_dump(mode="json").values()) for idea in ranked]
    return [list(RankedIdea.model_fields), *([_inert(cell) for cell in row] for row in rows)]


def _inert(cell: object) -> object:
    """A title that begins like a formula would be one to a spreadsheet."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


def _write_csv(path: Path, ranked: Sequence[RankedIdea]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(_cells(ranked))


def _write_workbook(path: Path, ranked: Sequence[RankedIdea]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    sheet = book.create_sheet("ranking")
    for row in _cells(ranked):
        sheet.append(
            [ILLEGAL_CHARACTERS_RE.sub("", cell) if isinstance(cell, str) else cell for cell in row]
        )
    book.save(path)


def _write_json(path: Path, ranked: Sequence[RankedIdea]) -> None:
    rows = [idea.model_dump(mode="json") for idea in ranked]
    path.write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))


_WRITERS: dict[str, Callable[[Path, Sequence[RankedIdea]], None]] = {
    ".csv": _write_csv,
    ".xlsx": _write_workbook,
    ".json": _write_json,
}
