"""Reliability curves of calibrated judgements, laid out for `templates/reliability.svg.jinja`:
expected against observed, bin by bin.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.judgement.benchmark import BenchmarkScore

EXPECTED, OBSERVED = "reliability_expected", "reliability_observed"
BIN_MARK = ", bin "
LEFT, TOP, SIZE = 60, 14, 320
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """One bin: where its statements should lie and where they do, with the 95 % interval; positions
    in the units of the drawing.
    """

    x: float
    y: float
    lower_y: float
    upper_y: float
    radius: float
    label: str


@dataclass(frozen=True, slots=True)
class ReliabilityChart:
    """`ticks` are (position across, position down, label); `number` keeps the drawing's names apart
    on one page.
    """

    number: int
    title: str
    left: int
    top: int
    right: int
    bottom: int
    width: int
    height: int
    ticks: tuple[tuple[float, float, str], ...]
    points: tuple[ReliabilityPoint, ...]
    description: str


def reliability_charts(scores: Iterable[BenchmarkScore]) -> dict[int, ReliabilityChart]:
    """One chart per system and calibrated part, numbered from 1; none without rows of
    `reliability_expected` and `…_observed`.
    """
    found: dict[tuple[str, str], dict[str, dict[str, BenchmarkScore]]] = {}
    for score in scores:
        part, mark, place = score.slice.partition(BIN_MARK)
        if mark and score.metric in (EXPECTED, OBSERVED) and score.value is not None:
            found.setdefault((score.system, part), {}).setdefault(place, {})[score.metric] = score
    curves = {
        key: [(bins[EXPECTED], bins[OBSERVED]) for bins in places.values() if len(bins) == 2]
        for key, places in found.items()
    }
    drawn = [(key, pairs) for key, pairs in curves.items() if pairs]
    return {
        number: _chart(number, *key, pairs) for number, (key, pairs) in enumerate(drawn, start=1)
    }


def _chart(
    number: int, system: str, part: str, pairs: list[tuple[BenchmarkScore, BenchmarkScore]]
) -> ReliabilityChart:
    most = max(observed.count for _, observed in pairs) or 1
    points = tuple(_point(expected, observed, most) for expected, observed in pairs)
    return ReliabilityChart(
        number=number,
        title=f"{system}, {part}",
        left=LEFT,
        top=TOP,
        right=LEFT + SIZE,
        bottom=TOP + SIZE,
        width=LEFT + SIZE + 40,
        height=TOP + SIZE + 50,
        ticks=tuple((_across(value), _down(value), f"{value:g}") for value in _TICKS),
        points=points,
        description="; ".join(point.label for point in points),
    )


def _point(expected: BenchmarkScore, observed: BenchmarkScore, most: int) -> ReliabilityPoint:
    assert expected.value is not None
    assert observed.value is not None
    lower = observed.value if observed.lower is None else observed.lower
    upper = observed.value if observed.upper is None else observed.upper
    return ReliabilityPoint(
        x=_across(expected.value),
        y=_down(observed.value),
        lower_y=_down(lower),
        upper_y=_down(upper),
        radius=round(3 + 5 * (observed.count / most) ** 0.5, 1),
        label=f"expected {expected.value:.2f}, observed {observed.value:.2f} of {observed.count}",
    )


def _across(value: float) -> float:
    return round(LEFT + SIZE * value, 1)


def _down(value: float) -> float:
    return round(TOP + SIZE * (1 - value), 1)
