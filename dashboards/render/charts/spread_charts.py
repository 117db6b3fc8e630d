"""Charts of figures over nights, and histograms."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

from dashboards.render import figures
from dashboards.render.charts import drawing
from dashboards.render.charts.drawing import NARROW, Drawing, drawn
from dashboards.render.charts.row_charts import scale_to
from dashboards.render.page import Figure

DATES_SHOWN, MOST_BINS = 7, 20
_TOP, _PANEL, _BAR, _DIGIT_WIDTH = 14, 92, 180, 6


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure over nights; a night without a value is a gap.

    Attributes:
        texts: each value in words.
    """

    title: str
    values: Sequence[float | None]
    texts: Sequence[str]


def nights_chart(
    name: str, title: str, nights: Sequence[str], panels: Sequence[Panel]
) -> Figure | None:
    """Draw panels over the same nights, oldest first; None with fewer than two."""
    tops = [
        max((each for each in panel.values if each is not None), default=0.0) for panel in panels
    ]
    scales = [scale_to(top, "") for top in tops]
    visible = [(panel, scale) for panel, scale in zip(panels, scales, strict=True) if scale]
    if len(nights) < 2 or not visible:
        return None

    def draw(width: int) -> tuple[Drawing, float]:
        is_narrow, chart, last = width == NARROW, Drawing(name, title, width), len(nights) - 1
        left, right = (52, width - 12) if is_narrow else (70, width - 180)
        across = drawing.scale(0, last, left + 8, right - 8)
        bottom, half = _TOP + _PANEL * len(visible), (right - left) / len(nights) / 2
        for at in range(len(nights)):
            kind, x = "cursor here" if at == last else "cursor", across(at)
            chart.mark("line", kind=kind, data_at=str(at), x1=x, y1=_TOP, x2=x, y2=bottom)
        for row, (panel, scale) in enumerate(visible):
            top = _TOP + _PANEL * row
            up = drawing.scale(0, scale.high, top + _PANEL - 12, top + 28)
            chart.y_axis([(up(each), f"{each:,.10g}") for each in (0.0, scale.high)], left, right)
            chart.label(panel.title, 0 if is_narrow else left, top + 14, "group")
            points = [(at, value) for at, value in enumerate(panel.values) if value is not None]
            for (at, value), (next_at, next_value) in pairwise(points):
                if next_at == at + 1:
                    chart.line("interval", across(at), up(value), across(next_at), up(next_value))
            for at, value in points:
                chart.dot(across(at), up(value), 4, f"{nights[at]}: {panel.texts[at]}")
            # On a phone the figures of the night are beside the panel's title.
            x, y = (width, top + 14) if is_narrow else (right + 14, top + _PANEL / 2 + 12)
            for at, value_text in enumerate(panel.texts):
                kind = "said here" if at == last else "said"
                anchor = "end" if is_narrow else ""
                chart.mark("text", f"{nights[at]}: {value_text}", kind=kind, data_at=str(at),
                           x=x, y=y, text_anchor=anchor)  # fmt: skip
        for at in range(last, -1, -ceil(len(nights) / (3 if is_narrow else DATES_SHOWN))):
            chart.label(nights[at], min(across(at), width - 36), bottom + 17, "tick", "middle")
        for at in range(len(nights)):
            chart.mark("rect", kind="under", data_at=str(at), x=round(across(at) - half, 1), y=_TOP,
                       width=round(2 * half, 1), height=bottom - _TOP)  # fmt: skip
        return chart, bottom + 28

    descriptions = []
    for panel, _ in visible:
        places = (at for at, value in enumerate(panel.values) if value is not None)
        values_by_night = (f"{nights[at]} {panel.texts[at]}" for at in places)
        descriptions.append(f"{panel.title}: {', '.join(values_by_night)}")
    caption = "One dot a run, the newest at the right; point at one, or use the arrow keys."
    return drawn(draw, caption, "; ".join(descriptions))


def histogram(
    name: str, title: str, caption: str, unit: str, edges: Sequence[float], counts: Sequence[int]
) -> Figure | None:
    """Draw one vertical bar per bin with its count; None if all are empty."""
    scale = scale_to(max(counts, default=0), "")
    if scale is None:
        return None
    bottom = _TOP + _BAR
    up = drawing.scale(0, scale.high, bottom, _TOP + 16)
    bins = [
        (low, high, count, f"{low:,.10g} to {high:,.10g}: {figures.count(count)}")
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count
    ]

    def draw(width: int) -> tuple[Drawing, float]:
        left, right, labels = (16, width - 16, 5) if width == NARROW else (60, width - 20, 12)
        across, chart = drawing.scale(edges[0], edges[-1], left, right), Drawing(name, title, width)
        for low, high, count, words in bins:
            x, room, y = across(low) + 1, round(across(high) - across(low) - 2, 1), up(count)
            chart.mark("rect", tooltip=words, kind="bar", x=x, y=y, width=room,
                       height=max(round(bottom - y, 1), 1.5), rx=2)  # fmt: skip
            if room >= _DIGIT_WIDTH * len(figures.count(count)):
                chart.label(figures.count(count), x + room / 2, y - 5, "tick", "middle")
        chart.line("rail", left, bottom, right, bottom)
        for edge in edges[:: -(-len(edges) // labels)]:
            chart.label(f"{edge:,.10g}", across(edge), bottom + 17, "tick", "middle")
        chart.label(unit, (left + right) / 2, bottom + 37, "tick", "middle")
        return chart, bottom + 44

    return drawn(draw, caption, "; ".join(words for *_, words in bins))


def round_bins(values: Sequence[float]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return bin edges at round numbers from 0, and the count in each bin.

    The last bin includes its upper edge.

    Args:
        values: one or more, none below 0.
    """
    most = max(values)
    if not drawing.can_be_drawn(most):
        return (0.0, 1.0), (len(values),)
    magnitude = 10.0 ** floor(log10(most / MOST_BINS))
    width = next(each * magnitude for each in (1, 2, 5, 10) if each * magnitude * MOST_BINS >= most)
    bins = max(1, ceil(round(most / width, 9)))  # 0.1 / 0.005 is a little more than 20
    edges = tuple(round(width * each, 12) for each in range(bins + 1))
    counts = [0] * bins
    for value in values:
        counts[min(bisect_right(edges, value) - 1, bins - 1)] += 1
    return edges, tuple(counts)
