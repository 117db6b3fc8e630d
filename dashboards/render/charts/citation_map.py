"""Kept papers over the years, a lane for each cluster, laid out for `templates/map.svg.jinja`: dots
are papers, lines are citations between them.
"""

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render.wording import shortened
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import SurveyCluster, SurveyPaper

PAPERS_DRAWN = 80
NAME_CHARACTERS, NAME_LINES = 36, 2
LEFT, RIGHT, TOP, LANE_HEIGHT, WIDTH = 270, 20, 16, 64, 860
_PLACES_IN_A_LANE = 5
_TICKS = 8


@dataclass(frozen=True, slots=True)
class Dot:
    """A paper; `lane` counts from 0, as the clusters do."""

    x: float
    y: float
    radius: float
    lane: int
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A cluster."""

    y: float
    lines: tuple[str, ...]
    full_name: str


@dataclass(frozen=True, slots=True)
class CitationMap:
    """Positions in the units of the drawing; `number` keeps names apart on one page."""

    number: int
    width: int
    height: int
    plot_left: int
    plot_right: int
    plot_bottom: int
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[float, str], ...]
    dots: tuple[Dot, ...]
    lines: tuple[tuple[Dot, Dot], ...]
    left_out_count: int
    undated_count: int
    description: str


def citation_map(
    number: int,
    papers: Sequence[SurveyPaper],
    texts: Sequence[Paper],
    clusters: Sequence[SurveyCluster],
    links: Sequence[CitationEdge],
) -> CitationMap | None:
    """The heaviest `PAPERS_DRAWN` of `papers` with a year; None where no year is known."""
    text_of = {text.paper_id: text for text in texts}
    dated = [paper for paper in papers if text_of[paper.paper_id].year is not None]
    if not dated or not clusters:
        return None
    shown = dated[:PAPERS_DRAWN]
    years = [text_of[paper.paper_id].year or 0 for paper in shown]
    first, last = min(years), max(years)
    lane_of = {cluster.cluster_id: lane for lane, cluster in enumerate(clusters)}
    taken: Counter[tuple[int, int]] = Counter()
    dots: dict[str, Dot] = {}
    for paper, year in zip(shown, years, strict=True):
        lane = lane_of[paper.cluster_id or ""]
        place = taken[lane, year] % _PLACES_IN_A_LANE
        taken[lane, year] += 1
        offset = (place + 1) // 2 * (-1) ** place * LANE_HEIGHT / (_PLACES_IN_A_LANE + 1)
        dots[paper.paper_id] = Dot(
            x=_across(year, first, last),
            y=round(_middle(lane) + offset, 1),
            radius=round(3 + 3 * (paper.weight or 0.0), 1),
            lane=lane,
            title=f"{text_of[paper.paper_id].title} ({year})",
        )
    bottom = TOP + LANE_HEIGHT * len(clusters)
    step = max(1, -(-(last - first) // _TICKS))
    return CitationMap(
        number=number,
        width=WIDTH,
        height=bottom + 30,
        plot_left=LEFT,
        plot_right=WIDTH - RIGHT,
        plot_bottom=bottom,
        lanes=tuple(
            Lane(_middle(lane), _lines(cluster.name), cluster.name)
            for lane, cluster in enumerate(clusters)
        ),
        ticks=tuple(
            (_across(year, first, last), str(year)) for year in range(first, last + 1, step)
        ),
        dots=tuple(dots.values()),
        lines=tuple(
            (dots[link.citing_paper_id], dots[link.cited_paper_id])
            for link in links
            if link.citing_paper_id in dots and link.cited_paper_id in dots
        ),
        left_out_count=len(dated) - len(shown),
        undated_count=len(papers) - len(dated),
        description="; ".join(
            f"{cluster.name}: {cluster.paper_count} papers" for cluster in clusters
        ),
    )


def _lines(name: str) -> tuple[str, ...]:
    """A name over as many lines as there is room for."""
    lines = textwrap.wrap(name, NAME_CHARACTERS, max_lines=NAME_LINES, placeholder="…")
    return tuple(shortened(line, NAME_CHARACTERS) for line in lines)


def _middle(lane: int) -> float:
    return TOP + LANE_HEIGHT * (lane + 0.5)


def _across(year: int, first: int, last: int) -> float:
    share = (year - first) / (last - first) if last > first else 0.5
    return round(LEFT + 14 + (WIDTH - RIGHT - LEFT - 28) * share, 1)
