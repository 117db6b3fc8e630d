"""Figures drawn by their specifications."""

import json
from functools import lru_cache

import vl_convert

from schemas.base import replace
from schemas.draft import DraftFigure, FigureKind, MethodGraph
from tasks.writing.figures.graph_drawing import graph_svg


def drawn(figure: DraftFigure) -> DraftFigure:
    """The figure with the SVG that its specification gives, which loads nothing.

    Raises:
        ValueError: nothing can be drawn of it.
    """
    return replace(figure, svg=_svg(figure.kind, figure.spec))


@lru_cache(maxsize=128)
def _svg(kind: FigureKind, spec: str) -> str:
    if kind is FigureKind.GRAPH:
        return graph_svg(MethodGraph.model_validate_json(spec))
    return str(vl_convert.vegalite_to_svg(json.loads(spec)))
