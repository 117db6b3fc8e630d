"""Charts: a title, units on every axis, colours that everyone can tell apart, and words for who
cannot see them.

Colours are Okabe and Ito's (Color Universal Design, 2008); where lines share a chart they differ in
dash as well.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import altair as alt
import polars
import streamlit as st

from dashboards.app import cells

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
GOOD, BAD, NEUTRAL = "#0072B2", "#D55E00", "#8C8C8C"
HEIGHT, ROW_HEIGHT, PART_HEIGHT = 260, 22, 12
TIME_TICKS, SHORT_SECONDS = 8, 3600
BREAK: Any = "break-paths-show-domains"
OTHERS = "(others)"
_KNOWN = "is known"


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


def lines(
    frame: polars.DataFrame,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    colour: str | None = None,
    every_seconds: int | None = None,
    nothing: float | None = None,
) -> Drawn:
    """Quantities `y` over time `x`, one line per `colour`, of which the largest are drawn.

    A line ends where nothing is known and begins anew after it.

    Args:
        every_seconds: the distance of the points, where they have one: a time without a row is
            `nothing`, which is 0 for what is counted, and None, a gap, for what is measured.
    """
    frame, legend = _largest(frame, y, colour)
    if every_seconds is not None:
        frame = _every_time(frame, x, y, colour, every_seconds, nothing)
    encoded: dict[str, Any] = {
        "x": alt.X(x, type="temporal", title=x_title, axis=_time_axis(frame[x])),
        "y": alt.Y(y, type="quantitative", title=y_title, scale=_from_zero(frame[y])),
        "tooltip": _tooltip(frame),
    }
    if colour:
        encoded |= _colour(colour, legend) | {
            "strokeDash": alt.StrokeDash(colour, type="nominal", legend=None)
        }
    drawn: alt.Chart = (
        alt.Chart(frame, height=HEIGHT)
        .mark_line(point=True, color=PALETTE[0], invalid=BREAK)
        .encode(**encoded)
    )
    return drawn


def _largest(
    frame: polars.DataFrame, quantity: str, colour: str | None
) -> tuple[polars.DataFrame, str]:
    """As many names as there are colours, and what the legend says: no two share a colour."""
    if colour is None:
        return frame, ""
    legend = colour.replace("_", " ")
    names = _by_size(frame, quantity, colour)
    if len(names) <= len(PALETTE):
        return frame, legend
    kept = frame.filter(polars.col(colour).is_in(names[: len(PALETTE)]))
    return kept, f"{legend}, the {len(PALETTE)} largest of {len(names):,}"


def _by_size(frame: polars.DataFrame, quantity: str, colour: str) -> list[Any]:
    """The names of a column by their total, largest first."""
    totals = frame.group_by(colour, maintain_order=True).agg(polars.col(quantity).sum())
    return totals.sort(quantity, descending=True, maintain_order=True)[colour].to_list()


def _every_time(
    frame: polars.DataFrame,
    x: str,
    y: str,
    colour: str | None,
    every_seconds: int,
    nothing: float | None,
) -> polars.DataFrame:
    first, last = frame[x].min(), frame[x].max()
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return frame
    times = polars.datetime_range(first, last, f"{every_seconds}s", eager=True).cast(frame[x].dtype)
    whole = times.alias(x).to_frame()
    if colour is not None:
        whole = whole.join(frame.select(colour).unique(maintain_order=True), how="cross")
    keys = [x] if colour is None else [x, colour]
    known = frame.with_columns(polars.lit(True).alias(_KNOWN))
    filled = polars.when(polars.col(_KNOWN)).then(polars.col(y)).otherwise(polars.lit(nothing))
    return (
        whole.join(known, on=keys, how="left", maintain_order="left")
        .with_columns(filled.alias(y))
        .drop(_KNOWN)
    )


def marked(lined: Drawn, frame: polars.DataFrame, *, x: str, y: str, what: str) -> Drawn:
    """`lined` with a cross at each row of `frame`, and a legend that says what it marks."""
    if frame.is_empty():
        return lined
    crosses = (
        alt.Chart(frame.with_columns(polars.lit(what).alias("marked")))
        .mark_point(filled=True, color=BAD, size=110, opacity=1)
        .encode(
            x=alt.X(x, type="temporal"),
            y=alt.Y(y, type="quantitative"),
            shape=alt.Shape(
                "marked:N", title=None, scale=alt.Scale(domain=[what], range=["cross"])
            ),
            tooltip=_tooltip(frame),
        )
    )
    drawn: Drawn = lined + crosses
    return drawn


def columns(
    frame: polars.DataFrame,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    colour: str | None = None,
    stacked: bool = True,
) -> Drawn:
    """Upright columns over ordered `x`, such as bins of a histogram; the parts of a column stacked,
    or side by side.
    """
    encoded: dict[str, Any] = {
        "x": alt.X(
            x,
            type="ordinal",
            sort=None,
            title=x_title,
            axis=alt.Axis(labelAngle=0, labelOverlap=True),
        ),
        "y": alt.Y(y, type="quantitative", title=y_title),
        "tooltip": _tooltip(frame),
    }
    if colour and not stacked:
        encoded["xOffset"] = alt.XOffset(colour, type="nominal", sort=None)
    drawn: alt.Chart = (
        alt.Chart(frame, height=HEIGHT)
        .mark_bar(color=PALETTE[0])
        .encode(**encoded, **_colour(colour))
    )
    return drawn


def limit(value: float, title: str) -> alt.LayerChart:
    """A horizontal line with its name, such as a budget."""
    data = polars.DataFrame({"limit": [value], "title": [title]})
    rule = (
        alt.Chart(data)
        .mark_rule(color=BAD, strokeDash=[6, 4])
        .encode(y=alt.Y("limit", type="quantitative"))
    )
    name = (
        alt.Chart(data)
        .mark_text(align="left", dy=-6, color=BAD)
        .encode(y="limit:Q", text="title:N", x=alt.value(4))
    )
    drawn: alt.LayerChart = rule + name
    return drawn


def gradient(title: str, *, format: str = "") -> alt.Legend:
    """A legend of shades that lies below its chart, where few rows leave it room."""
    return alt.Legend(
        title=title,
        orient="bottom",
        titleOrient="left",
        gradientLength=160,
        format=format or alt.Undefined,
    )


def _time_axis(times: polars.Series) -> alt.Axis:
    """Clock times without fractions for what lasted minutes; dates as Vega chooses them for what
    lasted longer.
    """
    moments = [moment for moment in (times.min(), times.max()) if isinstance(moment, datetime)]
    seconds = (moments[-1] - moments[0]).total_seconds() if moments else 0.0
    ticks = max(1, min(TIME_TICKS, int(seconds)))
    return (
        alt.Axis(format="%H:%M:%S", tickCount=ticks)
        if seconds < SHORT_SECONDS
        else alt.Axis(tickCount=TIME_TICKS)
    )


def _from_zero(values: polars.Series) -> alt.Scale:
    """Nothing but zeros lies on the axis, not in the middle."""
    return alt.Scale(zero=True) if (values.fill_null(0) != 0).any() else alt.Scale(domain=[0, 1])


def _colour(column: str | None, legend: str = "") -> dict[str, Any]:
    if not column:
        return {}
    title = legend or column.replace("_", " ")
    return {"color": alt.Color(column, type="nominal", title=title)}


def _tooltip(frame: polars.DataFrame) -> Sequence[str]:
    return list(frame.columns)
