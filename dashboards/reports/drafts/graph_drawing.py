"""A method figure, laid out from above to below for `templates/method_graph.svg.jinja`."""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from dashboards.reports.html_page import drawn
from schemas.draft import GraphArrow, GraphNode, MethodGraph

WIDTH, TEXT_PIXELS, LINE_HEIGHT = 460.0, 11, 14
_CHARACTER, _PADDING, _GAP, _ROW_GAP, _LANE = 6.4, 12.0, 24.0, 24.0, 16.0
_LABEL_CHARACTERS = 32
_FILLS = ("#D9E9F5", "#FBE3D0", "#DDF0E8", "#F4E0EC", "#F7F2CC", "#E6E6E6")
"""Tints of Okabe and Ito's palette: the colour-blind tell them apart, and text is read on them."""


@dataclass(frozen=True, slots=True)
class Box:
    """One box, by its middle."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    fill: str

    @property
    def baselines(self) -> list[tuple[float, str]]:
        first = self.y - (len(self.lines) - 1) * LINE_HEIGHT / 2 + TEXT_PIXELS * 0.36
        return [(first + place * LINE_HEIGHT, line) for place, line in enumerate(self.lines)]


@dataclass(frozen=True, slots=True)
class Route:
    """One arrow: its corners, and where its label stands."""

    points: tuple[tuple[float, float], ...]
    label: str
    label_x: float
    label_y: float
    anchor: str

    @property
    def path(self) -> str:
        return " L ".join(f"{x:.1f} {y:.1f}" for x, y in self.points)


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Positions in pixels."""

    left: float
    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    legend: tuple[tuple[float, str, str], ...]


def graph_svg(graph: MethodGraph) -> str:
    """The figure as SVG, which loads nothing."""
    return drawn("method_graph.svg.jinja", _laid_out(graph))


def _laid_out(graph: MethodGraph) -> GraphDrawing:
    known = {node.node_id for node in graph.nodes}
    arrows = [each for each in graph.arrows if {each.source, each.target} <= known]
    layers = _layers(graph.nodes, arrows)
    groups = list(dict.fromkeys(node.group for node in graph.nodes if node.group))
    fills = {group: _FILLS[place % len(_FILLS)] for place, group in enumerate(groups)}
    boxes: dict[str, Box] = {}
    y = 10.0
    ordered = sorted(graph.nodes, key=lambda node: layers[node.node_id])
    for _, row in groupby(ordered, key=lambda node: layers[node.node_id]):
        placed = [_box(node, fills) for node in row]
        height = max(box.height for _, box in placed)
        total = sum(box.width for _, box in placed) + _GAP * (len(placed) - 1)
        x = (WIDTH - total) / 2
        for name, box in placed:
            middle = x + box.width / 2
            boxes[name] = Box(middle, y + height / 2, box.width, box.height, box.lines, box.fill)
            x += box.width + _GAP
        y += height + _ROW_GAP
    routes = tuple(_routes(arrows, boxes, layers))
    bottom = y - _ROW_GAP + 14
    legend: list[tuple[float, str, str]] = []
    x = 10.0
    for group in groups if len(groups) > 1 else ():
        legend.append((x, group, fills[group]))
        x += 24 + len(group) * _CHARACTER + _GAP
    reach = [x for route in routes for x, _ in route.points] + [WIDTH]
    begin = min(*reach, 8.0) - 8
    return GraphDrawing(
        left=begin,
        width=max(reach) + 8 - begin,
        height=bottom + (20 if legend else 0),
        boxes=tuple(boxes.values()),
        routes=routes,
        legend=tuple(legend),
    )


def _layers(nodes: Iterable[GraphNode], arrows: Iterable[GraphArrow]) -> dict[str, int]:
    """How far down each box stands: below all that lead to it, an arrow that would close a circle
    apart; what nothing leads to stands right above the first it leads to.
    """
    names = [node.node_id for node in nodes]
    forward = [each for each in arrows if names.index(each.source) < names.index(each.target)]
    layers = dict.fromkeys(names, 0)
    for name in names:
        before = [layers[each.source] + 1 for each in forward if each.target == name]
        layers[name] = max(before, default=0)
    reached = {each.target for each in forward}
    for name in names:
        after = [layers[each.target] - 1 for each in forward if each.source == name]
        if name not in reached and after:
            layers[name] = max(0, min(after))
    return layers


def _box(node: GraphNode, fills: Mapping[str, str]) -> tuple[str, Box]:
    lines = tuple(textwrap.wrap(node.label, _LABEL_CHARACTERS)) or (node.node_id,)
    width = max(map(len, lines)) * _CHARACTER + 2 * _PADDING
    height = len(lines) * LINE_HEIGHT + _PADDING
    return node.node_id, Box(0, 0, width, height, lines, fills.get(node.group, "#FFFFFF"))


def _routes(
    arrows: Iterable[GraphArrow], boxes: Mapping[str, Box], layers: Mapping[str, int]
) -> Iterable[Route]:
    """Straight to the next row; farther, or back, along a lane of its own beside all boxes."""
    left = min(box.x - box.width / 2 for box in boxes.values())
    right = max(box.x + box.width / 2 for box in boxes.values())
    for arrow in arrows:
        one, other = boxes[arrow.source], boxes[arrow.target]
        if layers[arrow.target] - layers[arrow.source] == 1:
            start, end = (one.x, one.y + one.height / 2), (other.x, other.y - other.height / 2)
            x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
            yield Route((start, end), arrow.label, x + 6, y + 4, "start")
            continue
        side = -1 if one.x <= WIDTH / 2 else 1
        if side < 0:
            left -= _LANE
        else:
            right += _LANE
        lane = left if side < 0 else right
        yield Route(
            (
                (one.x + side * one.width / 2, one.y),
                (lane, one.y),
                (lane, other.y),
                (other.x + side * other.width / 2, other.y),
            ),
            arrow.label,
            lane - side * 4,
            (one.y + other.y) / 2,
            "start" if side < 0 else "end",
        )
