"""Strengths of one group with intervals, one row per idea."""

from collections.abc import Sequence

from dashboards.render.charts.drawing import WIDTH, Drawing, scale
from dashboards.render.page import Figure
from dashboards.render.wording import shorten
from warehouse.row_models import RankedIdea

ROWS_SHOWN = 30
NAME_CHARACTERS = 40
LEFT, RIGHT, TOP, ROW_HEIGHT = 300, WIDTH - 90, 14, 24
_TICKS = 5
_CAPTION = (
    "Dots are strengths, lines their 95 % intervals; at the right the rank, and in brackets the"
    " ranks the intervals allow."
)


def interval_chart(name: str, ideas: Sequence[RankedIdea]) -> Figure | None:
    """Draw the first ideas of a group; None if none has a strength."""
    rows = [
        (idea, *strength_bounds)
        for idea in ideas
        if (strength_bounds := _strength_bounds(idea)) is not None
    ]
    if not rows:
        return None
    visible = rows[:ROWS_SHOWN]
    low, high = min(lower for _, _, lower, _ in visible), max(upper for _, _, _, upper in visible)
    across, bottom = scale(low, high, LEFT, RIGHT), TOP + ROW_HEIGHT * len(visible)
    drawing = Drawing(name, "Strengths with 95 % intervals")
    values = [low + ((high - low) or 1.0) * step / (_TICKS - 1) for step in range(_TICKS)]
    places = [LEFT + (RIGHT - LEFT) * step / (_TICKS - 1) for step in range(_TICKS)]
    ticks = [(x, f"{value:.1f}") for x, value in zip(places, values, strict=True)]
    drawing.x_axis(ticks, TOP, bottom, "Strength")
    for row, (idea, strength, lower, upper) in enumerate(visible):
        y, full_name = TOP + ROW_HEIGHT * (row + 0.5), idea.title or idea.idea_id
        label = shorten(full_name, NAME_CHARACTERS)
        drawing.label(label, LEFT - 12, y + 4, anchor="end", tooltip=full_name)
        drawing.line("interval", across(lower), y, across(upper), y)
        drawing.dot(across(strength), y, 5, full_name)
        drawing.label(_ranks(idea), RIGHT + 12, y + 4, "tick")
    hidden_count, unranked_count = len(rows) - len(visible), len(ideas) - len(rows)
    more = f" {hidden_count} weaker ideas are in the table only." if hidden_count else ""
    more += (
        f" {unranked_count} ideas without a scored match are drawn nowhere."
        if unranked_count
        else ""
    )
    ranks = [f"{idea.title or idea.idea_id}: rank {_ranks(idea)}" for idea, *_ in visible]
    return drawing.figure(bottom + 44, _CAPTION + more, "; ".join(ranks))


def _strength_bounds(idea: RankedIdea) -> tuple[float, float, float] | None:
    if idea.strength is None or idea.strength_lower is None or idea.strength_upper is None:
        return None
    return idea.strength, idea.strength_lower, idea.strength_upper


def _ranks(idea: RankedIdea) -> str:
    return f"{idea.rank} ({idea.best_rank}–{idea.worst_rank})"
