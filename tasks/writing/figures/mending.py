"""What is changed by itself where a figure cannot be read: declared rules, tried in order, each
kept only where it helps, and said.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import ValidationError

from schemas.base import replace
from schemas.failure import Failure
from schemas.reasons import Reason
from schemas.works.draft import DraftFigure, FigureKind, MethodGraph
from tasks.writing.figures.chart_data import AXES, COLOURS, ChartData
from tasks.writing.figures.drawing import drawn
from tasks.writing.figures.looking import Fault, Values
from tasks.writing.figures.rules import faults_in

STAGE = "writing"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, without the yellow that is not seen on white."""
_INK = "#222222"
_WIDTH_PIXELS, _LEAST_WIDTH_PIXELS = 420, 300


@dataclass(frozen=True, slots=True)
class Mend:
    """One rule.

    Attributes:
        against: the rules whose faults it is for.
        said: what it does, as readers are told.
        change: the specification as it is then; the same: it has nothing to change.
    """

    kind: FigureKind
    against: frozenset[str]
    said: str
    change: Callable[[str], str]


def finished(figure: DraftFigure, values: Values) -> tuple[DraftFigure, tuple[Fault, ...]]:
    """The figure drawn, looked at and mended as far as rules can; what is still wrong with it."""
    try:
        figure = drawn(figure)
    except (ValueError, ValidationError) as error:
        return figure, (
            Fault("drawn", f"it cannot be drawn: {' '.join(str(error).split())[:200]}"),
        )
    left = faults_in(figure, values)
    for mend in MENDS:
        wrong = [fault for fault in left if fault.rule in mend.against]
        if mend.kind is not figure.kind or not wrong:
            continue
        spec = mend.change(figure.spec)
        if spec == figure.spec:
            continue
        tried = drawn(replace(figure, spec=spec, mended=(*figure.mended, mend.said)))
        now = faults_in(tried, values)
        still = [fault for fault in now if fault.rule in mend.against]
        if len(still) < len(wrong) and len(now) < len(left):
            figure, left = tried, now
    return figure, left


def readable(
    figures: Iterable[DraftFigure], values: Values
) -> tuple[tuple[DraftFigure, ...], tuple[Failure, ...]]:
    """Figures that can be read in print, and a failure for each that is left out since no rule
    mends it.
    """
    kept: list[DraftFigure] = []
    lost: list[Failure] = []
    for figure in figures:
        done, left = finished(figure, values)
        if left:
            lost.append(left_out(done, left))
        else:
            kept.append(done)
    return tuple(kept), tuple(lost)


def left_out(figure: DraftFigure, left: Sequence[Fault]) -> Failure:
    """That a figure is left out, and why."""
    why = "; ".join(fault.said for fault in left[:3])
    more = f"; and {len(left) - 3} more" if len(left) > 3 else ""
    return Failure(
        stage=STAGE,
        subject=f"Figure {figure.figure_id}",
        reason=Reason.ILLEGIBLE,
        detail=f"left out, {why}{more}",
    )


# Of charts.


def _changed(*changes: Callable[[ChartData], None]) -> Callable[[str], str]:
    def of(spec: str) -> str:
        chart = ChartData(deepcopy(ChartData.of(spec).spec))
        for change in changes:
            change(chart)
        return json.dumps(chart.spec, indent=1, sort_keys=True)

    return of


def _no_legend(chart: ChartData) -> None:
    for layer, how in chart.channels(*COLOURS):
        if len({str(row.get(how["field"])) for row in chart.rows_of(layer)}) == 1:
            how["legend"] = None


def _palette(chart: ChartData) -> None:
    config = chart.spec.setdefault("config", {})
    config.setdefault("range", {})["category"] = list(PALETTE)
    for _, how in chart.channels(*COLOURS):
        how.get("scale", {}).pop("scheme", None)


def _opaque(chart: ChartData) -> None:
    chart.spec.setdefault("config", {})["mark"] = {"opacity": 1}
    for layer in chart.layers:
        mark = layer.get("mark")
        layer["mark"] = {**({"type": mark} if isinstance(mark, str) else mark or {}), "opacity": 1}


def _ink(chart: ChartData) -> None:
    config = chart.spec.setdefault("config", {})
    for part in ("axis", "legend"):
        config.setdefault(part, {}).update(labelColor=_INK, titleColor=_INK)


def _narrow(pixels: int) -> Callable[[ChartData], None]:
    def change(chart: ChartData) -> None:
        if "width" in chart.spec:
            chart.spec["width"] = min(int(chart.spec["width"]), pixels)

    return change


