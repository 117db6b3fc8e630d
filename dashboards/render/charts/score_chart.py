"""Scores of a run by group: one row per group, one dot per tenth of a point."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from dashboards.render import figures
from dashboards.render.charts.drawing import NARROW, WIDTH, Drawing, drawn, scale
from dashboards.render.page import Figure
from dashboards.render.wording import shorten
from warehouse.row_models import RankedIdea

NO_GROUP, ONE_GROUP = "Ideas without a group", "All ideas"


@dataclass(frozen=True, slots=True)
class GroupPart:
    """The ranking of one group."""

    name: str
    ideas: tuple[RankedIdea, ...]

    @property
    def scores(self) -> tuple[tuple[str, float], ...]:
        """Title and score of the scored ideas."""
        return tuple((idea.title, idea.score) for idea in self.ideas if idea.score is not None)

    @property
    def unscored_count(self) -> int:
        return len(self.ideas) - len(self.scores)


def ranked_groups(ranking: Iterable[RankedIdea]) -> tuple[GroupPart, ...]:
    """Return the groups in the order of their first ideas."""
    members: dict[str | None, list[RankedIdea]] = {}
    for idea in ranking:
        members.setdefault(idea.group, []).append(idea)
    default_name = ONE_GROUP if list(members) == [None] else NO_GROUP
    return tuple(
        GroupPart(default_name if name is None else name, tuple(ideas))
        for name, ideas in members.items()
    )


GROUPS_SHOWN = 30
NAME_CHARACTERS = 24
LEFT, RIGHT, TOP, ROW_HEIGHT = 190, WIDTH - 190, 16, 40
SMALLEST_RADIUS, LARGEST_RADIUS = 5.0, 15.0
_CAPTION = (
    "Each dot is the ideas of a group with the same score, to a tenth of a point; the area grows"
    " with their number. The upright bar is the group's median. Unscored ideas are counted at the"
    " right and drawn nowhere."
)


def score_chart(groups: Sequence[GroupPart]) -> Figure | None:
    """Draw the largest groups, in the order of the ranking; None without scores."""
    if not any(group.scores for group in groups):
        return None
    largest = sorted(groups, key=lambda group: -len(group.ideas))[:GROUPS_SHOWN]
    visible = [group for group in groups if group in largest]
    titles: dict[str, dict[float, list[str]]] = {group.name: defaultdict(list) for group in visible}
    for group in visible:
        for title, score in group.scores:
            titles[group.name][round(score, 1)].append(title)
    crowd = max((len(each) for tenths in titles.values() for each in tenths.values()), default=1)
    # Dot areas are proportional to counts; the largest dot has to fit into its row.
    unit = min(SMALLEST_RADIUS, LARGEST_RADIUS / sqrt(crowd))

    def draw(width: int) -> tuple[Drawing, float]:
        is_narrow, drawing = width == NARROW, Drawing("chart", "Scores by group", width)
        left, right = (16, width - 16) if is_narrow else (LEFT, RIGHT)
        row_height = ROW_HEIGHT + 20 * is_narrow
        across, bottom = scale(0, 10, left, right), TOP + row_height * len(visible)
        drawing.x_axis([(across(each), str(each)) for each in range(0, 11, 2)], TOP, bottom, _UNIT)
        for number, group in enumerate(visible):
            y = TOP + row_height * (number + 0.5) + 10 * is_narrow
            drawing.line("rail", left, y, right, y)
            name = shorten(group.name, NAME_CHARACTERS)
            if is_narrow:
                drawing.label(name, 0, y - 22, "group", "", group.name)
                drawing.label(_summary(group), width, y - 22, "tick", "end")
            else:
                drawing.label(name, left - 18, y + 5, "group", "end", group.name)
                drawing.label(_summary(group), right + 18, y + 4, "tick")
            if group.scores:
                x = across(median(score for _, score in group.scores))
                drawing.line("median", x, y - 16, x, y + 16, "median")
            for score, tied_titles in sorted(titles[group.name].items()):
                radius = round(max(1.5, unit * sqrt(len(tied_titles))), 1)
                count = len(tied_titles)
                ideas_text = tied_titles[0] if count == 1 else f"{count:,} ideas"
                drawing.dot(across(score), y, radius, f"{figures.score(score)}: {ideas_text}")
        return drawing, bottom + 48

    hidden_count = len(groups) - len(visible)
    more = f" {hidden_count} smaller groups are in the tables only." if hidden_count else ""
    return drawn(draw, _CAPTION + more, "; ".join(map(_describe, visible)))


_UNIT = "Score, points of 10"


def _summary(group: GroupPart) -> str:
    unscored_note = f", {group.unscored_count:,} unscored" if group.unscored_count else ""
    return f"{len(group.scores):,} scored{unscored_note}"


def _describe(group: GroupPart) -> str:
    scores = [score for _, score in group.scores]
    middle = f", median {figures.mean(median(scores))}" if scores else ""
    return f"{group.name}: {_summary(group)}{middle}"
