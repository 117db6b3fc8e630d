"""Cells of tables and charts, which go to a spreadsheet too, by download or by copying: text there
is text, never a formula.
"""

import polars

from schemas.naming import TURNING

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_AS_TEXT = "'"


def as_text(frame: polars.DataFrame) -> polars.DataFrame:
    """`frame` with an apostrophe before each text that a spreadsheet would compute, and without the
    characters that turn the reading order.

    Numbers stay numbers, also where they are written as text. Source: OWASP, CSV injection.
    """
    return frame.with_columns(
        _protected(name) for name, kind in frame.schema.items() if kind == polars.String
    )


def with_names_as_text(frame: polars.DataFrame) -> polars.DataFrame:
    """`frame` with an apostrophe before each name of a column that a spreadsheet would compute."""
    return frame.rename(
        {name: f"{_AS_TEXT}{name}" for name in frame.columns if name.startswith(_FORMULA_STARTS)}
    )


def _protected(name: str) -> polars.Expr:
    cell = polars.col(name).str.replace_many(dict.fromkeys(TURNING, ""))
    is_formula = (
        cell.str.slice(0, 1).is_in(_FORMULA_STARTS)
        & cell.cast(polars.Float64, strict=False).is_null()
    )
    return polars.when(is_formula).then(_AS_TEXT + cell).otherwise(cell).alias(name)
