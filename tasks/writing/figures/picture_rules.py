"""Rules for pictures by an image model: what can be held against their pixels without reading
them.
"""

from collections.abc import Iterator

from tasks.writing.figures.looking import Look

LEAST_PIXELS_PER_INCH = 200.0
"""In print; what is finer than 300 is not seen."""
MOST_TIMES = 2.5
"""Of the longer side to the shorter one: what is longer has labels too small to be read."""
_POINTS_PER_INCH = 72.0


def resolution(look: Look) -> Iterator[str]:
    pixels = look.pixels
    if pixels is None:
        return
    fine = pixels.width / (look.printed.width / _POINTS_PER_INCH)
    if fine < LEAST_PIXELS_PER_INCH:
        yield (
            f"its {pixels.width} pixels are {fine:.0f} an inch in print, fewer than"
            f" {LEAST_PIXELS_PER_INCH:.0f}"
        )


def shape(look: Look) -> Iterator[str]:
    pixels = look.pixels
    if pixels is None:
        return
    short, long = sorted((pixels.width, pixels.height))
    if long > MOST_TIMES * short:
        yield (
            f"it has {pixels.width} by {pixels.height} pixels, one side more than {MOST_TIMES:g}"
            " times the other"
        )


def shows_something(look: Look) -> Iterator[str]:
    if look.pixels is not None and look.pixels.has_one_colour:
        yield "all of it is of one colour"
