"""Figures of a draft: drawn by their specifications, and left out where they cannot be read.

Charts and graphs are drawn under a theme that a printed column can bear; what a model or a run
gives, and so may not fit, is looked at here.
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
from tasks.writing.graphs import MOST_WIDTH, graph_faults, graph_svg, settled, too_wide
from tasks.writing.parsing import parse

STAGE = "writing"
LEAST_PIXELS_PER_INCH = 200.0
"""In print; what is finer than 300 is not seen."""
MOST_TIMES = 2.5
"""Of the longer side of a picture to the shorter: what is longer has labels too small to read."""
MOST_PICTURE_HEIGHT = 640.0
"""Pixels, or 480 points: what a page has room for beside its caption."""
_PIXELS_PER_INCH = 96.0
"""Of an SVG."""
_PNG = "data:image/png;base64,"
_Size = tuple[int, int]


def failed(subject: str, reason: Reason, detail: str) -> Failure:
    return Failure(stage=STAGE, subject=subject, reason=reason, detail=detail)


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


def finished(
    figure: DraftFigure, values: Mapping[str, float]
) -> tuple[DraftFigure, tuple[str, ...]]:
    """The figure drawn, a graph so that it can be read; and what is wrong with it all the same.

    Args:
        values: numbers of the draft by the keys of their claims.
    """
    try:
        if figure.kind is FigureKind.GRAPH:
            graph = MethodGraph.model_validate_json(figure.spec)
            changed, said = settled(graph)
            if said:
                spec = changed.model_dump_json(indent=1)
                figure = replace(figure, spec=spec, mended=(*figure.mended, *said))
        figure = drawn(figure)
    except ValueError as error:
        return figure, (_undrawable(error),)
    return figure, faults_in(figure, values)


def readable(
    figures: Iterable[DraftFigure], values: Mapping[str, float]
) -> tuple[tuple[DraftFigure, ...], tuple[Failure, ...]]:
    """Figures that can be read in print, and a failure for each that is left out."""
    kept: list[DraftFigure] = []
    lost: list[Failure] = []
    for figure in figures:
        done, faults = finished(figure, values)
        if not faults:
            kept.append(done)
            continue
        more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
        said = f"left out, {'; '.join(faults[:3])}{more}"
        lost.append(failed(f"Figure {figure.figure_id}", Reason.ILLEGIBLE, said))
    return tuple(kept), tuple(lost)


def faults_in(figure: DraftFigure, values: Mapping[str, float]) -> tuple[str, ...]:
    """Return what is wrong with a figure; none: it can be read, and says what the draft says."""
    if not figure.svg:
        return ("it was not drawn",)
    try:
        return tuple(dict.fromkeys(_faults(figure, values)))
    except (ValueError, OSError) as error:
        return (_undrawable(error),)


def _faults(figure: DraftFigure, values: Mapping[str, float]) -> Iterator[str]:
    if figure.kind is FigureKind.CHART:
        caption = [seen for each in parse(figure.caption).stretches for seen in each.claims]
        yield from chart_faults(figure.spec, caption, values)
    elif figure.kind is FigureKind.GRAPH:
        yield from graph_faults(MethodGraph.model_validate_json(figure.spec))
    else:
        yield from _picture_faults(kept_png(figure))
    svg = drawn(figure).svg
    if figure.kind is FigureKind.CHART:  # the name of a metric may be longer than the axis
        wide = float(lxml.etree.fromstring(svg.encode()).get("width", "0"))
        if wide > MOST_WIDTH:
            yield too_wide(wide)
    if svg != figure.svg:
        yield "it is not what its specification draws"


def _undrawable(error: Exception) -> str:
    return f"it cannot be drawn: {' '.join(str(error).split())[:200]}"


# Pictures by an image model: what can be held against their pixels without reading them.


def picture_svg(png: bytes) -> str:
    """The picture as wide as a column, or so wide that a page has room for its height.

    Raises:
        ValueError, OSError: it is no PNG.
    """
    wide, high = _size(png)
    width = _shown_width(wide, high)
    size = f'width="{width:.1f}" height="{width * high / wide:.1f}"'
    data = _PNG + base64.b64encode(png).decode("ascii")
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image {size} href="{data}"/></svg>'


def _size(png: bytes) -> _Size:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        return image.size


def _shown_width(wide: int, high: int) -> float:
    return min(float(COLUMN_PIXELS), MOST_PICTURE_HEIGHT * wide / high)


def kept_png(figure: DraftFigure) -> bytes:
    """The pixels that a picture's SVG holds.

    Raises:
        ValueError: it holds none, or others than its specification says.
    """
    try:
        root = lxml.etree.fromstring(
            figure.svg.encode(), lxml.etree.XMLParser(resolve_entities=False)
        )
        found = [each.get("href", "") for each in root.iter("{*}image")]
        png = base64.b64decode(found[0].removeprefix(_PNG), validate=True) if found else b""
    except (lxml.etree.XMLSyntaxError, ValueError) as error:
        raise ValueError("it holds no picture") from error
    told = PictureSpec.model_validate_json(figure.spec).png_sha256
    if hashlib.sha256(png).hexdigest() != told:
        raise ValueError("it holds another picture than was drawn")
    return png


def _picture_faults(png: bytes) -> Iterator[str]:
    wide, high = _size(png)
    fine = wide / (_shown_width(wide, high) / _PIXELS_PER_INCH)
    if fine < LEAST_PIXELS_PER_INCH:
        least = f"fewer than {LEAST_PIXELS_PER_INCH:.0f}"
        yield f"its {wide} pixels are {fine:.0f} an inch in print, {least}"
    if max(wide, high) > MOST_TIMES * min(wide, high):
        ratio = f"one side more than {MOST_TIMES:g} times the other"
        yield f"it has {wide} by {high} pixels, {ratio}"
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        if image.convert("RGB").getcolors(maxcolors=1) is not None:  # None: there are more
            yield "all of it is of one colour"
