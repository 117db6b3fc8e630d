"""Frames for spreadsheets, downloaded or copied."""

import polars

from dashboards.spreadsheet_cells import csv_line, text_cell

_TEXTS = (polars.String, polars.Categorical, polars.Enum)


def as_text(frame: polars.DataFrame) -> polars.DataFrame:
    """Return `frame` with texts written by `text_cell`; numbers stay numbers."""
    return frame.with_columns(
        polars.col(name).cast(polars.String).map_elements(text_cell, return_dtype=polars.String)
        for name, kind in frame.schema.items()
        if kind in _TEXTS
    )


def as_csv(frame: polars.DataFrame) -> str:
    """Return `frame` as CSV in which no text is a formula."""
    rows = frame.with_columns(polars.selectors.boolean().cast(polars.String)).rows()
    return "".join(map(csv_line, (frame.columns, *rows)))
