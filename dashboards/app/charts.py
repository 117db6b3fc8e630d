"""Charts: a title, units on every axis, colours that everyone can tell apart, and words for who cannot see them.

Colours are Okabe and Ito's (Color Universal Design, 2008); where lines share a chart they differ in dash as well.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars
import streamlit as st

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
GOOD, BAD, NEUTRAL = "#0072B2", "#D55E00", "#8C8C8C"
HEIGHT, ROW_HEIGHT = 260, 22


Drawn = alt.Chart | alt.LayerChart | alt.FacetChart


def show(chart: Drawn, title: str, key: str, described: str = "") -> None:
    """Draw a chart under a title of our own words.

    Args:
        described: what it shows, for screen readers; default: the title.
    """
    configured = chart.properties(title=title).configure_title(fontSize=15, anchor="start").configure_range(category=list(PALETTE))
    st.altair_chart(configured, width="stretch", key=key, alt=described or title)


def bars(frame: polars.DataFrame, *, x: str, y: str, x_title: str, y_title: str, colour: str | None = None, stacked: bool = True) -> Drawn:
    """Horizontal bars: quantities `x` by names `y`, largest first; the parts of a name stacked, or one below the other."""
    encoded: dict[str, Any] = {
        "x": alt.X(x, type="quantitative", title=x_title),
        "y": alt.Y(y, type="nominal", title=y_title, sort="-x", axis=alt.Axis(labelLimit=260)),
        "tooltip": _tooltip(frame),
    }
    if colour and not stacked:
        encoded["yOffset"] = alt.YOffset(colour, type="nominal", sort=None)
    rows = frame[y].n_unique() * (frame[colour].n_unique() if colour and not stacked else 1)
    drawn: alt.Chart = (
        alt.Chart(frame, height=ROW_HEIGHT * rows + 2 * ROW_HEIGHT).mark_bar(color=PALETTE[0]).encode(**encoded, **_colour(colour))
    )
    return drawn


def lines(frame: polars.DataFrame, *, x: str, y: str, x_title: str, y_title: str, colour: str | None = None) -> Drawn:
    """Quantities `y` over time `x`, one line per `colour`."""
    encoded: dict[str, Any] = {
        "x": alt.X(x, type="temporal", title=x_title),
        "y": alt.Y(y, type="quantitative", title=y_title, scale=alt.Scale(zero=True)),
        "tooltip": _tooltip(frame),
    }
    if colour:
        encoded |= _colour(colour) | {"strokeDash": alt.StrokeDash(colour, type="nominal", legend=None)}
    drawn: alt.Chart = alt.Chart(frame, height=HEIGHT).mark_line(point=True, color=PALETTE[0]).encode(**encoded)
    return drawn


def columns(
    frame: polars.DataFrame, *, x: str, y: str, x_title: str, y_title: str, colour: str | None = None, stacked: bool = True
) -> Drawn:
    """Upright columns over ordered `x`, such as bins of a histogram; the parts of a column stacked, or side by side."""
    encoded: dict[str, Any] = {
        "x": alt.X(x, type="ordinal", sort=None, title=x_title, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        "y": alt.Y(y, type="quantitative", title=y_title),
        "tooltip": _tooltip(frame),
    }
    if colour and not stacked:
        encoded["xOffset"] = alt.XOffset(colour, type="nominal", sort=None)
    drawn: alt.Chart = alt.Chart(frame, height=HEIGHT).mark_bar(color=PALETTE[0]).encode(**encoded, **_colour(colour))
    return drawn


def limit(value: float, title: str) -> alt.LayerChart:
    """A horizontal line with its name, such as a budget."""
    data = polars.DataFrame({"limit": [value], "title": [title]})
    rule = alt.Chart(data).mark_rule(color=BAD, strokeDash=[6, 4]).encode(y=alt.Y("limit", type="quantitative"))
    name = alt.Chart(data).mark_text(align="left", dy=-6, color=BAD).encode(y="limit:Q", text="title:N", x=alt.value(4))
    drawn: alt.LayerChart = rule + name
    return drawn


def _colour(column: str | None) -> dict[str, Any]:
    return {"color": alt.Color(column, type="nominal", title=column.replace("_", " "))} if column else {}


def _tooltip(frame: polars.DataFrame) -> Sequence[str]:
    return list(frame.columns)
