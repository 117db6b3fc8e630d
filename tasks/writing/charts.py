"""Data figures: charts over rows of the lake, as Vega-Lite specifications under one theme."""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair
from altair.utils.schemapi import SchemaValidationError

from schemas.identifiers import RunId
from schemas.literature.naming import claim_span, escaped
from schemas.works.draft import DraftFigure, FigureKind
from schemas.works.experiment import Direction, Experiment, Stage
from tasks.writing.claims import literal, number_shown, select
from tasks.writing.parsing import ClaimInText

# Sizes are those of a printed column: a pixel is three quarters of a point.
WIDTH_PIXELS = 420
COLUMN_PIXELS = 460
"""345 points: LaTeX's article on A4, the narrowest column that a draft is set in."""
TEXT_PIXELS = 11
"""8.25 points. Journals ask for 5 to 7 at least; 7 are left of it in a figure of 540 pixels."""
CHARACTER_PIXELS = 6.4
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#767676"
"""Okabe and Ito's palette for color-blind readers, and a grey with a contrast of 4.5 on white
(WCAG 2.2, 1.4.3).
"""
MOST_CATEGORIES = 24
GAIN, VALUE, PROGRAM = "Gain in {metric} over the parent", "{metric}", "Program"
TITLES = {
    **dict.fromkeys(("gain", "gain_low", "gain_high", "none"), GAIN),
    "value": VALUE,
    "program_id": PROGRAM,
}
"""Columns of axes and their titles; `{metric}` is the metric's name in its task, with unit.

`none` is the line of no gain.
"""


def width_of(text: str) -> float:
    """Estimate the width of a label in pixels; CJK characters are square."""
    square = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) * CHARACTER_PIXELS + square * (TEXT_PIXELS - CHARACTER_PIXELS)


def experiment_charts(
    run_id: RunId, experiment: Experiment, stem: str, *, alone: bool
) -> tuple[DraftFigure, ...]:
    """Draw the gains with intervals and the metric by data set, if there are figures.

    Args:
        stem: prefix of the experiment's keys.
        alone: True if no other experiment is drawn in the draft.
    """
    programs = experiment.side_by_side
    suffix = "" if alone else f"-{_letters(stem)}"
    condition = {"run_id": run_id, "task_id": experiment.task_id}
    metric = _span(stem, "metric", experiment.metric)
    task = _span(stem, "task", experiment.task_id)
    figures = []
    gain_columns = {"program_id", "gain", "gain_low", "gain_high"}
    gains = [
        each.model_dump(include=gain_columns)
        for each in programs
        if each.gain is not None and each.gain_low is not None
    ]
    if gains:
        names = ", ".join(literal(row["program_id"]) for row in gains)
        gains_figure = DraftFigure(
            figure_id=f"gains{suffix}",
            kind=FigureKind.CHART,
            caption=(
                f"Gain in {metric} over the parent program on data that chose nothing, for {task}."
                " Dots are means, lines their confidence intervals; right of the dashed line a"
                " program is better."
            ),
            spec=_gains_chart(gains, experiment),
            query=select(
                "program_id, gain, gain_low, gain_high",
                "programs",
                condition,
                f" and program_id in ({names})",
            ),
        )
        figures.append(gains_figure)
    program_ids = [each.program_id for each in programs]
    runs = [
        each.model_dump(include={"program_id", "replicate", "value"})
        for each in experiment.executions
        if each.stage is Stage.CONFIRMATION
        and each.program_id in program_ids
        and each.value is not None
    ]
    if runs:
        better = "Less" if experiment.direction is Direction.MINIMISE else "More"
        runs_figure = DraftFigure(
            figure_id=f"runs{suffix}",
            kind=FigureKind.CHART,
            caption=(
                f"Values of {metric} of every run on data that chose nothing, for {task}."
                f" A line joins runs on the same data. {better} is better."
            ),
            spec=_runs_chart(runs, experiment, program_ids),
            query=select(
                "program_id, replicate, value",
                "executions",
                {**condition, "stage": Stage.CONFIRMATION},
                " and value is not null",
            ),
        )
        figures.append(runs_figure)
    return tuple(figures)


def _letters(stem: str) -> str:
    """Return letters for a figure name: a digit would be a number in the text."""
    ascii_stem = "".join(each if each.isalpha() and each.isascii() else "-" for each in stem)
    digits = "".join(chr(ord("a") + int(each)) for each in stem if each in "0123456789")
    return "-".join(filter(None, (*ascii_stem.split("-"), digits)))[:30].rstrip("-")


def _gains_chart(rows: Sequence[dict[str, Any]], experiment: Experiment) -> str:
    base = altair.Chart(altair.InlineData(values=rows))
    x: dict[str, Any] = {
        "title": GAIN.format(metric=experiment.metric),
        "axis": altair.Axis(tickCount=5),
        "scale": altair.Scale(padding=12),
    }
    y = altair.Y("program_id:N", title=PROGRAM, sort=None)
    zero = (
        altair.Chart(altair.InlineData(values=[{"none": 0}]))
        .mark_rule(color=GREY, strokeDash=[4, 3])
        .encode(x=altair.X("none:Q", **x))
    )
    interval = base.mark_rule(color=BLUE, strokeWidth=2).encode(
        x=altair.X("gain_low:Q", **x), x2="gain_high:Q", y=y
    )
    point = base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(
        x=altair.X("gain:Q", **x), y=y
    )
    names = [row["program_id"] for row in rows]
    return _spec(zero + interval + point, names, 40 + 24 * len(rows))


