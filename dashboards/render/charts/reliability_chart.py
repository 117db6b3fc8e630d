"""Reliability curves of calibrated judgements: expected against observed shares."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.charts.drawing import Drawing, scale
from dashboards.render.page import Figure
from schemas.judgement.benchmark import BenchmarkScore

EXPECTED, OBSERVED = "reliability_expected", "reliability_observed"
BIN_MARK = ", bin "
LEFT, TOP, SIZE = 60, 14, 320
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CAPTION = (
    "of statements “this label or a higher one” made with a probability, how many hold, on items"
    " the model was not fitted on. On the diagonal a probability means what it says; lines are"
    " 95 % intervals, larger dots rest on more statements."
)


@dataclass(frozen=True, slots=True)
class Bin:
    """Expected probability of some statements, and the share that held."""

    expected: float
    observed: float
    count: int
    lower: float | None = None
    upper: float | None = None


def reliability_charts(scores: Iterable[BenchmarkScore]) -> tuple[Figure, ...]:
    """Draw one chart per system and calibrated part.

    Empty without rows of `reliability_expected` and `reliability_observed`.
    """
    scores_of: dict[tuple[str, str], dict[str, dict[str, BenchmarkScore]]] = {}
    for score in scores:
        part, mark, place = score.slice.partition(BIN_MARK)
        if mark and score.metric in (EXPECTED, OBSERVED) and score.value is not None:
            scores_of.setdefault((score.system, part), {}).setdefault(place, {})[score.metric] = (
                score
            )
    curves = {
        f"{system}, {part}": [
            _bin(each[EXPECTED], each[OBSERVED]) for each in bins.values() if len(each) == 2
        ]
        for (system, part), bins in scores_of.items()
    }
    nonempty = [(title, bins) for title, bins in curves.items() if bins]
    return tuple(
        reliability_chart(f"reliability-{number}", title, _CAPTION, bins)
        for number, (title, bins) in enumerate(nonempty, start=1)
    )


def _bin(expected_score: BenchmarkScore, observed_score: BenchmarkScore) -> Bin:
    assert expected_score.value is not None
    assert observed_score.value is not None
    return Bin(
        expected_score.value,
        observed_score.value,
        observed_score.count,
        observed_score.lower,
        observed_score.upper,
    )


def reliability_chart(name: str, title: str, caption: str, bins: Sequence[Bin]) -> Figure:
    """Draw expected against observed shares, one dot per bin."""
    right, bottom = LEFT + SIZE, TOP + SIZE
    across, up = scale(0, 1, LEFT, right), scale(0, 1, bottom, TOP)
    drawing = Drawing(name, f"Reliability of {title}", right + 40)
    drawing.y_axis([(up(value), f"{value:g}") for value in _TICKS], LEFT, right)
    for value in _TICKS:
        drawing.label(f"{value:g}", across(value), bottom + 18, "tick", "middle")
    drawing.line("grid", LEFT, bottom, right, TOP)
    drawing.label("Expected share", (LEFT + right) / 2, bottom + 38, "tick", "middle")
    rotation = f"rotate(-90 16 {(TOP + bottom) / 2:g})"
    drawing.mark(
        "text",
        "Observed share",
        kind="tick",
        x=16,
        y=(TOP + bottom) / 2,
        text_anchor="middle",
        transform=rotation,
    )
    most = max(each.count for each in bins) or 1
    labels = []
    for each in bins:
        x = across(each.expected)
        label = f"expected {figures.decimals(each.expected)}, observed {figures.decimals(each.observed)} of {each.count}"
        if each.lower is not None and each.upper is not None:
            drawing.line("interval", x, up(each.lower), x, up(each.upper))
        drawing.dot(x, up(each.observed), round(3 + 5 * (each.count / most) ** 0.5, 1), label)
        labels.append(label)
    return drawing.figure(bottom + 50, f"{title}: {caption}", "; ".join(labels))
