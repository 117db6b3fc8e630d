"""Whether colours can be read and told apart, also by people who see fewer of them.

Contrast: WCAG 2.2, 1.4.3 and 1.4.11. Simulation: Machado, Oliveira and Fernandes, "A
physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15(6), 2009,
table 1, severity 1.0, over linear RGB. Distances: CIELAB under D65 (CIE 1976).
"""

import math
from itertools import combinations, product

Colour = tuple[int, int, int]
"""Red, green and blue, 0–255."""
_Three = tuple[float, float, float]

SIGHT: dict[str, tuple[_Three, _Three, _Three]] = {
    "everybody": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "people with protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "people with deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
_TO_XYZ: tuple[_Three, _Three, _Three] = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_WHITE: _Three = (0.95047, 1.0, 1.08883)


def named(colour: Colour) -> str:
    """As figures write it, `#RRGGBB`."""
    return "#{:02X}{:02X}{:02X}".format(*colour)


def contrast(one: Colour, other: Colour) -> float:
    """WCAG's ratio, 1 to 21."""
    darker, lighter = sorted(_times(_TO_XYZ, _linear(each))[1] for each in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def nearest(colours: set[Colour]) -> tuple[float, str, Colour, Colour] | None:
    """The two colours that lie nearest to each other, and for whom: their distance in CIELAB;
    None: there are no two.
    """
    seen = product(SIGHT, combinations(sorted(colours), 2))
    return min(((_distance(*pair, who), who, *pair) for who, pair in seen), default=None)


def _distance(one: Colour, other: Colour, who: str) -> float:
    first, second = (_lab(_times(SIGHT[who], _linear(each))) for each in (one, other))
    return math.dist(first, second)


def _linear(colour: Colour) -> _Three:
    def one(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    return one(colour[0]), one(colour[1]), one(colour[2])


def _times(matrix: tuple[_Three, _Three, _Three], vector: _Three) -> _Three:
    def row(weights: _Three) -> float:
        return sum(weight * value for weight, value in zip(weights, vector, strict=True))

    return row(matrix[0]), row(matrix[1]), row(matrix[2])


def _lab(linear: _Three) -> _Three:
    within = [min(max(value, 0.0), 1.0) for value in linear]
    xyz = _times(_TO_XYZ, (within[0], within[1], within[2]))
    x, y, z = (_root(value / white) for value, white in zip(xyz, _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    return float(share ** (1 / 3)) if share > (6 / 29) ** 3 else share * (29 / 6) ** 2 / 3 + 4 / 29
