"""A figure as it will be printed: its labels, lines and colours, read out of the PDF that is made
of its SVG. Positions and sizes are points on paper, once the figure has the width of a column.

Each label is given a colour of its own before the PDF is made, so that every glyph says which label
it belongs to; the colours it will have are kept beside.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import lxml.etree
import pypdfium2
import vl_convert
from pypdfium2 import raw

from tasks.writing.figures.colours import Colour

COLUMN_POINTS = 345.0
"""Of LaTeX's article on A4, the narrowest column that a draft is set in."""
WHITE: Colour = (255, 255, 255)
_DEEPEST = 12
_MARKS = "role-mark"
"""What Vega and the method figures call what bears meaning, apart from axes and legends."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: "Area", slack: float = 0.0) -> bool:
        """Whether they share more than `slack` in both directions."""
        across = min(self.right, other.right) - max(self.left, other.left)
        upward = min(self.top, other.top) - max(self.bottom, other.bottom)
        return across > slack and upward > slack

    def holds(self, point: Point) -> bool:
        return self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top


@dataclass(slots=True)
class Label:
    """A text of the figure; without glyphs nothing of it is printed."""

    text: str
    colour: Colour
    background: Colour = WHITE
    points: float = 0.0
    glyphs: list[Area] = field(default_factory=list)

    @property
    def area(self) -> Area:
        return Area(
            min(each.left for each in self.glyphs),
            min(each.bottom for each in self.glyphs),
            max(each.right for each in self.glyphs),
            max(each.top for each in self.glyphs),
        )


@dataclass(slots=True)
class Printed:
    """All that is seen of a figure.

    Attributes:
        lines: straight pieces of what is stroked, from end to end.
        marks: colours of what bears meaning, as they are seen on white.
    """

    width: float
    height: float
    labels: list[Label]
    lines: list[tuple[Point, Point]] = field(default_factory=list)
    marks: set[Colour] = field(default_factory=set)


@lru_cache(maxsize=64)
def printed(svg: str) -> Printed:
    """Read a figure of ours.

    Raises:
        lxml.etree.XMLSyntaxError, ValueError: it is no SVG that can be drawn.
    """
    root = lxml.etree.fromstring(svg.encode(), lxml.etree.XMLParser(resolve_entities=False))
    labels = [_label(each) for each in root.iter("{*}text") if _words(each)]
    shown = (each for each in root.iter("{*}text") if _words(each))
    for number, element in enumerate(shown, start=1):
        element.set("fill", f"#{number:06x}")
    pdf = vl_convert.svg_to_pdf(lxml.etree.tostring(root, encoding="unicode"))
    document = pypdfium2.PdfDocument(pdf)
    try:
        page = document[0]
        width, height = page.get_size()
        scale = min(1.0, COLUMN_POINTS / width)
        found = Printed(width * scale, height * scale, labels, marks=_mark_colours(root))
        _read(page, found, scale)
    finally:
        document.close()
    found.labels = [each for each in labels if each.glyphs or not _is_hidden(each)]
    return found


_HIDDEN: Colour = (-1, -1, -1)


def _is_hidden(label: Label) -> bool:
    return label.colour == _HIDDEN


def _words(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _label(element: Any) -> Label:
    seen = _seen(element, "fill")
    return Label(_words(element), _HIDDEN if seen is None else seen)


def _seen(element: Any, name: str) -> Colour | None:
    """The colour of an element on white; None: nothing of it is seen."""
    value, opacity = "", 1.0
    for each in (element, *element.iterancestors()):
        value = value or each.get(name, "")
        opacity *= float(each.get("opacity", 1.0))
    opacity *= float(element.get(f"{name}-opacity", 1.0))
    value = value or ("#000000" if name == "fill" else "none")
    if value in ("none", "transparent") or opacity == 0.0:
        return None
    return _on_white(_of_name(value), opacity)


def _of_name(value: str) -> Colour:
    if value.startswith("rgb("):
        red, green, blue = (int(each) for each in value[4:-1].split(","))
        return red, green, blue
    digits = value.lstrip("#") if value.startswith("#") else {"black": "000", "white": "fff"}[value]
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def _on_white(colour: Colour, opacity: float) -> Colour:
    red, green, blue = (round(255 + (value - 255) * opacity) for value in colour)
    return red, green, blue


def _mark_colours(root: Any) -> set[Colour]:
    found: set[Colour] = set()
    for group in root.iter("{*}g"):
        if _MARKS not in group.get("class", "").split():
            continue
        for element in group.iter("{*}path", "{*}rect", "{*}circle", "{*}line"):
            fill = _seen(element, "fill") if element.get("fill") else None
            found |= {each for each in (fill or _seen(element, "stroke"),) if each is not None}
    return found


def _read(page: Any, found: Printed, scale: float) -> None:
    """Walk over what is painted, in the order in which it is."""
    painted: list[tuple[Area, Colour]] = []
    for item in page.get_objects(max_depth=_DEEPEST):
        left, bottom, right, top = (value * scale for value in item.get_bounds())
        area = Area(left, bottom, right, top)
        if item.type == raw.FPDF_PAGEOBJ_TEXT:
            red, green, blue, _ = _colour(item, raw.FPDFPageObj_GetFillColor)
            number = (red << 16) + (green << 8) + blue
            if not 1 <= number <= len(found.labels) or right <= left or top <= bottom:
                continue
            label = found.labels[number - 1]
            if not label.glyphs:
                label.points = _points(item) * scale
                middle = ((left + right) / 2, (bottom + top) / 2)
                under = (colour for where, colour in reversed(painted) if where.holds(middle))
                label.background = next(under, WHITE)
            label.glyphs.append(area)
        elif item.type == raw.FPDF_PAGEOBJ_PATH:
            filled, stroked = _draw_mode(item)
            if filled:
                red, green, blue, alpha = _colour(item, raw.FPDFPageObj_GetFillColor)
                painted.append((area, _on_white((red, green, blue), alpha / 255)))
            if stroked:
                found.lines += _lines(item, scale)


def _colour(item: Any, ask: Any) -> tuple[int, int, int, int]:
    parts = [ctypes.c_uint() for _ in range(4)]
    ask(item.raw, *map(ctypes.byref, parts))
    red, green, blue, alpha = (part.value for part in parts)
    return red, green, blue, alpha


def _points(item: Any) -> float:
    size = ctypes.c_float()
    raw.FPDFTextObj_GetFontSize(item.raw, ctypes.byref(size))
    matrix = item.get_matrix()
    return float(size.value) * float(abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5)


def _draw_mode(item: Any) -> tuple[bool, bool]:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item.raw, ctypes.byref(fill), ctypes.byref(stroke))
    return bool(fill.value), bool(stroke.value)


def _lines(item: Any, scale: float) -> Iterator[tuple[Point, Point]]:
    matrix = item.get_matrix()
    before: Point | None = None
    for number in range(raw.FPDFPath_CountSegments(item.raw)):
        segment = raw.FPDFPath_GetPathSegment(item.raw, number)
        x, y = ctypes.c_float(), ctypes.c_float()
        raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        moved = matrix.on_point(x.value, y.value)
        point = (moved[0] * scale, moved[1] * scale)
        if before is not None and raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO:
            yield before, point
        before = point