def _runs_chart(
    rows: Sequence[dict[str, Any]], experiment: Experiment, names: Sequence[str]
) -> str:
    base = altair.Chart(altair.InlineData(values=rows))
    room = WIDTH_PIXELS / len(names) / CHARACTER_PIXELS
    slant = -45 if max(map(len, names)) >= room else 0
    x = altair.X("program_id:N", title=PROGRAM, sort=names, axis=altair.Axis(labelAngle=slant))
    y = altair.Y(
        "value:Q", title=VALUE.format(metric=experiment.metric), scale=altair.Scale(zero=False)
    )
    same_data = base.mark_line(color=GREY, strokeWidth=0.75).encode(x=x, y=y, detail="replicate:N")
    points = base.mark_circle(color=ORANGE, size=45, opacity=1).encode(x=x, y=y)
    return _spec(same_data + points, names, 200)


def _span(stem: str, name: str, text: str) -> str:
    return claim_span(f"{stem}.{name}", text) if text.strip() else escaped(text)


def _spec(chart: altair.LayerChart, names: Sequence[str], height: int) -> str:
    """Return the chart under the theme of every draft."""
    text: dict[str, Any] = {
        "labelFontSize": TEXT_PIXELS,
        "titleFontSize": TEXT_PIXELS,
        "titleFontWeight": "normal",
        "labelColor": "#222222",
        "titleColor": "#222222",
        "labelLimit": 160,
    }
    sized_chart = chart.properties(width=WIDTH_PIXELS, height=height, background="white")
    if max(map(len, names)) * CHARACTER_PIXELS > 80:
        # Long names are shown whole and take their room from the chart: a figure wider than a
        # column would be shrunk, and its text with it.
        text["labelLimit"] = 0
        fit = altair.AutoSizeParams(type="fit-x", contains="padding")
        sized_chart = sized_chart.properties(width=COLUMN_PIXELS, autosize=fit)
    sized_chart = sized_chart.configure_axis(**text).configure_view(stroke=None)
    return json.dumps(sized_chart.to_dict(), indent=1, sort_keys=True)


def chart_faults(
    spec: str, caption: Sequence[ClaimInText], values: Mapping[str, float]
) -> Iterator[str]:
    """Yield why a chart is invalid, empty or contradicts the claims.

    Args:
        caption: claims in its caption.
        values: numbers of the draft by claim key.

    Raises:
        ValueError: it does not fit Vega-Lite's schema.
    """
    chart = json.loads(spec)
    try:
        altair.LayerChart.from_dict(chart)
    except SchemaValidationError as error:
        raise ValueError(str(error)) from error
    rows = [row for each in chart.get("datasets", {}).values() for row in each]
    if not any("program_id" in row for row in rows):
        yield "it draws no rows"
        return
    metric = next((claim.text for claim in caption if claim.key.endswith(".metric")), "")
    values_of_axis: dict[str, set[str]] = {"x": set(), "y": set()}
    quantitative_axes = set()
    for layer in chart["layer"]:
        for channel, encoding in layer.get("encoding", {}).items():
            field, axis = encoding.get("field"), channel[0]
            if axis not in values_of_axis:
                continue
            if field not in TITLES:
                yield f"its {axis} axis is of {field!r}, which is no column that charts draw"
                continue
            values_of_axis[axis] |= {str(row[field]) for row in rows if row.get(field) is not None}
            if encoding.get("type") == "quantitative":
                quantitative_axes.add(axis)
            title, expected_title = encoding.get("title"), TITLES[field].format(metric=metric)
            if channel in values_of_axis and title != expected_title:
                yield f"its {axis} axis is called {title!r}, and its rows are {expected_title!r}"
    for axis, axis_values in values_of_axis.items():
        if axis in quantitative_axes and len(axis_values) < 2:
            yield f"all of its {axis} axis is one value: {', '.join(axis_values) or 'none'}"
        elif axis not in quantitative_axes and len(axis_values) > MOST_CATEGORIES:
            yield f"its {axis} axis has {len(axis_values)} categories, more than {MOST_CATEGORIES}"
    yield from _disagreements(rows, caption, values)


def _disagreements(
    rows: Sequence[Mapping[str, Any]], caption: Sequence[ClaimInText], values: Mapping[str, float]
) -> Iterator[str]:
    """Yield numbers of the caption that are not drawn, and numbers drawn without a claim."""
    numbers_drawn = [
        value for row in rows for value in row.values() if isinstance(value, int | float)
    ]
    texts_drawn = {number_shown(each) for each in (*numbers_drawn, len(rows))}
    for claim in caption:
        if claim.key in values and claim.text not in texts_drawn:
            yield f"its caption says {claim.text} ({claim.key}), which it does not draw"
    stems = sorted({claim.key.rpartition(".")[0] for claim in caption})
    for row in rows:
        for name, value in row.items():
            for stem in stems:
                claimed_value = values.get(f"{stem}.{row.get('program_id')}.{name}")
                if claimed_value is not None and claimed_value != value:
                    drawing = f"it draws {value!r} as the {name} of {row['program_id']}"
                    yield f"{drawing}, which is {claimed_value!r}"
