"""Rules for method figures: boxes, arrows, and the order in which they are read."""

from collections.abc import Iterator

from tasks.writing.figures.graph_drawing import FILLS
from tasks.writing.figures.looking import SHOWN_CHARACTERS, Look

MOST_BOX_CHARACTERS = 48
MOST_BACKWARD_SHARE = 0.25
"""Of the arrows: those that lead up."""


def boxes(look: Look) -> Iterator[str]:
    graph = look.graph
    if graph is None:
        return
    names = [node.node_id for node in graph.nodes]
    for name in sorted({each for each in names if names.count(each) > 1}):
        yield f"two boxes are called {name[:SHOWN_CHARACTERS]!r}"
    for node in graph.nodes:
        if len(node.label) > MOST_BOX_CHARACTERS:
            yield f"the box {node.label!r} is longer than {MOST_BOX_CHARACTERS} characters"
    groups = {node.group for node in graph.nodes if node.group}
    if len(groups) > len(FILLS):
        yield f"{len(groups)} groups are told apart by colour, more than {len(FILLS)}"


def arrows(look: Look) -> Iterator[str]:
    graph = look.graph
    if graph is None:
        return
    names = {node.node_id for node in graph.nodes}
    for arrow in graph.arrows:
        if not {arrow.source, arrow.target} <= names:
            yield f"an arrow leads from {arrow.source!r} to {arrow.target!r}, and one is no box"
        elif arrow.source == arrow.target:
            yield f"an arrow leads from {arrow.source!r} to itself"
    ends = {end for arrow in graph.arrows for end in (arrow.source, arrow.target)}
    for node in graph.nodes if len(graph.nodes) > 1 else ():
        if node.node_id not in ends:
            yield f"no arrow leads to or from the box {node.label!r}"


def reading_order(look: Look) -> Iterator[str]:
    """Boxes are read from above to below, so arrows have to lead down."""
    graph = look.graph
    if graph is None:
        return
    place = {node.node_id: at for at, node in enumerate(graph.nodes)}
    known = [each for each in graph.arrows if {each.source, each.target} <= place.keys()]
    back = [each for each in known if place[each.source] > place[each.target]]
    if len(back) > MOST_BACKWARD_SHARE * len(known):
        yield f"{len(back)} of {len(known)} arrows lead up, against the order in which it is read"
