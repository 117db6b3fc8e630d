"""Method figures as boxes and arrows, laid out from top to bottom as SVG that loads nothing."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, groupby, pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

from schemas.base import replace
from schemas.literature.naming import one_space
from schemas.works.draft import DraftFigure, FigureKind, GraphArrow, GraphNode, MethodGraph
from schemas.works.experiment import Experiment
from tasks.writing.charts import COLUMN_PIXELS, TEXT_PIXELS, width_of

WIDTH, LINE_HEIGHT = float(COLUMN_PIXELS), 14
_PADDING, _GAP, _ROW_GAP, _LANE = 12.0, 24.0, 24.0, 16.0
FILLS = ("#D9EAF3", "#F4D7BF", "#8CC0DC", "#F8F3AA", "#E8A673", "#A6A6A6")
"""Tints of Okabe and Ito's palette: at least 10 apart in CIELAB, also for protanopes and
deuteranopes (Machado and others, 2009), with a text contrast of at least 4.5.
"""
_WHITE, _INK, _LINE = "#FFFFFF", "#222222", "#555555"
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """One box, by its center."""

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
class _Area:
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, box: Box) -> "_Area":
        half_width, half_height = box.width / 2, box.height / 2
        return cls(box.x - half_width, box.y - half_height, box.x + half_width, box.y + half_height)

    def meets(self, other: "_Area") -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > 0 and min(self.bottom, other.bottom) > max(self.top, other.top)

    def is_crossed(self, start: Point, end: Point) -> bool:
        """Return whether a straight line passes through its inside (Liang and Barsky)."""
        low, high = 0.0, 1.0
        for at, to, minimum, maximum in (
            (start[0], end[0], self.left, self.right),
            (start[1], end[1], self.top, self.bottom),
        ):
            if at == to:
                if not minimum < at < maximum:
                    return False
                continue
            first, second = sorted(((minimum - at) / (to - at), (maximum - at) / (to - at)))
            low, high = max(low, first), min(high, second)
        return low < high


@dataclass(frozen=True, slots=True)
class Route:
    """One arrow: its corners, and the position of its label."""

    points: tuple[Point, ...]
    label: str
    label_x: float
    label_y: float
    anchor: str

    @property
    def path(self) -> str:
        return " L ".join(f"{x:.1f} {y:.1f}" for x, y in self.points)


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    left: float
    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    legend: tuple[tuple[float, str, str], ...]

    @property
    def has_free_labels(self) -> bool:
        """Return whether no label overlaps a box, an arrow, another label or the edge."""
        labels = [(route, _label_area(route)) for route in self.routes if route.label]
        boxes = [_Area.around(box) for box in self.boxes]
        lines = [pair for route in self.routes for pair in pairwise(route.points)]
        return not (
            any(one.meets(other) for (_, one), (_, other) in combinations(labels, 2))
            or any(area.meets(box) for _, area in labels for box in boxes)
            or any(area.is_crossed(*line) for _, area in labels for line in lines)
            or any(
                area.left < self.left or area.right > self.left + self.width for _, area in labels
            )
        )


def _label_area(route: Route) -> _Area:
    width = width_of(route.label)
    left = route.label_x - (width if route.anchor == "end" else 0)
    return _Area(left, route.label_y - TEXT_PIXELS * 0.75, left + width, route.label_y + 2)


def graph_svg(graph: MethodGraph) -> str:
    drawing = lay_out(graph)
    left, width, height = f"{drawing.left:.1f}", f"{drawing.width:.1f}", f"{drawing.height:.1f}"
    root = Element(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height},
        viewBox=f"{left} 0 {width} {height}",
        fill=_INK,
        **{"font-family": "Helvetica, Arial, sans-serif", "font-size": str(TEXT_PIXELS)},
    )
    tip = {"viewBox": "0 0 8 8", "refX": "7", "refY": "4", "markerWidth": "7", "markerHeight": "7"}
    marker = SubElement(SubElement(root, "defs"), "marker", tip, id="tip", orient="auto")
    SubElement(marker, "path", d="M 0 0 L 8 4 L 0 8 z", fill=_LINE)
    SubElement(root, "rect", x=left, y="0", width=width, height=height, fill=_WHITE)
    for route in drawing.routes:
        stroke = {"fill": "none", "stroke-width": "1.2", "marker-end": "url(#tip)"}
        SubElement(root, "path", stroke, d=f"M {route.path}", stroke=_LINE)
    marks = SubElement(root, "g", {"class": "role-mark"})
    for box in drawing.boxes:
        corner = (box.x - box.width / 2, box.y - box.height / 2)
        _rect(marks, *corner, box.width, box.height, box.fill).set("rx", "4")
        for y, line in box.baselines:
            _text(root, box.x, y, line, "middle")
    for route in drawing.routes:
        if route.label:
            _text(root, route.label_x, route.label_y, route.label, route.anchor)
    for x, group, fill in drawing.legend:
        _rect(marks, x, drawing.height - 18, 12, 12, fill)
        _text(root, x + 18, drawing.height - 8, group, "start")
    return tostring(root, encoding="unicode")


def _rect(parent: Element, x: float, y: float, width: float, height: float, fill: str) -> Element:
    places = {"x": x, "y": y, "width": width, "height": height}
    attributes = {name: f"{value:.1f}" for name, value in places.items()}
    return SubElement(parent, "rect", attributes, fill=fill, stroke=_LINE)


def _text(parent: Element, x: float, y: float, text: str, anchor: str) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    SubElement(parent, "text", place).text = one_space(text)


def lay_out(graph: MethodGraph) -> GraphDrawing:
    """Lay out rows of boxes from top to bottom, and the arrows between them."""
    node_ids = {node.node_id for node in graph.nodes}
    arrows = [each for each in graph.arrows if {each.source, each.target} <= node_ids]
    layers = _layers(graph.nodes, arrows)
    groups = list(dict.fromkeys(node.group for node in graph.nodes if node.group))
    fills = {group: FILLS[place % len(FILLS)] for place, group in enumerate(groups)}
    boxes: dict[str, Box] = {}
    y, gap = 10.0, _ROW_GAP + (10 if any(each.label for each in arrows) else 0)
    ordered_nodes = sorted(graph.nodes, key=lambda node: layers[node.node_id])
    far = {end for each in arrows if _is_far(each, layers) for end in (each.source, each.target)}
    for _, row in groupby(ordered_nodes, key=lambda node: layers[node.node_id]):
        boxes_of_row = [
            _box(node, fills, graph.line_characters) for node in _in_row(list(row), far)
        ]
        height = max(box.height for _, box in boxes_of_row)
        total = sum(box.width for _, box in boxes_of_row) + _GAP * (len(boxes_of_row) - 1)
        x = (WIDTH - total) / 2
        for name, box in boxes_of_row:
            middle = x + box.width / 2
            boxes[name] = Box(middle, y + height / 2, box.width, box.height, box.lines, box.fill)
            x += box.width + _GAP
        y += height + gap
    routes = tuple(_routes(arrows, boxes, layers))
    bottom = y - gap + 14
    legend: list[tuple[float, str, str]] = []
    x = 10.0
    for group in groups if len(groups) > 1 else ():
        legend.append((x, group, fills[group]))
        x += 24 + width_of(group) + _GAP
    reach = [x for route in routes for x, _ in route.points] + [WIDTH]
    reach += [x - _GAP] if legend else []
    reach += [box.x + side * box.width / 2 for box in boxes.values() for side in (-1, 1)]
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
    """Return the row of each box: below all sources of its arrows, ignoring backward arrows.

    A box without incoming arrows is directly above its first target.
    """
    names = [node.node_id for node in nodes]
    forward = [each for each in arrows if names.index(each.source) < names.index(each.target)]
    layers = dict.fromkeys(names, 0)
    for name in names:
        lower_bounds = [layers[each.source] + 1 for each in forward if each.target == name]
        layers[name] = max(lower_bounds, default=0)
    targets = {each.target for each in forward}
    for name in names:
        upper_bounds = [layers[each.target] - 1 for each in forward if each.source == name]
        if name not in targets and upper_bounds:
            layers[name] = max(0, min(upper_bounds))
    return layers


def _box(node: GraphNode, fills: Mapping[str, str], line_characters: int) -> tuple[str, Box]:
    lines = tuple(textwrap.wrap(node.label, line_characters)) or (node.node_id,)
    width = max(map(width_of, lines)) + 2 * _PADDING
    height = len(lines) * LINE_HEIGHT + _PADDING
    return node.node_id, Box(0, 0, width, height, lines, fills.get(node.group, _WHITE))


def _is_far(arrow: GraphArrow, layers: Mapping[str, int]) -> bool:
    """Return whether it leads farther than the next row, or back."""
    return layers[arrow.target] - layers[arrow.source] != 1


def _in_row(row: Sequence[GraphNode], far: Collection[str]) -> Sequence[GraphNode]:
    """Move boxes with arrows in side lanes to the ends of their row."""
    if all(node.node_id not in far for node in row[1:-1]):
        return row
    outside = [node for node in row if node.node_id in far]
    inside = [node for node in row if node.node_id not in far]
    return [*outside[::2], *inside, *reversed(outside[1::2])]


def _routes(
    arrows: Iterable[GraphArrow], boxes: Mapping[str, Box], layers: Mapping[str, int]
) -> Iterable[Route]:
    """Route arrows straight to the next row; others along a side lane of their own."""
    left = min(box.x - box.width / 2 for box in boxes.values())
    right = max(box.x + box.width / 2 for box in boxes.values())
    rows: dict[int, list[Box]] = {}
    for name, box in boxes.items():
        rows.setdefault(layers[name], []).append(box)
    for arrow in arrows:
        one, other = boxes[arrow.source], boxes[arrow.target]
        if not _is_far(arrow, layers):
            start, end = (one.x, one.y + one.height / 2), (other.x, other.y - other.height / 2)
            yield Route((start, end), arrow.label, *_label_place(start, end))
            continue
        source_row, target_row = rows[layers[arrow.source]], rows[layers[arrow.target]]
        side = -1 if one.x <= WIDTH / 2 else 1
        if not _is_last(one, source_row, side) and _is_last(one, source_row, -side):
            side = -side
        if side < 0:
            left -= _LANE
        else:
            right += _LANE
        lane = left if side < 0 else right
        yield Route(
            (
                *_to_lane(one, source_row, side, lane, 1),
                *reversed(_to_lane(other, target_row, side, lane, -1)),
            ),
            arrow.label,
            lane - side * 4,
            (one.y + other.y) / 2,
            "start" if side < 0 else "end",
        )


def _is_last(box: Box, row: Iterable[Box], side: int) -> bool:
    """Return whether no box of its row is farther on that side."""
    return all(side * each.x <= side * box.x for each in row)


def _to_lane(box: Box, row: Sequence[Box], side: int, lane: float, down: int) -> tuple[Point, ...]:
    """Route from the box to its lane: straight, or through the gap below its row (`down` 1) or
    above it (-1).
    """
    if _is_last(box, row, side):
        return (box.x + side * box.width / 2, box.y), (lane, box.y)
    gap = max(down * each.y + each.height / 2 for each in row) + _ROW_GAP / 3
    return (box.x, box.y + down * box.height / 2), (box.x, down * gap), (lane, down * gap)


def _label_place(start: Point, end: Point) -> tuple[float, float, str]:
    """Return the label place of a straight arrow: below its upper half, where there is room."""
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if abs(end[0] - start[0]) < 1:
        return x + 6, y + 4, "start"
    return (x - 4, y + 11, "end") if end[0] > start[0] else (x + 4, y + 11, "start")


METHOD = "method"
MOST_BOX_CHARACTERS = 48
MOST_BACKWARD_SHARE = 0.25
"""Largest share of arrows that lead up, against the reading order."""
MOST_WIDTH, MOST_HEIGHT = 540, 665
"""Pixels. A column has 345 points, so text of 11 pixels has 7 points at this width; a page has
500 points of height for a figure.
"""
_SHOWN_CHARACTERS = 40


def experiment_graph(experiments: Sequence[Experiment]) -> DraftFigure:
    input_group, search_group, result_group = "given", "tried", "concluded"
    nodes = [
        GraphNode(node_id="parent", label="Parent program", group=input_group),
        GraphNode(node_id="propose", label="Candidates proposed", group=search_group),
        GraphNode(node_id="screen", label="Run on small data", group=search_group),
        GraphNode(node_id="compare", label="The best run on full data", group=search_group),
        GraphNode(node_id="confirm", label="The best one run on fresh data", group=search_group),
        GraphNode(node_id="finding", label="Finding", group=result_group),
    ]
    arrows = [
        GraphArrow(source="parent", target="propose"),
        GraphArrow(source="propose", target="screen"),
        GraphArrow(source="screen", target="compare"),
        GraphArrow(source="compare", target="confirm"),
        GraphArrow(source="confirm", target="finding"),
        GraphArrow(source="parent", target="confirm", label="same data"),
    ]
    if any(each.baseline_id for each in experiments):
        nodes.insert(1, GraphNode(node_id="known", label="Baselines", group=input_group))
        arrows.append(GraphArrow(source="known", target="confirm", label="same data"))
    caption = (
        "How programs were tried. What is given is held against the best candidate on data that"
        " chose nothing; candidates are chosen on other data."
    )
    return graph_figure(MethodGraph(nodes=tuple(nodes), arrows=tuple(arrows)), caption)


def plan_graph(parts: Sequence[str]) -> DraftFigure:
    names = [part.capitalize() for part in parts] or ["Idea"]
    nodes = [GraphNode(node_id=name.lower(), label=name, group="planned") for name in names]
    nodes.append(GraphNode(node_id="measured", label="Measurements", group="to be shown"))
    nodes.append(GraphNode(node_id="finding", label="Finding", group="to be shown"))
    arrows = tuple(
        GraphArrow(source=first.node_id, target=second.node_id) for first, second in pairwise(nodes)
    )
    caption = "What is planned, and what is to be shown."
    return graph_figure(MethodGraph(nodes=tuple(nodes), arrows=arrows), caption)


def graph_figure(graph: MethodGraph, caption: str) -> DraftFigure:
    return DraftFigure(
        figure_id=METHOD,
        kind=FigureKind.GRAPH,
        caption=caption,
        spec=graph.model_dump_json(indent=1),
    )


def make_readable(graph: MethodGraph) -> tuple[MethodGraph, tuple[str, ...]]:
    """Return a legible graph, and the changes made to it."""
    changes: list[str] = []
    names = {node.node_id for node in graph.nodes}
    valid_arrows = tuple(
        each
        for each in graph.arrows
        if {each.source, each.target} <= names and each.source != each.target
    )
    if valid_arrows != graph.arrows:
        graph = replace(graph, arrows=valid_arrows)
        changes.append("arrows that lead to no box, or from a box to itself, were left out")
    ordered_graph = _in_order(graph)
    if len(_backward(graph)) > MOST_BACKWARD_SHARE * len(valid_arrows) and ordered_graph != graph:
        graph = ordered_graph
        changes.append("boxes stand in the order of the arrows")
    for characters in (22, 16, 12):
        if lay_out(graph).width > MOST_WIDTH and characters < graph.line_characters:
            graph = replace(graph, line_characters=characters)
    if lay_out(graph).width <= MOST_WIDTH and graph.line_characters in (22, 16, 12):
        changes.append(f"lines of boxes are broken at {graph.line_characters} characters")
    if not lay_out(graph).has_free_labels:
        graph = replace(graph, arrows=tuple(replace(each, label="") for each in graph.arrows))
        changes.append("arrows bear no labels")
    return graph, tuple(changes)


def graph_faults(graph: MethodGraph) -> Iterator[str]:
    """Yield the remaining faults of a graph."""
    names = {node.node_id for node in graph.nodes}
    yield from _box_faults(graph)
    for arrow in graph.arrows:
        if not {arrow.source, arrow.target} <= names:
            yield f"an arrow leads from {arrow.source!r} to {arrow.target!r}, and one is no box"
        elif arrow.source == arrow.target:
            yield f"an arrow leads from {arrow.source!r} to itself"
    back = _backward(graph)
    if len(back) > MOST_BACKWARD_SHARE * len(graph.arrows):
        count = f"{len(back)} of {len(graph.arrows)}"
        yield f"{count} arrows lead up, against the order in which it is read"
    drawing = lay_out(graph)
    if drawing.width > MOST_WIDTH:
        yield too_wide(drawing.width)
    if drawing.height > MOST_HEIGHT:
        yield f"it is {drawing.height:.0f} pixels high, more than a page has room for"
    if not drawing.has_free_labels:
        yield "a label of an arrow lies on something else"


def too_wide(pixels: float) -> str:
    return f"it is {pixels:.0f} pixels wide, so its text is less than 7 points high"


def _box_faults(graph: MethodGraph) -> Iterator[str]:
    names = [node.node_id for node in graph.nodes]
    for name in sorted({each for each in names if names.count(each) > 1}):
        yield f"two boxes are called {name[:_SHOWN_CHARACTERS]!r}"
    for node in graph.nodes:
        if len(node.label) > MOST_BOX_CHARACTERS:
            yield f"the box {node.label!r} is longer than {MOST_BOX_CHARACTERS} characters"
    groups = {node.group for node in graph.nodes if node.group}
    if len(groups) > len(FILLS):
        yield f"{len(groups)} groups are told apart by colour, more than {len(FILLS)}"
    connected_boxes = {end for arrow in graph.arrows for end in (arrow.source, arrow.target)}
    for node in graph.nodes if len(graph.nodes) > 1 else ():
        if node.node_id not in connected_boxes:
            yield f"no arrow leads to or from the box {node.label!r}"


def _backward(graph: MethodGraph) -> list[GraphArrow]:
    place = {node.node_id: at for at, node in enumerate(graph.nodes)}
    valid_arrows = [each for each in graph.arrows if {each.source, each.target} <= place.keys()]
    return [each for each in valid_arrows if place[each.source] > place[each.target]]


def _in_order(graph: MethodGraph) -> MethodGraph:
    sources_by_node: dict[str, set[str]] = {node.node_id: set() for node in graph.nodes}
    for arrow in graph.arrows:
        sources_by_node[arrow.target].add(arrow.source)
    try:
        order = list(TopologicalSorter(sources_by_node).static_order())
    except CycleError:
        return graph
    nodes = sorted(graph.nodes, key=lambda node: order.index(node.node_id))
    return replace(graph, nodes=tuple(nodes))
