"""The scores of a run by group, laid out for `templates/chart.svg.jinja`.

One row per group, one dot per tenth of a point.

The charts of reports are drawn by hand, not by Altair as those of the app. A run has up to two for
each idea, and a template takes 0.25 ms where Altair and vl-convert take 65 ms and 150 MB. Besides,
the page's style sheet colours them for light, dark and print, and each mark says what it stands
for under the pointer, without a script.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from dashboards.render import figures
from dashboards.render.wording import shortened
from dashboards.views.run_page import GroupPart

GROUPS_SHOWN = 30
NAME_CHARACTERS = 24
LEFT, RIGHT, TOP, ROW_HEIGHT, WIDTH = 190, 150, 16, 40, 860
SMALLEST_RADIUS, LARGEST_RADIUS = 5.0, 15.0


@dataclass(frozen=True, slots=True)
class Dot:
    """Ideas of one group whose scores round to the same tenth; the area grows with their number."""

    x: float
    radius: float
    label: str


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One group; `median_x` is None when no idea of it has a score."""

    name: str
    full_name: str
    y: float
    dots: tuple[Dot, ...]
    median_x: float | None
    summary: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Positions in the units of the drawing; `ticks` are (x, label)."""

    width: int
    height: int
    plot_left: int
    plot_right: int
    plot_top: int
    plot_bottom: int
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[ChartRow, ...]
    hidden_group_count: int
    description: str


def score_chart(groups: Sequence[GroupPart]) -> Chart | None:
    """The largest groups, in the order of the ranking; None when no idea has a score."""
    if not any(group.scores for group in groups):
        return None
    largest = sorted(groups, key=lambda group: -len(group.lines))[:GROUPS_SHOWN]
    shown = [group for group in groups if group in largest]
    crowd = max((count for group in shown for count in _by_tenth(group).values()), default=1)
    bottom = TOP + ROW_HEIGHT * len(shown)
    return Chart(
        width=WIDTH,
        height=bottom + 48,
        plot_left=LEFT,
        plot_right=WIDTH - RIGHT,
        plot_top=TOP,
        plot_bottom=bottom,
        ticks=tuple((_x(value), str(value)) for value in range(0, 11, 2)),
        rows=tuple(
            _row(group, TOP + ROW_HEIGHT * (number + 0.5), crowd)
            for number, group in enumerate(shown)
        ),
        hidden_group_count=len(groups) - len(shown),
        description="; ".join(_told(group) for group in shown),
    )


def _row(group: GroupPart, y: float, crowd: int) -> ChartRow:
    titles: dict[float, list[str]] = defaultdict(list)
    for title, score in group.scores:
        titles[round(score, 1)].append(title)
    middle = _median(group)
    return ChartRow(
        name=shortened(group.name, NAME_CHARACTERS),
        full_name=group.name,
        y=y,
        dots=tuple(
            Dot(_x(score), _radius(len(found), crowd), _label(score, found))
            for score, found in sorted(titles.items())
        ),
        median_x=None if middle is None else _x(middle),
        summary=_summary(group),
    )


def _by_tenth(group: GroupPart) -> dict[float, int]:
    counts: dict[float, int] = defaultdict(int)
    for _, score in group.scores:
        counts[round(score, 1)] += 1
    return counts


def _radius(count: int, crowd: int) -> float:
    """Area in proportion to `count`, no larger than a row can hold for the most crowded tenth."""
    unit = min(SMALLEST_RADIUS, LARGEST_RADIUS / sqrt(crowd))
    return round(max(1.5, unit * sqrt(count)), 1)


def _label(score: float, titles: Sequence[str]) -> str:
    return (
        f"{score:.1f}: {titles[0]}" if len(titles) == 1 else f"{score:.1f}: {len(titles):,} ideas"
    )


def _median(group: GroupPart) -> float | None:
    return median(score for _, score in group.scores) if group.scores else None


def _summary(group: GroupPart) -> str:
    unscored = f", {group.unscored_count:,} unscored" if group.unscored_count else ""
    return f"{len(group.scores):,} scored{unscored}"


def _told(group: GroupPart) -> str:
    middle = _median(group)
    return f"{group.name}: {_summary(group)}" + (
        f", median {figures.mean(middle)}" if middle is not None else ""
    )


def _x(score: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * score / 10, 1)
