"""Bar charts: one horizontal bar per value, from zero."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render.charts import drawing
from dashboards.render.charts.drawing import WIDTH, Drawing
from dashboards.render.page import Figure
from dashboards.render.wording import shorten

NAME_CHARACTERS = 40
LEFT, RIGHT, TOP, ROW_HEIGHT = 300, WIDTH - 130, 14, 26
BARS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Bar:
    """A named value; if it is None, `text` gives the reason."""

    name: str
    value: float | None
    text: str
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Axis of the bars, with zero between its ends."""

    low: float
    high: float
    ticks: tuple[float, ...]
    unit: str
    digits: int = 0


TEN = Scale(0.0, 10.0, (0.0, 2.0, 4.0, 6.0, 8.0, 10.0), "Score, points of 10")
MORE_OR_LESS_NOVEL = Scale(
    -1.0,
    1.0,
    (-1.0, -0.5, 0.0, 0.5, 1.0),
    "Mean comparison: −1 the papers are more novel … +1 the idea is",
    1,
)


def bar_chart(
    name: str, title: str, caption: str, scale: Scale | None, values: Sequence[Bar]
) -> Figure | None:
    """Draw the first `BARS_SHOWN` values in the order given.

    None if no value is known, or there is no scale for them.
    """
    if scale is None or all(bar.value is None for bar in values):
        return None
    visible = values[:BARS_SHOWN]
    across = drawing.scale(scale.low, scale.high, LEFT, RIGHT)
    zero, bottom = across(0.0), TOP + ROW_HEIGHT * len(visible)
    chart = Drawing(name, title)
    ticks = [(across(each), f"{each:,.{scale.digits}f}".replace("-", "−")) for each in scale.ticks]
    chart.x_axis(ticks, TOP, bottom, scale.unit)
    chart.line("rail", zero, TOP, zero, bottom)
    for row, bar in enumerate(visible):
        y = TOP + ROW_HEIGHT * (row + 0.5)
        label = shorten(bar.name, NAME_CHARACTERS)
        kind = "tick" if bar.inner else ""
        chart.label(label, LEFT - 12, y + 4, kind, "end", bar.name)
        if bar.value is not None:
            end, half = across(bar.value), 6 if bar.inner else 9
            chart.mark(
                "rect",
                tooltip=f"{bar.name}: {bar.text}",
                kind="bar less" if end < zero else "bar",
                x=min(zero, end),
                y=y - half,
                width=max(round(abs(end - zero), 1), 1.5),
                height=2 * half,
                rx=2,
            )
        chart.label(bar.text, RIGHT + 12, y + 4, "tick")
    hidden_count = len(values) - len(visible)
    more = f" {hidden_count} more are in the text only." if hidden_count else ""
    description = "; ".join(f"{bar.name}: {bar.text}" for bar in visible)
    return chart.figure(bottom + 44, caption + more, description)


def scale_to(largest: float, unit: str, *, whole: bool = False) -> Scale | None:
    """Return a scale in quarters from zero to a round number above `largest`.

    None if `largest` is not positive, or too small or too large to draw.

    Args:
        whole: the values are counts, so that no tick is a fraction.
    """
    if not drawing.can_be_drawn(largest):
        return None
    if whole and largest < 4:
        return Scale(0.0, largest, tuple(map(float, range(int(largest) + 1))), unit, 0)
    magnitude = 1.0
    while magnitude > largest:
        magnitude /= 10
    while magnitude * 10 <= largest:
        magnitude *= 10
    high = next(magnitude * step for step in (1, 2, 4, 6, 8, 10) if magnitude * step >= largest)
    digits = max(0, len(f"{high / 4:.10f}".rstrip("0").partition(".")[2]))
    return Scale(0.0, high, tuple(high * quarter / 4 for quarter in range(5)), unit, digits)