def _at_least(pixels: float) -> Callable[[ChartData], None]:
    """All text is so large: a column shrinks a figure, the more the longer its labels are."""

    def change(chart: ChartData) -> None:
        config = chart.spec.setdefault("config", {})
        for part in ("axis", "legend", "header", "title"):
            told = config.setdefault(part, {})
            names = ("labelFontSize", "titleFontSize", "fontSize")[: 3 if part == "title" else 2]
            told.update({name: max(float(told.get(name, 0)), pixels) for name in names})
        for axis in AXES:
            for _, how in chart.channels(axis):
                for name in ("labelFontSize", "titleFontSize"):
                    if isinstance(how.get("axis"), dict):
                        how["axis"].pop(name, None)

    return change


def _unlimited(chart: ChartData) -> None:
    config = chart.spec.setdefault("config", {})
    for part in ("axis", "legend"):
        config.setdefault(part, {})["labelLimit"] = 0
    _each_axis(chart, AXES, labelLimit=0)


def _turned(degrees: int) -> Callable[[ChartData], None]:
    def change(chart: ChartData) -> None:
        _each_axis(chart, ("x",), labelAngle=degrees)

    return change


def _each_axis(chart: ChartData, axes: Sequence[str], **told: Any) -> None:
    for axis in axes:
        for _, how in chart.channels(axis):
            how["axis"] = {**(how.get("axis") or {}), **told}


# Of method figures.


def _of_graph(change: Callable[[MethodGraph], MethodGraph]) -> Callable[[str], str]:
    def of(spec: str) -> str:
        graph = MethodGraph.model_validate_json(spec)
        changed = change(graph)
        return spec if changed == graph else changed.model_dump_json(indent=1)

    return of


def _sound_arrows(graph: MethodGraph) -> MethodGraph:
    names = {node.node_id for node in graph.nodes}
    kept = (each for each in graph.arrows if {each.source, each.target} <= names)
    return replace(graph, arrows=tuple(each for each in kept if each.source != each.target))


def _in_order(graph: MethodGraph) -> MethodGraph:
    before: dict[str, set[str]] = {node.node_id: set() for node in graph.nodes}
    for arrow in graph.arrows:
        if {arrow.source, arrow.target} <= before.keys():
            before[arrow.target].add(arrow.source)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return graph
    return replace(
        graph, nodes=tuple(sorted(graph.nodes, key=lambda node: order.index(node.node_id)))
    )


def _broken_at(characters: int) -> Callable[[MethodGraph], MethodGraph]:
    return lambda graph: replace(graph, line_characters=characters)


def _no_arrow_labels(graph: MethodGraph) -> MethodGraph:
    return replace(graph, arrows=tuple(replace(each, label="") for each in graph.arrows))


_CHART, _GRAPH = FigureKind.CHART, FigureKind.GRAPH
_ROOM = frozenset({"overlap", "crossed labels", "whole labels"})
MENDS = (
    Mend(_CHART, frozenset({"legend"}), "a legend of one entry was dropped", _changed(_no_legend)),
    Mend(
        _CHART,
        frozenset({"colours", "mark contrast"}),
        "colours are those that the colour-blind tell apart",
        _changed(_palette),
    ),
    Mend(
        _CHART,
        frozenset({"colours", "mark contrast"}),
        "marks are not transparent",
        _changed(_opaque),
    ),
    Mend(_CHART, frozenset({"text contrast"}), "labels are dark", _changed(_ink)),
    Mend(
        _CHART, frozenset({"text size"}), "it was made narrower", _changed(_narrow(_WIDTH_PIXELS))
    ),
    *(
        Mend(_CHART, frozenset({"text size"}), "its text was enlarged", _changed(_at_least(pixels)))
        for pixels in (10, 11, 12)
    ),
    Mend(
        _CHART,
        frozenset({"text size"}),
        "its text was enlarged and it was made narrower",
        _changed(_at_least(12), _narrow(_LEAST_WIDTH_PIXELS)),
    ),
    Mend(_CHART, _ROOM, "labels are shown in full", _changed(_unlimited)),
    Mend(_CHART, _ROOM, "labels of the x axis were slanted", _changed(_turned(-45))),
    Mend(_CHART, _ROOM, "labels of the x axis were set upright", _changed(_turned(-90))),
    Mend(
        _GRAPH,
        frozenset({"arrows"}),
        "arrows that lead to no box, or from a box to itself, were left out",
        _of_graph(_sound_arrows),
    ),
    Mend(
        _GRAPH,
        frozenset({"reading order"}),
        "boxes stand in the order of the arrows",
        _of_graph(_in_order),
    ),
    *(
        Mend(
            _GRAPH,
            frozenset({"text size", *_ROOM}),
            f"lines of boxes are broken at {characters} characters",
            _of_graph(_broken_at(characters)),
        )
        for characters in (22, 16, 12)
    ),
    Mend(_GRAPH, _ROOM, "arrows bear no labels", _of_graph(_no_arrow_labels)),
)
"""In the order in which they are tried."""
