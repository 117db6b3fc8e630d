"""Rules for every figure, as it is printed."""

from collections.abc import Iterator
from itertools import combinations

from tasks.writing.figures.colours import contrast, named, nearest
from tasks.writing.figures.drawing import drawn
from tasks.writing.figures.looking import SHOWN_CHARACTERS, Look
from tasks.writing.figures.printed import Area, Label, Point

LEAST_POINTS = 7.0
"""Of a label in print; journals ask for 5 to 7 at least."""
LEAST_TEXT_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3."""
LEAST_DISTANCE = 10.0
"""In CIELAB, between colours that bear meaning; 2.3 is the least that is seen side by side."""
MOST_HEIGHT_POINTS = 500.0
_SLACK_POINTS = 0.3
_LEAST_GAP = 0.2
"""Between labels, in their size: what is nearer reads as one."""


def is_drawn(look: Look) -> Iterator[str]:
    if drawn(look.figure).svg != look.figure.svg:
        yield "it is not what its specification draws"
    if look.printed.height > MOST_HEIGHT_POINTS:
        yield f"it is {look.printed.height:.0f} points high in print, more than a page has room for"
    for label in look.printed.labels:
        if not label.glyphs:
            yield f"{_short(label)} has no glyph in the fonts at hand"


def text_size(look: Look) -> Iterator[str]:
    small = [each for each in _seen(look) if each.points < LEAST_POINTS - 0.005]
    if small:
        least = min(small, key=lambda label: label.points)
        yield (
            f"{_short(least)} is {least.points:.1f} points high in print, less than"
            f" {LEAST_POINTS:.0f}"
        )


def overlap(look: Look) -> Iterator[str]:
    for one, other in combinations(_seen(look), 2):
        gap = -_LEAST_GAP * min(one.points, other.points)
        if one.area.meets(other.area, gap) and _collide(one, other, gap):
            yield f"{_short(one)} and {_short(other)} overlap, or read as one"


def crossed_labels(look: Look) -> Iterator[str]:
    for label in _seen(look):
        if any(_runs_through(start, end, label) for start, end in look.printed.lines):
            yield f"a line runs through {_short(label)}"


def whole_labels(look: Look) -> Iterator[str]:
    page = look.printed
    for label in _seen(look):
        area = label.area
        inside = min(area.left, area.bottom) >= -_SLACK_POINTS
        inside = inside and area.right <= page.width + _SLACK_POINTS
        if not (inside and area.top <= page.height + _SLACK_POINTS):
            yield f"{_short(label)} is cut off at the edge"
        elif label.text.endswith("…"):
            yield f"{_short(label)} was cut short"


def text_contrast(look: Look) -> Iterator[str]:
    for label in _seen(look):
        ratio = contrast(label.colour, label.background)
        if ratio < LEAST_TEXT_CONTRAST:
            yield (
                f"{_short(label)} in {named(label.colour)} on {named(label.background)} has a"
                f" contrast of {ratio:.1f}, less than {LEAST_TEXT_CONTRAST}"
            )


def told_apart(look: Look) -> Iterator[str]:
    found = nearest(look.printed.marks)
    if found is not None and found[0] < LEAST_DISTANCE:
        distance, who, one, other = found
        yield (
            f"{who} see {named(one)} and {named(other)} as nearly the same: {distance:.1f} apart in"
            f" CIELAB, less than {LEAST_DISTANCE:.0f}"
        )


def _seen(look: Look) -> list[Label]:
    return [label for label in look.printed.labels if label.glyphs]


def _collide(one: Label, other: Label, slack: float) -> bool:
    return any(a.meets(b, slack) for a in one.glyphs for b in other.glyphs)


def _runs_through(start: Point, end: Point, label: Label) -> bool:
    return any(_meets_line(glyph, start, end) for glyph in label.glyphs)


def _meets_line(area: Area, start: Point, end: Point) -> bool:
    """Whether a straight line passes through the inside of `area` (Liang and Barsky)."""
    low, high = 0.0, 1.0
    for at, to, least, most in (
        (start[0], end[0], area.left + _SLACK_POINTS, area.right - _SLACK_POINTS),
        (start[1], end[1], area.bottom + _SLACK_POINTS, area.top - _SLACK_POINTS),
    ):
        if least >= most:
            return False
        if at == to:
            if not least < at < most:
                return False
            continue
        first, second = sorted(((least - at) / (to - at), (most - at) / (to - at)))
        low, high = max(low, first), min(high, second)
    return low < high


def _short(label: Label) -> str:
    text = label.text
    return repr(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…")
