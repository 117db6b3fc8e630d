"""Figures of a draft: drawn by their specifications, and dropped if they are not legible."""

import base64
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import lxml.etree
import vl_convert
from PIL import Image

from schemas.base import replace
from schemas.failure import Failure
from schemas.reasons import Reason
from schemas.works.draft import DraftFigure, FigureKind, MethodGraph, PictureSpec
from tasks.writing.charts import COLUMN_PIXELS, chart_faults
from tasks.writing.graphs import MOST_WIDTH, graph_faults, graph_svg, make_readable, too_wide
from tasks.writing.parsing import parse

STAGE = "writing"
LEAST_PIXELS_PER_INCH = 200.0
"""Least resolution in print; detail beyond 300 is not visible."""
MOST_TIMES = 2.5
"""Longest allowed ratio of a picture's sides; labels of longer ones are too small."""
MOST_PICTURE_HEIGHT = 640.0
"""Pixels (480 points): the height that a page has for a figure with caption."""
_PIXELS_PER_INCH = 96.0
"""Pixels per inch of an SVG."""
_PNG = "data:image/png;base64,"


def draft_failure(subject: str, reason: Reason, detail: str) -> Failure:
    return Failure(stage=STAGE, subject=subject, reason=reason, detail=detail)


def draw(figure: DraftFigure) -> DraftFigure:
    """Draw the figure as an SVG that loads nothing; a picture is embedded by its pixels.

    Raises:
        ValueError: nothing can be drawn from it.
    """
    is_picture = figure.kind is FigureKind.PICTURE
    svg = picture_svg(png_of(figure)) if is_picture else _svg(figure.kind, figure.spec)
    return replace(figure, svg=svg)


@lru_cache(maxsize=128)
def _svg(kind: FigureKind, spec: str) -> str:
    if kind is FigureKind.GRAPH:
        return graph_svg(MethodGraph.model_validate_json(spec))
    return str(vl_convert.vegalite_to_svg(json.loads(spec)))


def finish(figure: DraftFigure, values: Mapping[str, float]) -> tuple[DraftFigure, tuple[str, ...]]:
    """Draw a figure, adjust a graph for legibility, and return remaining faults.

    Args:
        values: numbers of the draft by claim key.
    """
    try:
        if figure.kind is FigureKind.GRAPH:
            graph = MethodGraph.model_validate_json(figure.spec)
            readable_graph, changes = make_readable(graph)
            if changes:
                spec = readable_graph.model_dump_json(indent=1)
                figure = replace(figure, spec=spec, mended=(*figure.mended, *changes))
        figure = draw(figure)
    except ValueError as error:
        return figure, (_undrawable(error),)
    return figure, faults_in(figure, values)


def readable_figures(
    figures: Iterable[DraftFigure], values: Mapping[str, float]
) -> tuple[tuple[DraftFigure, ...], tuple[Failure, ...]]:
    """Return the legible figures, and a failure for each dropped one."""
    results = [finish(figure, values) for figure in figures]
    failures = []
    for figure, faults in results:
        if faults:
            more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
            detail = f"left out, {'; '.join(faults[:3])}{more}"
            failures.append(draft_failure(f"Figure {figure.figure_id}", Reason.ILLEGIBLE, detail))
    return tuple(figure for figure, faults in results if not faults), tuple(failures)


def faults_in(figure: DraftFigure, values: Mapping[str, float]) -> tuple[str, ...]:
    """Return the faults of a figure; none if it is legible and agrees with the draft."""
    if not figure.svg:
        return ("it was not drawn",)
    try:
        return tuple(dict.fromkeys(_faults(figure, values)))
    except (ValueError, OSError) as error:
        return (_undrawable(error),)


def _faults(figure: DraftFigure, values: Mapping[str, float]) -> Iterator[str]:
    if figure.kind is FigureKind.CHART:
        caption = [claim for each in parse(figure.caption).stretches for claim in each.claims]
        yield from chart_faults(figure.spec, caption, values)
    elif figure.kind is FigureKind.GRAPH:
        yield from graph_faults(MethodGraph.model_validate_json(figure.spec))
    else:
        yield from _picture_faults(png_of(figure))
    svg = draw(figure).svg
    if figure.kind is FigureKind.CHART:  # the name of a metric may be longer than the axis
        width = float(lxml.etree.fromstring(svg.encode()).get("width", "0"))
        if width > MOST_WIDTH:
            yield too_wide(width)
    if svg != figure.svg:
        yield "it is not what its specification draws"


def _undrawable(error: Exception) -> str:
    return f"it cannot be drawn: {' '.join(str(error).split())[:200]}"


# Pictures by an image model: checks of their pixels.


def picture_svg(png: bytes) -> str:
    """Return the picture as wide as a column, or as its height on a page allows.

    Raises:
        ValueError, OSError: it is no PNG.
    """
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        width, height = image.size
    printed_width = _printed_width(width, height)
    size = f'width="{printed_width:.1f}" height="{printed_width * height / width:.1f}"'
    data = _PNG + base64.b64encode(png).decode("ascii")
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image {size} href="{data}"/></svg>'


def _printed_width(width: int, height: int) -> float:
    return min(float(COLUMN_PIXELS), MOST_PICTURE_HEIGHT * width / height)


def png_of(figure: DraftFigure) -> bytes:
    """Return the pixels in a picture's SVG.

    Raises:
        ValueError: there are none, or they differ from the specification.
    """
    try:
        root = lxml.etree.fromstring(
            figure.svg.encode(), lxml.etree.XMLParser(resolve_entities=False)
        )
        links = [each.get("href", "") for each in root.iter("{*}image")]
        png = base64.b64decode(links[0].removeprefix(_PNG), validate=True) if links else b""
    except (lxml.etree.XMLSyntaxError, ValueError) as error:
        raise ValueError("it holds no picture") from error
    png_sha256 = PictureSpec.model_validate_json(figure.spec).png_sha256
    if hashlib.sha256(png).hexdigest() != png_sha256:
        raise ValueError("it holds another picture than was drawn")
    return png


def _picture_faults(png: bytes) -> Iterator[str]:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        width, height = image.size
        colors = image.convert("RGB").getcolors(maxcolors=1)  # None: there are more
    density = width / (_printed_width(width, height) / _PIXELS_PER_INCH)
    if density < LEAST_PIXELS_PER_INCH:
        limit = f"fewer than {LEAST_PIXELS_PER_INCH:.0f}"
        yield f"its {width} pixels are {density:.0f} an inch in print, {limit}"
    if max(width, height) > MOST_TIMES * min(width, height):
        ratio = f"one side more than {MOST_TIMES:g} times the other"
        yield f"it has {width} by {height} pixels, {ratio}"
    if colors is not None:
        yield "all of it is of one colour"
