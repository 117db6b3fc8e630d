"""Tables: sortable, searchable and downloadable as Streamlit's grid is; long ones come in pages."""

from collections.abc import Mapping
from typing import Any

import polars
import streamlit as st

from dashboards.app import cells

ROWS_PER_PAGE = 200
ROW_PIXELS = 35
COLUMN = st.column_config


def show(
    frame: polars.DataFrame,
    columns: Mapping[str, Any],
    *,
    key: str,
    rows_per_page: int = ROWS_PER_PAGE,
    selectable: bool = False,
    rows_shown: int | None = None,
) -> dict[str, Any] | None:
    """Show `columns` of `frame` in their order; the row selected where `selectable`.

    A frame of more than `rows_per_page` rows comes in pages; sorting within a page is the grid's,
    the order of the pages the frame's.

    Args:
        columns: by column name, its label or what the functions below return.
        rows_shown: how many are seen without scrolling; None: as many as Streamlit shows.
    """
    page = _page(frame.select(list(columns)), rows_per_page, key)
    event = st.dataframe(
        cells.as_text(page),
        hide_index=True,
        height="auto" if rows_shown is None else (min(len(page), rows_shown) + 1) * ROW_PIXELS + 3,
        column_config={
            name: COLUMN.Column(label) if isinstance(label, str) else label
            for name, label in columns.items()
        },
        key=f"{key}_table",
        on_select="rerun" if selectable else "ignore",
        selection_mode="single-row",
    )
    rows = event.selection.rows if selectable and event is not None else []
    return page.row(rows[0], named=True) if rows else None


def _page(frame: polars.DataFrame, rows_per_page: int, key: str) -> polars.DataFrame:
    pages = -(-len(frame) // rows_per_page)
    if pages <= 1:
        return frame
    number = int(
        st.number_input(
            f"Page, 1 to {pages:,} ({len(frame):,} rows)",
            min_value=1,
            max_value=pages,
            value=1,
            key=f"{key}_page",
            bind="query-params",
        )
    )
    return frame.slice((number - 1) * rows_per_page, rows_per_page)


def count(label: str, help: str | None = None) -> Any:
    return COLUMN.NumberColumn(label, help=help, format="localized")


def wide(label: str, help: str | None = None) -> Any:
    """A column of titles."""
    return COLUMN.TextColumn(label, help=help, width="large")


def score(label: str, help: str | None = None) -> Any:
    return COLUMN.NumberColumn(label, help=help, format="%.2f")
