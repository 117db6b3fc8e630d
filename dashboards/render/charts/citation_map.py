"""Papers by year, with a lane per cluster; lines are citations."""

import textwrap
from collections import Counter
from collections.abc import Sequence

from dashboards.render.charts.drawing import WIDTH, Drawing, scale
from dashboards.render.page import Figure
from dashboards.render.wording import shorten
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import SurveyCluster, SurveyPaper

PAPERS_DRAWN = 80
NAME_CHARACTERS, NAME_LINES = 36, 2
LEFT, RIGHT, TOP, LANE_HEIGHT = 270, WIDTH - 20, 16, 64
_PLACES_IN_A_LANE = 5
_TICKS = 8
_CAPTION = (
    "Each dot is a paper, larger the more it weighs; a line joins two of which one cites the other."
)


def citation_map(
    name: str,
    papers: Sequence[SurveyPaper],
    texts: Sequence[Paper],
    clusters: Sequence[SurveyCluster],
    links: Sequence[CitationEdge],
) -> Figure | None:
    """Draw the `PAPERS_DRAWN` heaviest papers with a year; None if no year is known."""
    text_of = {text.paper_id: text for text in texts}
    papers_with_year = [paper for paper in papers if text_of[paper.paper_id].year is not None]
    if not papers_with_year or not clusters:
        return None
    visible = papers_with_year[:PAPERS_DRAWN]
    years = [text_of[paper.paper_id].year or 0 for paper in visible]
    first, last = min(years), max(years)
    across = scale(first, last, LEFT + 14, RIGHT - 14)
    middle = (LEFT + RIGHT) / 2  # if all are from one year
    lane_of = {cluster.cluster_id: lane for lane, cluster in enumerate(clusters)}
    dots_at: Counter[tuple[int, int]] = Counter()
    places: dict[str, tuple[float, float]] = {}
    for paper, year in zip(visible, years, strict=True):
        lane = lane_of[paper.cluster_id or ""]
        place = dots_at[lane, year] % _PLACES_IN_A_LANE
        dots_at[lane, year] += 1
        offset = (place + 1) // 2 * (-1) ** place * LANE_HEIGHT / (_PLACES_IN_A_LANE + 1)
        x = across(year) if last > first else middle
        places[paper.paper_id] = (x, round(_middle(lane) + offset, 1))
    drawing = Drawing(name, "Papers by cluster and year, and who cites whom")
    bottom, step = TOP + LANE_HEIGHT * len(clusters), max(1, -(-(last - first) // _TICKS))
    ticks = range(first, last + 1, step)
    drawing.x_axis([(across(y) if last > first else middle, str(y)) for y in ticks], 8, bottom)
    for lane, cluster in enumerate(clusters):
        y = _middle(lane)
        drawing.line("rail", LEFT, y, RIGHT, y)
        lines = textwrap.wrap(cluster.name, NAME_CHARACTERS, max_lines=NAME_LINES, placeholder="…")
        for row, words in enumerate(lines):
            below = y + 4 + 16 * (row - (len(lines) - 1) / 2)
            label = shorten(words, NAME_CHARACTERS)
            drawing.label(label, LEFT - 12, below, "", "end", cluster.name)
    for link in links:
        if link.citing_paper_id in places and link.cited_paper_id in places:
            drawing.line("link", *places[link.citing_paper_id], *places[link.cited_paper_id])
    for paper, year in zip(visible, years, strict=True):
        kind = "dot" if lane_of[paper.cluster_id or ""] % 2 == 0 else "dot other"
        radius = round(3 + 3 * (paper.weight or 0.0), 1)
        title = f"{text_of[paper.paper_id].title} ({year})"
        drawing.dot(*places[paper.paper_id], radius, title, kind)
    hidden_count, undated_count = (
        len(papers_with_year) - len(visible),
        len(papers) - len(papers_with_year),
    )
    more = f" {hidden_count} lighter papers are in the table only." if hidden_count else ""
    more += f" Of {undated_count} the year is not known." if undated_count else ""
    sizes = [f"{cluster.name}: {cluster.paper_count} papers" for cluster in clusters]
    return drawing.figure(bottom + 30, _CAPTION + more, "; ".join(sizes))


def _middle(lane: int) -> float:
    return TOP + LANE_HEIGHT * (lane + 0.5)
