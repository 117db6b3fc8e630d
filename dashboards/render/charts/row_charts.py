"""Charts with one row per name: bars, spreads, and strengths with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render.charts import drawing
from dashboards.render.charts.drawing import NARROW, UNIT_HEIGHT, WIDTH, Drawing, drawn
from dashboards.render.page import Figure
from dashboards.render.wording import shorten
from warehouse.row_models import RankedIdea

NAME_CHARACTERS, NARROW_CHARACTERS = 40, 50
LEFT, RIGHT, TOP, ROW_HEIGHT = 300, WIDTH - 130, 14, 26
_EDGE, _NARROW_ROW_HEIGHT = 16, 44
ROWS_SHOWN = 40
_INTERVALS = (
    "Dots are strengths, lines their 95 % intervals; at the right the rank, and in brackets the"
    " ranks the intervals allow."
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Axis of a chart; bars begin at zero, which is between its ends."""

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


class _Rows(Drawing):
    """A drawing with labeled rows over one scale; on phones each name is above its row."""

    def __init__(self, name: str, title: str, width: int, scale: Scale, row_count: int) -> None:
        super().__init__(name, title, width)
        self._is_narrow = width == NARROW
        left, right = (_EDGE, width - _EDGE) if self._is_narrow else (LEFT, RIGHT)
        self._row_height = _NARROW_ROW_HEIGHT if self._is_narrow else ROW_HEIGHT
        self.across = drawing.scale(scale.low, scale.high, left, right)
        self.bottom = TOP + self._row_height * row_count
        self._row_count = 0
        ticks = [(self.across(each), f"{each:,.{scale.digits}f}") for each in scale.ticks]
        self.x_axis(
            [(x, words.replace("-", "−")) for x, words in ticks], TOP, self.bottom, scale.unit
        )

    @property
    def height(self) -> float:
        return self.bottom + 44 + (UNIT_HEIGHT if self._is_narrow else 0)

    def row(self, name: str, text: str, kind: str = "") -> float:
        """Add the next row's name and text; return the height of its middle."""
        y = TOP + self._row_height * (self._row_count + 0.5)
        self._row_count += 1
        if self._is_narrow:
            visible = shorten(name, NARROW_CHARACTERS - len(text))
            self.label(visible, 0, y - 6, kind, "", name)
            self.label(text, NARROW, y - 6, "tick", "end")
            return y + 9
        self.label(shorten(name, NAME_CHARACTERS), LEFT - 12, y + 4, kind, "end", name)
        self.label(text, RIGHT + 12, y + 4, "tick")
        return y


@dataclass(frozen=True, slots=True)
class Bar:
    """A named value; if it is None, `text` gives the reason."""

    name: str
    value: float | None
    text: str
    inner: bool = False


def bar_chart(
    name: str, title: str, caption: str, scale: Scale | None, values: Sequence[Bar]
) -> Figure | None:
    """Draw the first `ROWS_SHOWN` values in the order given, as bars from zero.

    None if no value is known, or there is no scale for them.
    """
    if scale is None or all(bar.value is None for bar in values):
        return None
    visible, axis = values[:ROWS_SHOWN], scale

    def draw(width: int) -> tuple[Drawing, float]:
        chart = _Rows(name, title, width, axis, len(visible))
        zero = chart.across(0.0)
        chart.line("rail", zero, TOP, zero, chart.bottom)
        for bar in visible:
            y = chart.row(bar.name, bar.text, "tick" if bar.inner else "")
            if bar.value is not None:
                end, half = chart.across(bar.value), 6 if bar.inner else 9
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
        return chart, chart.height

    hidden = _hidden(len(values) - len(visible), "more are in the text only")
    return drawn(draw, caption + hidden, _describe(visible))


def _hidden(count: int, words: str) -> str:
    """Return where the rows beyond `ROWS_SHOWN` are."""
    return f" {count:,} {words}." if count else ""


@dataclass(frozen=True, slots=True)
class Spread:
    """A row of dots with a line over their range, and a text at the right.

    Attributes:
        ends: of the line, if not the first and last dot.
        other: drawn in the other color, for published figures.
    """

    name: str
    dots: Sequence[float]
    text: str
    ends: tuple[float, float] | None = None
    other: bool = False


def spread_chart(
    name: str,
    title: str,
    caption: str,
    unit: str,
    rows: Sequence[Spread],
    hidden: str = "more are in the table only",
    scale: Scale | None = None,
) -> Figure | None:
    """Draw the first `ROWS_SHOWN` rows in the order given; None if there is nothing.

    Args:
        scale: None: a scale from zero, for values that are not negative.
    """
    visible = rows[:ROWS_SHOWN]
    values = [each for row in visible for each in (*row.dots, *(row.ends or ()))]
    if scale is None and min(values, default=0.0) >= 0:
        scale = scale_to(max(values, default=0.0), unit)
    if scale is None:
        return None
    axis = scale

    def draw(width: int) -> tuple[Drawing, float]:
        chart = _Rows(name, title, width, axis, len(visible))
        for row in visible:
            y = chart.row(row.name, row.text)
            low, high = row.ends or (min(row.dots), max(row.dots))
            chart.line("interval", chart.across(low), y, chart.across(high), y)
            for dot in row.dots:
                tooltip = f"{row.name}: {row.text}"
                chart.dot(chart.across(dot), y, 4.5, tooltip, "other" * row.other)
        return chart, chart.height

    return drawn(draw, caption + _hidden(len(rows) - len(visible), hidden), _describe(visible))


def _describe(rows: Sequence[Bar] | Sequence[Spread]) -> str:
    return "; ".join(f"{row.name}: {row.text}" for row in rows)


def interval_chart(name: str, ideas: Sequence[RankedIdea]) -> Figure | None:
    """Draw the strengths of one group's first ideas; None if none has a strength."""
    rows = []
    for idea in ideas:
        strength, lower, upper = idea.strength, idea.strength_lower, idea.strength_upper
        if strength is not None and lower is not None and upper is not None:
            ranks = f"rank {idea.rank} ({idea.best_rank}–{idea.worst_rank})"
            rows.append(Spread(idea.title or idea.idea_id, (strength,), ranks, (lower, upper)))
    if not rows:
        return None
    ends = [end for row in rows[:ROWS_SHOWN] for end in row.ends or ()]
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    ticks = tuple(low + span * quarter / 4 for quarter in range(5))
    scale = Scale(low, low + span, ticks, "Strength", 1)
    unranked_count = len(ideas) - len(rows)
    more = (
        f" {unranked_count} ideas without a scored match are drawn nowhere."
        if unranked_count
        else ""
    )
    title, hidden = "Strengths with 95 % intervals", "weaker ideas are in the table only"
    return spread_chart(name, title, _INTERVALS + more, "", rows, hidden, scale)


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
