"""A ranking as a file: a table for spreadsheets and programs, or a page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from dashboards.render.formats.report_format import ReportFormat
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.answers import RankedIdea
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    import polars


_PAGES = (".html", ".md", ".pdf", ".docx")


def is_table(path: Path) -> bool:
    """Whether the ending names a table."""
    return path.suffix.lower() in _WRITERS


def check_output(path: Path, *, tables_alone: bool = False) -> None:
    """Raises ConfigurationError when the ending names no format, before anything is ranked.

    Args:
        tables_alone: a ranking by scores has one page, HTML.
    """
    endings = (*_WRITERS, *(_PAGES[:1] if tables_alone else _PAGES))
    if path.suffix.lower() not in endings:
        *first, last = endings
        raise ConfigurationError(f"--output {path}: end it in {', '.join(first)} or {last}")


def write_ranking(
    path: Path, ranked: Sequence[RankedIdea], warehouse: Path, run_id: RunId, *, by_matches: bool
) -> None:
    """Write the ranking in the format of the ending, in place of what was there."""
    if path.suffix.lower() == ".html":
        path.write_bytes(_page(Warehouse(warehouse), run_id, by_matches=by_matches))
        return
    _WRITERS[path.suffix.lower()](path, ranked)


def _page(warehouse: Warehouse, run_id: RunId, *, by_matches: bool) -> bytes:
    from dashboards.render.formats.any_format import report_file

    return report_file(warehouse, run_id, None, ReportFormat.HTML, ranking=by_matches)


def _cells(ranked: Sequence[RankedIdea]) -> "polars.DataFrame":
    """Return the ranking as cells for a spreadsheet."""
    import polars

    from dashboards.app.cells import as_text

    rows = [idea.model_dump(mode="json") for idea in ranked]
    names = list(RankedIdea.model_fields)
    return as_text(polars.DataFrame(rows, schema=names, infer_schema_length=None))


def _write_csv(path: Path, ranked: Sequence[RankedIdea]) -> None:
    from dashboards.app.cells import as_csv

    path.write_bytes(as_csv(_cells(ranked)).encode())


def _write_workbook(path: Path, ranked: Sequence[RankedIdea]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    sheet = book.create_sheet("ranking")
    frame = _cells(ranked)
    for row in (frame.columns, *frame.rows()):
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
