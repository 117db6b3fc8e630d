"""Data figures: charts over rows of the lake, as specifications in Vega-Lite.

Sizes are those of a printed column: a pixel is three quarters of a point.
"""

import json
from collections.abc import Sequence
from typing import Any

import altair

from schemas.identifiers import RunId
from schemas.literature.naming import claim_span, escaped
from schemas.works.draft import DraftFigure, FigureKind
from schemas.works.experiment import Experiment, Program, Stage
from tasks.writing.claims import literal, select, shown_programs

WIDTH_PIXELS = 420
TEXT_PIXELS = 11
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#767676"
"""Okabe and Ito's palette, which the colour-blind tell apart, and a grey that is read on white."""
GAIN, VALUE, PROGRAM = "Gain in {metric} over the parent", "{metric}", "Program"
TITLES = {
    **dict.fromkeys(("gain", "gain_low", "gain_high"), GAIN),
    "value": VALUE,
    "program_id": PROGRAM,
}
"""What an axis over a column is called; `{metric}`: as its task names it, unit and all."""


def experiment_charts(
    run_id: RunId, experiment: Experiment, stem: str, *, alone: bool
) -> tuple[DraftFigure, ...]:
    """Gains with their intervals, and the metric on every data set: as far as there are figures.

    Args:
        stem: the beginning of the experiment's keys.
        alone: whether no other experiment is drawn in the draft.
    """
    programs = shown_programs(experiment)
    after = "" if alone else f"-{_letters(stem)}"
    found = (
        _gains(run_id, experiment, programs, stem, after),
        _runs(run_id, experiment, programs, stem, after),
    )
    return tuple(figure for figure in found if figure is not None)


def _letters(stem: str) -> str:
    """A figure's name holds no digit, which would be a number in the text."""
    spelled = "".join(each if each.isalpha() and each.isascii() else "-" for each in stem)
    digits = "".join(chr(ord("a") + int(each)) for each in stem if each in "0123456789")
    return "-".join(filter(None, (*spelled.split("-"), digits)))[:30].rstrip("-")


def _gains(
    run_id: RunId, experiment: Experiment, programs: Sequence[Program], stem: str, after: str
) -> DraftFigure | None:
    rows = [
        {
            "program_id": each.program_id,
            "gain": each.gain,
            "gain_low": each.gain_low,
            "gain_high": each.gain_high,
        }
        for each in programs
        if each.gain is not None and each.gain_low is not None
    ]
    if not rows:
        return None
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
    names = ", ".join(literal(str(row["program_id"])) for row in rows)
    within = {"run_id": run_id, "task_id": experiment.task_id}
    return DraftFigure(
        figure_id=f"gains{after}",
        kind=FigureKind.CHART,
        caption=(
            f"Gain in {_span(stem, 'metric', experiment.metric)} over the parent program on data"
            f" that chose nothing, for {_span(stem, 'task', experiment.task_id)}. Dots are means,"
            " lines their confidence intervals; right of the dashed line a program is better."
        ),
        spec=_spec(zero + interval + point, height=40 + 24 * len(rows)),
        query=select(
            "program_id, gain, gain_low, gain_high",
            "programs",
            within,
            f" and program_id in ({names})",
        ),
    )


def _runs(
    run_id: RunId, experiment: Experiment, programs: Sequence[Program], stem: str, after: str
) -> DraftFigure | None:
    names = [each.program_id for each in programs]
    rows = [
        {"program_id": each.program_id, "replicate": each.replicate, "value": each.value}
        for each in experiment.executions
        if each.stage is Stage.CONFIRMATION and each.program_id in names and each.value is not None
    ]
    if not rows:
        return None
    base = altair.Chart(altair.InlineData(values=rows))
    x = altair.X("program_id:N", title=PROGRAM, sort=names, axis=altair.Axis(labelAngle=0))
    y = altair.Y(
        "value:Q", title=VALUE.format(metric=experiment.metric), scale=altair.Scale(zero=False)
    )
    same_data = base.mark_line(color=GREY, strokeWidth=0.75).encode(x=x, y=y, detail="replicate:N")
    points = base.mark_circle(color=ORANGE, size=45, opacity=1).encode(x=x, y=y)
    within = {"run_id": run_id, "task_id": experiment.task_id, "stage": Stage.CONFIRMATION}
    better = "Less" if experiment.direction == "minimise" else "More"
    return DraftFigure(
        figure_id=f"runs{after}",
        kind=FigureKind.CHART,
        caption=(
            f"Values of {_span(stem, 'metric', experiment.metric)} of every run on data that"
            f" chose nothing, for {_span(stem, 'task', experiment.task_id)}."
            f" A line joins runs on the same data. {better} is better."
        ),
        spec=_spec(same_data + points, height=200),
        query=select(
            "program_id, replicate, value", "executions", within, " and value is not null"
        ),
    )


def _span(stem: str, name: str, shown: str) -> str:
    return claim_span(f"{stem}.{name}", shown) if shown.strip() else escaped(shown)


def _spec(chart: altair.LayerChart, *, height: int) -> str:
    text: dict[str, Any] = {
        "labelFontSize": TEXT_PIXELS,
        "titleFontSize": TEXT_PIXELS,
        "titleFontWeight": "normal",
        "labelColor": "#222222",
        "titleColor": "#222222",
        "labelLimit": 160,
    }
    whole = chart.properties(width=WIDTH_PIXELS, height=height, background="white")
    whole = whole.configure_axis(**text).configure_view(stroke=None)
    return json.dumps(whole.to_dict(), indent=1, sort_keys=True)
