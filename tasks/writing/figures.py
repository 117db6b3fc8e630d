"""Figures of a draft: drawn by their specifications, and dropped if they are not legible.

The theme of charts and graphs fits a printed column; content by a model or a run may not fit, and is
checked here.
"""

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
"""In print; detail beyond 300 is not visible."""
MOST_TIMES = 2.5
"""Longest allowed ratio of a picture's sides; labels of longer ones are too small."""
MOST_PICTURE_HEIGHT = 640.0
"""Pixels (480 points): the height that a page has for a figure with caption."""
_PIXELS_PER_INCH = 96.0
"""Pixels per inch of an SVG."""
_PNG = "data:image/png;base64,"
_Size = tuple[int, int]


def draft_failure(subject: str, reason: Reason, detail: str) -> Failure:
    return Failure(stage=STAGE, subject=subject, reason=reason, detail=detail)


def draw(figure: DraftFigure) -> DraftFigure:
    """Draw the figure as an SVG that loads nothing; a picture is embedded by its pixels.

    Raises:
        ValueError: nothing can be drawn from it.
    """
    if figure.kind is FigureKind.PICTURE:
        return replace(figure, svg=picture_svg(png_of(figure)))
    return replace(figure, svg=_svg(figure.kind, figure.spec))


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
    legible: list[DraftFigure] = []
    failures: list[Failure] = []
    for figure in figures:
        finished_figure, faults = finish(figure, values)
        if not faults:
            legible.append(finished_figure)
            continue
        more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
        detail = f"left out, {'; '.join(faults[:3])}{more}"
        failures.append(draft_failure(f"Figure {figure.figure_id}", Reason.ILLEGIBLE, detail))
    return tuple(legible), tuple(failures)


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
    png_width, png_height = _size(png)
    width = _shown_width(png_width, png_height)
    size = f'width="{width:.1f}" height="{width * png_height / png_width:.1f}"'
    data = _PNG + base64.b64encode(png).decode("ascii")
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image {size} href="{data}"/></svg>'


def _size(png: bytes) -> _Size:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        return image.size


def _shown_width(wide: int, high: int) -> float:
    return min(float(COLUMN_PIXELS), MOST_PICTURE_HEIGHT * wide / high)


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
    png_width, png_height = _size(png)
    fine = png_width / (_shown_width(png_width, png_height) / _PIXELS_PER_INCH)
    if fine < LEAST_PIXELS_PER_INCH:
        limit = f"fewer than {LEAST_PIXELS_PER_INCH:.0f}"
        yield f"its {png_width} pixels are {fine:.0f} an inch in print, {limit}"
    if max(png_width, png_height) > MOST_TIMES * min(png_width, png_height):
        ratio = f"one side more than {MOST_TIMES:g} times the other"
        yield f"it has {png_width} by {png_height} pixels, {ratio}"
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        if image.convert("RGB").getcolors(maxcolors=1) is not None:  # None: there are more
            yield "all of it is of one colour"
