"""Spreadsheet cells in which text is never a formula."""

import csv
import io
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from schemas.literature.naming import unturned
from schemas.text.patterns import bounded

if TYPE_CHECKING:
    import polars  # late: it takes long to import

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Readers drop these before they look for a formula, each some of them.
_DROPPED_SIGNS = "".join(map(chr, (*range(0x21), *range(0x7F, 0xA1), *range(0x200B, 0x2010)))) + (
    "\xad\u2028\u2029\u2060\ufeff"
)
# As its line terminator, these make `csv.writer` quote a cell that contains one.
_QUOTED_SIGNS = ";\t\r\n"
_SEPARATOR = bounded(r'([;\t\r\n]"*)')


def text_cell(text: str) -> str:
    """Return `text` without formulas or characters that change the reading order."""
    return escape_formula(unturned(text))


def frame_as_text(frame: "polars.DataFrame") -> "polars.DataFrame":
    """Return `frame` with texts written by `text_cell`; numbers stay numbers."""
    import polars

    texts = (polars.String, polars.Categorical, polars.Enum)
    return frame.with_columns(
        polars.col(name).cast(polars.String).map_elements(text_cell, return_dtype=polars.String)
        for name, kind in frame.schema.items()
        if kind in texts
    )


def frame_as_csv(frame: "polars.DataFrame") -> str:
    """Return `frame` as CSV in which no text is a formula."""
    import polars

    rows = frame.with_columns(polars.selectors.boolean().cast(polars.String)).rows()
    return "".join(map(csv_line, (frame.columns, *rows)))


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would compute.

    Numbers written as text stay numbers. Source: OWASP, CSV injection.
    """
    starts = (text, text.lstrip(_DROPPED_SIGNS))
    is_formula = any(each.startswith(_FORMULA_STARTS) for each in starts)
    return f"'{text}" if is_formula and not _is_number(text) else text


def csv_line(cells: Sequence[object]) -> str:
    """Return a line of CSV without formulas, for any separator of the reader."""
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator=_QUOTED_SIGNS).writerow(map(_csv_cell, cells))
    return f"{line.getvalue().removesuffix(_QUOTED_SIGNS)}\n"


def _csv_cell(cell: object) -> object:
    if cell is None or isinstance(cell, int | float | Decimal):
        return cell
    # A reader that splits at `;` ignores quotation marks in the middle of its cells.
    first, *others = _SEPARATOR.split(text_cell(str(cell)))
    pairs = zip(others[::2], others[1::2], strict=True)
    return first + "".join(f"{separator}{escape_formula(text)}" for separator, text in pairs)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not text[0].isspace() and "_" not in text
