"""SVG drawings: marks, axes, titles and text.

Reports and pages use this instead of Altair, which draws the figures of drafts. A run has up to two
charts per idea; one takes a fraction of a millisecond here, but 65 ms and 150 MB with Altair and
vl-convert. The page's style sheet colors these charts for light, dark and print, and their marks
have tooltips without a script.
"""

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib import resources

from markupsafe import escape

from dashboards.render.page import Figure
from schemas.literature.naming import one_space
from schemas.text.patterns import bounded

WIDTH, NARROW = 860, 360  # of screens and of phones
UNIT_HEIGHT, _CHARACTER_WIDTH = 16, 7
# Within these spans, products with pixels and fractions of a range stay normal floats.
_SPANS = (1e-300, 1e300)
Ticks = Iterable[tuple[float, str]]
_VARIABLE = bounded(r"var\((--[a-z-]{1,20})\)")
_COLOR = bounded(r"(--[a-z-]{1,20}): (#[0-9a-f]{3,6})")


def can_be_drawn(span: float) -> bool:
    """Return whether places within such a range can be computed without loss."""
    return _SPANS[0] <= span <= _SPANS[1]  # false for NaN


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return the map from a value to its place; outside values go to the nearer end."""
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return round(start + (end - start) * (min(max(value, low), high) - low) / span, 1)

    return place


class Drawing:
    """Marks, drawn in order; positions are in pixels and all text is escaped.

    Args:
        name: of the figure and its file, unique on a page.
    """

    def __init__(self, name: str, title: str, width: int = WIDTH) -> None:
        self._name = f"{name}-narrow" if width == NARROW else name
        self._title, self.width = title, width
        self._marks: list[str] = []

    def mark(self, element: str, words: str = "", tooltip: str = "", **attributes: object) -> None:
        """Add an SVG element; `kind` is its class, and empty attributes are left out."""
        svg_attributes = {
            {"kind": "class"}.get(name, name.replace("_", "-")): value
            for name, value in attributes.items()
            if value not in ("", None)
        }
        attribute_text = "".join(
            f' {name}="{_words(value)}"' for name, value in svg_attributes.items()
        )
        title = f"<title>{_words(tooltip)}</title>" if tooltip else ""
        inner = f"{_words(words)}{title}"
        self._marks.append(
            f"<{element}{attribute_text}>{inner}</{element}>"
            if inner
            else f"<{element}{attribute_text}/>"
        )

    def line(
        self, kind: str, x1: float, y1: float, x2: float, y2: float, tooltip: str = ""
    ) -> None:
        self.mark("line", tooltip=tooltip, kind=kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def dot(self, x: float, y: float, radius: float, tooltip: str = "", kind: str = "") -> None:
        self.mark("circle", tooltip=tooltip, kind=kind, cx=x, cy=y, r=radius)

    def label(
        self, words: str, x: float, y: float, kind: str = "", anchor: str = "", tooltip: str = ""
    ) -> None:
        """Add text; `anchor` is `middle` or `end` if it does not start at `x`."""
        self.mark("text", words, tooltip, kind=kind, x=x, y=y, text_anchor=anchor)

    def x_axis(self, ticks: Ticks, top: float, bottom: float, unit: str = "") -> None:
        """Add vertical lines with labels below, and the unit in the middle."""
        tick_list = list(ticks)
        for x, words in tick_list:
            self.line("grid", x, top, x, bottom)
            self.label(words, x, bottom + 17, "tick", "middle")
        for row, words in enumerate(textwrap.wrap(unit, self.width // _CHARACTER_WIDTH)):
            middle = (tick_list[0][0] + tick_list[-1][0]) / 2
            self.label(words, middle, bottom + 37 + UNIT_HEIGHT * row, "tick", "middle")

    def y_axis(self, ticks: Ticks, left: float, right: float) -> None:
        """Add horizontal lines with labels at the left."""
        for y, words in ticks:
            self.line("grid", left, y, right, y)
            self.label(words, left - 9, y + 4, "tick", "end")

    def figure(self, height: float, caption: str, description: str, kind: str = "") -> Figure:
        """Return the drawing with its title and alternative text; `kind` is its class."""
        name = self._name
        style = f' style="max-width:{self.width}px"' if self.width < WIDTH else ""
        class_text = f' class="{kind}"' if kind else ""
        svg = (
            f'<svg viewBox="0 0 {self.width} {height:g}" role="img"{class_text}{style}'
            f' aria-labelledby="{name}-title {name}-description">\n'
            f'<title id="{name}-title">{_words(self._title)}</title>\n'
            f'<desc id="{name}-description">{_words(description)}</desc>\n'
            + "\n".join(self._marks)
            + "\n</svg>"
        )
        size = (self.width, round(height))
        return Figure(name, self._title, svg, caption, description, size)


def drawn(draw: Callable[[int], tuple[Drawing, float]], caption: str, description: str) -> Figure:
    """Return a figure for screens with another drawing of it for phones.

    Args:
        draw: returns the drawing of a width, and its height.
    """
    (wide, height), (narrow, narrow_height) = draw(WIDTH), draw(NARROW)
    phone = narrow.figure(narrow_height, caption, description, "narrow")
    return replace(wide.figure(height, caption, description, "wide"), narrow_svg=phone.svg)


def picture(figure: Figure, *, printed: bool = False) -> str:
    """Return a drawing as a self-contained SVG file.

    Args:
        printed: in the colors of paper, for programs without CSS variables.
    """
    width, height = figure.size
    style = _sheet("colors.css") + _sheet("chart.css") + ".chart { background: var(--paper); }"
    if printed:
        colors = {
            match[1]: match[2]
            for match in _COLOR.finditer(_sheet("colors.css").partition("@media")[0])
        }
        style = _VARIABLE.sub(lambda match: colors[match[1]], _sheet("chart.css"))
    drawing = figure.svg.replace(' class="wide"', "", 1)  # small pictures have no other drawing
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{width}" height="{height}">\n'
        f"<style>\n{style}\n</style>\n{drawing}\n</svg>\n"
    )


@cache
def _sheet(name: str) -> str:
    return resources.files("dashboards.render").joinpath("templates", name).read_text("utf-8")


def _words(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return one_space(str(escape(value))) if isinstance(value, str) else str(value)
