"""Values side by side, laid out for `templates/bars.svg.jinja`: one bar per value, from the zero of
the scale.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dashboards.render.wording import shortened

NAME_CHARACTERS = 40
LEFT, RIGHT, TOP, ROW_HEIGHT, WIDTH = 300, 130, 14, 26, 860
BARS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with its name; None: there is none, and `said` tells why."""

    name: str
    value: float | None
    said: str
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """What the bars are measured by; they start at zero, which lies between the ends."""

    low: float
    high: float
    ticks: tuple[float, ...]
    unit: str
    digits: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """Positions in the units of the drawing; `width` is None where there is no value."""

    name: str
    full_name: str
    said: str
    inner: bool
    y: float
    x: float
    width: float | None
    below_zero: bool


@dataclass(frozen=True, slots=True)
class BarChart:
    """`number` keeps the drawing's names apart on one page."""

    number: int
    title: str
    caption: str
    unit: str
    width: int
    height: int
    plot_left: int
    plot_right: int
    plot_top: int
    plot_bottom: int
    zero_x: float
    ticks: tuple[tuple[float, str], ...]
    bars: tuple[Bar, ...]
    hidden_count: int
    description: str


TEN = Scale(0.0, 10.0, (0.0, 2.0, 4.0, 6.0, 8.0, 10.0), "Score, points of 10")
MORE_OR_LESS_NOVEL = Scale(
    -1.0,
    1.0,
    (-1.0, -0.5, 0.0, 0.5, 1.0),
    "Mean comparison: −1 the papers are more novel … +1 the idea is",
    1,
)


def bar_chart(
    number: int, title: str, caption: str, scale: Scale, values: Sequence[Measured]
) -> BarChart | None:
    """The first `BARS_SHOWN` values in the order given; None when none of the values is known."""
    if all(measured.value is None for measured in values):
        return None
    shown = values[:BARS_SHOWN]

    def place(value: float) -> float:
        share = (min(max(value, scale.low), scale.high) - scale.low) / (scale.high - scale.low)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * share, 1)

    zero = place(0.0)
    bottom = TOP + ROW_HEIGHT * len(shown)
    return BarChart(
        number=number,
        title=title,
        caption=caption,
        unit=scale.unit,
        width=WIDTH,
        height=bottom + 44,
        plot_left=LEFT,
        plot_right=WIDTH - RIGHT,
        plot_top=TOP,
        plot_bottom=bottom,
        zero_x=zero,
        ticks=tuple(
            (place(tick), f"{tick:,.{scale.digits}f}".replace("-", "−")) for tick in scale.ticks
        ),
        bars=tuple(
            _bar(measured, TOP + ROW_HEIGHT * (row + 0.5), place, zero)
            for row, measured in enumerate(shown)
        ),
        hidden_count=len(values) - len(shown),
        description="; ".join(f"{measured.name}: {measured.said}" for measured in shown),
    )


def scale_to(largest: float, unit: str) -> Scale:
    """From zero to a round number not below `largest`, in quarters."""
    magnitude = 1.0
    while magnitude > largest:
        magnitude /= 10
    while magnitude * 10 <= largest:
        magnitude *= 10
    high = next(magnitude * step for step in (1, 2, 4, 6, 8, 10) if magnitude * step >= largest)
    digits = max(0, len(f"{high / 4:.10f}".rstrip("0").partition(".")[2]))
    return Scale(0.0, high, tuple(high * quarter / 4 for quarter in range(5)), unit, digits)


def _bar(measured: Measured, y: float, place: Callable[[float], float], zero: float) -> Bar:
    end = zero if measured.value is None else place(measured.value)
    return Bar(
        name=shortened(measured.name, NAME_CHARACTERS),
        full_name=measured.name,
        said=measured.said,
        inner=measured.inner,
        y=y,
        x=min(zero, end),
        width=None if measured.value is None else round(abs(end - zero), 1),
        below_zero=end < zero,
    )
