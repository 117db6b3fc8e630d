"""The method figure of a draft that no model has described: what the experiment did, step by step,
or what the idea plans to do.
"""

from collections.abc import Sequence
from itertools import pairwise

from schemas.works.draft import DraftFigure, FigureKind, GraphArrow, GraphNode, MethodGraph
from schemas.works.experiment import Experiment

METHOD = "method"


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
