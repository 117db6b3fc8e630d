"""The method figure of a draft as boxes and arrows: what the experiment did or what the idea plans,
where no model has described it; and the graphs that can be read.
"""

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from schemas.base import replace
from schemas.works.draft import DraftFigure, FigureKind, GraphArrow, GraphNode, MethodGraph
from schemas.works.experiment import Experiment
from tasks.writing.graph_drawing import FILLS, laid_out

METHOD = "method"
MOST_BOX_CHARACTERS = 48
MOST_BACKWARD_SHARE = 0.25
"""Of the arrows: those that lead up, against the order in which boxes are read."""
MOST_WIDTH, MOST_HEIGHT = 540, 665
"""Pixels. A column has 345 points: text of 11 pixels has 7 points in a wider figure. 500 points of
height are what a page has room for.
"""
_SHOWN_CHARACTERS = 40


def experiment_graph(experiments: Sequence[Experiment]) -> DraftFigure:
    """How candidates came about and were held against what was known."""
    given, tried, judged = "given", "tried", "concluded"
    nodes = [
        GraphNode(node_id="parent", label="Parent program", group=given),
        GraphNode(node_id="propose", label="Candidates proposed", group=tried),
        GraphNode(node_id="screen", label="Run on small data", group=tried),
        GraphNode(node_id="compare", label="The best run on full data", group=tried),
        GraphNode(node_id="confirm", label="The best one run on fresh data", group=tried),
        GraphNode(node_id="finding", label="Finding", group=judged),
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
        nodes.insert(1, GraphNode(node_id="known", label="Baselines", group=given))
        arrows.append(GraphArrow(source="known", target="confirm", label="same data"))
    caption = (
        "How programs were tried. What is given is held against the best candidate on data that"
        " chose nothing; candidates are chosen on other data."
    )
    return graph_figure(MethodGraph(nodes=tuple(nodes), arrows=tuple(arrows)), caption)


def plan_graph(parts: Sequence[str]) -> DraftFigure:
    """What the idea has said so far, and what is to come of it."""
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


def settled(graph: MethodGraph) -> tuple[MethodGraph, tuple[str, ...]]:
    """The graph as it can be read, and what was changed for it."""
    said: list[str] = []
    names = {node.node_id for node in graph.nodes}
    sound = tuple(
        each
        for each in graph.arrows
        if {each.source, each.target} <= names and each.source != each.target
    )
    if sound != graph.arrows:
        graph = replace(graph, arrows=sound)
        said.append("arrows that lead to no box, or from a box to itself, were left out")
    ordered = _in_order(graph)
    if len(_backward(graph)) > MOST_BACKWARD_SHARE * len(sound) and ordered != graph:
        graph = ordered
        said.append("boxes stand in the order of the arrows")
    for characters in (22, 16, 12):
        if laid_out(graph).width > MOST_WIDTH and characters < graph.line_characters:
            graph = replace(graph, line_characters=characters)
    if laid_out(graph).width <= MOST_WIDTH and graph.line_characters in (22, 16, 12):
        said.append(f"lines of boxes are broken at {graph.line_characters} characters")
    if not laid_out(graph).has_free_labels:
        graph = replace(graph, arrows=tuple(replace(each, label="") for each in graph.arrows))
        said.append("arrows bear no labels")
    return graph, tuple(said)


def graph_faults(graph: MethodGraph) -> Iterator[str]:
    """Return what of a graph cannot be read, though it is settled."""
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
    drawing = laid_out(graph)
    if drawing.width > MOST_WIDTH:
        yield f"it is {drawing.width:.0f} pixels wide, so its text is less than 7 points high"
    if drawing.height > MOST_HEIGHT:
        yield f"it is {drawing.height:.0f} pixels high, more than a page has room for"
    if not drawing.has_free_labels:
        yield "a label of an arrow lies on something else"


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
    ends = {end for arrow in graph.arrows for end in (arrow.source, arrow.target)}
    for node in graph.nodes if len(graph.nodes) > 1 else ():
        if node.node_id not in ends:
            yield f"no arrow leads to or from the box {node.label!r}"


def _backward(graph: MethodGraph) -> list[GraphArrow]:
    place = {node.node_id: at for at, node in enumerate(graph.nodes)}
    known = [each for each in graph.arrows if {each.source, each.target} <= place.keys()]
    return [each for each in known if place[each.source] > place[each.target]]


def _in_order(graph: MethodGraph) -> MethodGraph:
    before: dict[str, set[str]] = {node.node_id: set() for node in graph.nodes}
    for arrow in graph.arrows:
        before[arrow.target].add(arrow.source)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return graph
    nodes = sorted(graph.nodes, key=lambda node: order.index(node.node_id))
    return replace(graph, nodes=tuple(nodes))
