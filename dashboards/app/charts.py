"""Charts: a title, units on every axis, colours that everyone can tell apart, and words for who
cannot see them.

Colours are Okabe and Ito's (Color Universal Design, 2008); where lines share a chart they differ in
dash as well.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars
import streamlit as st

from dashboards.app import cells

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
GOOD, BAD, NEUTRAL = "#0072B2", "#D55E00", "#8C8C8C"
HEIGHT, ROW_HEIGHT, PART_HEIGHT = 260, 22, 12

OTHERS = "(others)"


def names_within(pixels: int) -> Any:
    """A limit for names beside a chart: on a phone they leave most of the width to the data."""
    return alt.ExprRef(f"max(100, min({pixels}, windowSize()[0] * 0.3))")


Drawn = alt.Chart | alt.LayerChart | alt.FacetChart


def show(chart: Drawn, title: str, key: str, described: str = "") -> None:
    """Draw a chart under a title of our own words.

    Args:
        described: what it shows, for screen readers; default: the title.
    """
    configured = (
        _with_cells_as_text(chart)
        .properties(title=title)
        .configure_title(fontSize=15, anchor="start")
        .configure_range(category=list(PALETTE))
        .configure_axisY(labelFlush=False)  # else the names at both ends stand beside their rows
    )
    st.altair_chart(configured, width="stretch", key=key, alt=described or title)


def _with_cells_as_text(chart: Any) -> Any:
    """A reader can take away the table behind a chart too."""
    copy: Drawn = chart.copy(deep=False)
    if isinstance(copy.data, polars.DataFrame):
        copy.data = cells.as_text(copy.data)
    if isinstance(copy, alt.LayerChart):
        copy.layer = [
            _with_cells_as_text(part)
            for part in copy.layer
            if isinstance(part, alt.Chart | alt.LayerChart)
        ]
    return copy


def bars(
    frame: polars.DataFrame,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    colour: str | None = None,
    stacked: bool = True,
) -> Drawn:
    """Horizontal bars: quantities `x` by names `y`, largest first; the parts of a name stacked, or
    one below the other. Where parts outnumber the colours, the smaller ones share one.
    """
    encoded: dict[str, Any] = {
        "x": alt.X(x, type="quantitative", title=x_title),
        "y": alt.Y(
            y,
            type="nominal",
            title=y_title,
            sort="-x",
            axis=alt.Axis(labelLimit=names_within(260), maxExtent=300),
        ),
        "tooltip": _tooltip(frame),
    }
    height = alt.Step(ROW_HEIGHT)
    if colour and not stacked:
        encoded["yOffset"] = alt.YOffset(colour, type="nominal", sort=None)
        height = alt.Step(PART_HEIGHT, **{"for": "offset"})
    coloured = _colour(colour)
    if colour and frame[colour].n_unique() > len(PALETTE):
        own = _by_size(frame, x, colour)[: len(PALETTE) - 1]
        frame = frame.with_columns(
            polars.when(polars.col(colour).is_in(own))
            .then(polars.col(colour))
            .otherwise(polars.lit(OTHERS))
        )
        shades = alt.Scale(domain=[*own, OTHERS], range=[*PALETTE[: len(own)], NEUTRAL])
        coloured = {"color": coloured["color"].scale(shades)}
    drawn: alt.Chart = (
        alt.Chart(frame, height=height).mark_bar(color=PALETTE[0]).encode(**encoded, **coloured)
    )
    return drawn


def _by_size(frame: polars.DataFrame, quantity: str, colour: str) -> list[Any]:
    """The names of a column by their total, largest first."""
    totals = frame.group_by(colour, maintain_order=True).agg(polars.col(quantity).sum())
    return totals.sort(quantity, descending=True, maintain_order=True)[colour].to_list()


def gradient(title: str, *, format: str = "") -> alt.Legend:
    """A legend of shades that lies below its chart, where few rows leave it room."""
    return alt.Legend(
        title=title,
        orient="bottom",
        titleOrient="left",
        gradientLength=160,
        format=format or alt.Undefined,
    )


def _colour(column: str | None, legend: str = "") -> dict[str, Any]:
    if not column:
        return {}
    title = legend or column.replace("_", " ")
    return {"color": alt.Color(column, type="nominal", title=title)}


def _tooltip(frame: polars.DataFrame) -> Sequence[str]:
    return list(frame.columns)
