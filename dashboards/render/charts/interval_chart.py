"""The strengths of one group with their intervals, laid out for `templates/intervals.svg.jinja`:
one row per idea.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render.wording import shortened
from warehouse.answers import RankedIdea

ROWS_SHOWN = 30
NAME_CHARACTERS = 40
LEFT, RIGHT, TOP, ROW_HEIGHT, WIDTH = 300, 90, 14, 24, 860
_TICKS = 5


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One idea: its strength as a dot, its 95 % interval as a line; positions in the units of the
    drawing.
    """

    name: str
    full_name: str
    y: float
    x: float
    lower_x: float
    upper_x: float
    ranks: str


@dataclass(frozen=True, slots=True)
class IntervalChart:
    """`ticks` are (x, label); `number` keeps the drawing's names apart on one page."""

    number: int
    width: int
    height: int
    plot_left: int
    plot_right: int
    plot_top: int
    plot_bottom: int
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[IntervalRow, ...]
    hidden_count: int
    unranked_count: int
    description: str


def interval_chart(number: int, ideas: Sequence[RankedIdea]) -> IntervalChart | None:
    """The best ideas of a group in the order given; None when none of them has a strength."""
    ranked = [(idea, *known) for idea in ideas if (known := _known(idea)) is not None]
    if not ranked:
        return None
    shown = ranked[:ROWS_SHOWN]
    low, high = min(lower for _, _, lower, _ in shown), max(upper for _, _, _, upper in shown)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / span, 1)

    rows = tuple(
        IntervalRow(
            name=shortened(idea.title or idea.idea_id, NAME_CHARACTERS),
            full_name=idea.title or idea.idea_id,
            y=TOP + ROW_HEIGHT * (row + 0.5),
            x=place(strength),
            lower_x=place(lower),
            upper_x=place(upper),
            ranks=_ranks(idea),
        )
        for row, (idea, strength, lower, upper) in enumerate(shown)
    )
    bottom = TOP + ROW_HEIGHT * len(shown)
    values = [low + span * step / (_TICKS - 1) for step in range(_TICKS)]
    return IntervalChart(
        number=number,
        width=WIDTH,
        height=bottom + 44,
        plot_left=LEFT,
        plot_right=WIDTH - RIGHT,
        plot_top=TOP,
        plot_bottom=bottom,
        ticks=tuple((place(value), f"{value:.1f}") for value in values),
        rows=rows,
        hidden_count=len(ranked) - len(shown),
        unranked_count=len(ideas) - len(ranked),
        description="; ".join(f"{row.full_name}: rank {row.ranks}" for row in rows),
    )


def _known(idea: RankedIdea) -> tuple[float, float, float] | None:
    if idea.strength is None or idea.strength_lower is None or idea.strength_upper is None:
        return None
    return idea.strength, idea.strength_lower, idea.strength_upper


def _ranks(idea: RankedIdea) -> str:
    return f"{idea.rank} ({idea.best_rank}–{idea.worst_rank})"
