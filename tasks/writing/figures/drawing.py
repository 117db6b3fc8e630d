"""Figures drawn by their specifications."""

import json
from functools import lru_cache

import vl_convert

from schemas.base import replace
from schemas.works.draft import DraftFigure, FigureKind, MethodGraph
from tasks.writing.figures.graph_drawing import graph_svg
from tasks.writing.figures.pictures import kept_png, picture_svg


def drawn(figure: DraftFigure) -> DraftFigure:
    """The figure with the SVG that its specification gives, which loads nothing; a picture with
    its pixels and nothing else.

    Raises:
        ValueError: nothing can be drawn of it.
    """
    if figure.kind is FigureKind.PICTURE:
        return replace(figure, svg=picture_svg(kept_png(figure)))
    return replace(figure, svg=_svg(figure.kind, figure.spec))


@lru_cache(maxsize=128)
def _svg(kind: FigureKind, spec: str) -> str:
    if kind is FigureKind.GRAPH:
        return graph_svg(MethodGraph.model_validate_json(spec))
    return str(vl_convert.vegalite_to_svg(json.loads(spec)))
