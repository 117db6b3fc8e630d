"""Gains of search candidates in the order of proposal, with baselines."""

import math
from collections.abc import Callable, Iterator, Sequence

from dashboards.render import figures
from dashboards.render.charts.drawing import WIDTH, Drawing, can_be_drawn, scale
from dashboards.render.page import Figure
from dashboards.render.wording import shorten
from schemas.works.experiment import Experiment, Fate, Program, Role

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 80, WIDTH - 170, 16, 280, 330
_TICKS = 5
_LABEL_HEIGHT = 16
_NAME_CHARACTERS = 26
_ON_FULL_DATA = (Fate.COMPARED, Fate.CONFIRMED)
_CAPTION = (
    "Dots are gains over the program that was given: small ones on small data, larger ones with"
    " their intervals on full data, the largest on data that chose nothing. Lines across are"
    " baselines with their intervals, the stepped one is the best so far."
)
_Scored = tuple[int, Program, float]


def search_chart(name: str, experiment: Experiment) -> Figure | None:
    """Draw the search.

    None if no candidate was scored, or the gains are too small or too large to draw.
    """
    candidates = [each for each in experiment.programs if each.role is Role.CANDIDATE]
    scored_candidates = [
        (place, each, each.gain)
        for place, each in enumerate(candidates, start=1)
        if each.gain is not None
    ]
    if not scored_candidates:
        return None
    baselines = [
        each for each in experiment.programs if each.role is Role.BASELINE and each.gain is not None
    ]
    low, high = _range([each for _, each, _ in scored_candidates], baselines)
    if not can_be_drawn(high - low):
        return None
    count = len(candidates)
    across, up = scale(0.5, count + 0.5, LEFT, RIGHT), scale(low, high, BOTTOM, TOP)
    drawing = Drawing(name, "Gain of each candidate over the program to be improved")
    values = _round_values(low, high)
    drawing.y_axis([(up(value), figures.measure(value)) for value in values], LEFT, RIGHT)
    for place in _places(count):
        drawing.label(str(place), across(place), BOTTOM + 18, "tick", "middle")
    unit = "Candidate, in the order of proposal"
    drawing.label(unit, (LEFT + RIGHT) / 2, BOTTOM + 40, "tick", "middle")
    _draw_levels(drawing, baselines, up)
    corners = _corners([(across(place), up(gain)) for place, _, gain in scored_candidates], RIGHT)
    drawing.mark("polyline", kind="path", points=" ".join(f"{x},{y}" for x, y in corners))
    visible = [(place, each, gain) for place, each, gain in scored_candidates if gain >= low]
    for place, each, gain in visible:
        if each.gain_low is not None and each.gain_high is not None:
            x = across(place)
            drawing.line("interval", x, up(each.gain_low), x, up(each.gain_high))
        full = each.fate in _ON_FULL_DATA
        radius = 7 if each.program_id == experiment.best_program_id else 5 if full else 3
        drawing.dot(across(place), up(gain), radius, _result(each), "" if full else "other")
    hidden_count = len(scored_candidates) - len(visible)
    unscored_count = sum(each.fate in (Fate.FAILED, Fate.REFUSED) for each in candidates)
    more = (
        f" Candidates much worse than the parent are drawn nowhere: {hidden_count}."
        if hidden_count
        else ""
    )
    more += f" Without a score: {unscored_count}." if unscored_count else ""
    return drawing.figure(HEIGHT, _CAPTION + more, _description(scored_candidates, baselines))


def _range(candidates: Sequence[Program], baselines: Sequence[Program]) -> tuple[float, float]:
    """Return the lowest and the highest drawn gain.

    Candidates that lose more than the best one gains are left out, as they would flatten the rest.
    """
    programs = [*candidates, *baselines]
    tops = [each.gain or 0.0 if each.gain_high is None else each.gain_high for each in programs]
    high = max(0.0, *tops)
    ends = [each.gain or 0.0 if each.gain_low is None else each.gain_low for each in programs]
    visible_ends = [end for end in ends if end >= -high] if high > 0 else ends
    low = min(0.0, *visible_ends) if visible_ends else 0.0
    if high == low:
        return low - 1.0, high + 1.0
    return low, high


def _round_values(low: float, high: float) -> list[float]:
    """Return about five values in the range, 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [step * number for number in range(first, last + 1)]


def _places(count: int) -> list[int]:
    """Return a few candidate numbers, including the first and the last."""
    step = max(1, round(count / 6))
    return [*range(1, count - step // 2, step), count] if count > 1 else [1]


def _draw_levels(
    drawing: Drawing, baselines: Sequence[Program], up: Callable[[float], float]
) -> None:
    """Draw the parent and the baselines as horizontal lines with spaced labels."""
    levels = [(0.0, 0.0, 0.0, "the parent")]
    for each in baselines:
        gain = each.gain or 0.0
        low = gain if each.gain_low is None else each.gain_low
        high = gain if each.gain_high is None else each.gain_high
        levels.append((gain, low, high, shorten(each.program_id, _NAME_CHARACTERS)))
    lowest = -math.inf
    for gain, low, high, name in sorted(levels, reverse=True):
        height = round(up(low) - up(high), 1)
        if height > 0:
            width = RIGHT - LEFT
            drawing.mark("rect", kind="band", x=LEFT, y=up(high), width=width, height=height)
        drawing.line("median", LEFT, up(gain), RIGHT, up(gain))
        lowest = max(up(gain) + 4, lowest + _LABEL_HEIGHT)
        drawing.label(name, RIGHT + 8, lowest, "tick")


def _corners(points: Sequence[tuple[float, float]], right: float) -> Iterator[tuple[float, float]]:
    """Yield the corners of the best-so-far line; smaller y is better."""
    best: float | None = None
    for x, y in points:
        if best is None or y < best:
            if best is not None:
                yield x, best
            yield x, y
            best = y
    if best is not None:
        yield right, best


def _result(program: Program) -> str:
    gain = f"{program.program_id}: gain {figures.measure(program.gain)}"
    if program.gain_low is None:
        return f"{gain} on small data"
    reach = f"{figures.measure(program.gain_low)} to {figures.measure(program.gain_high)}"
    data = "data that chose nothing" if program.fate is Fate.CONFIRMED else "full data"
    return f"{gain} ({reach}) on {data}"


def _description(candidates: Sequence[_Scored], baselines: Sequence[Program]) -> str:
    _, best, _ = max(candidates, key=lambda each: each[2])
    gains = "; ".join(f"{each.program_id} gains {figures.measure(each.gain)}" for each in baselines)
    return (
        f"{figures.plural(len(candidates), 'candidate')} by the order of proposal; the largest gain:"
        f" {_result(best)}.{f' Baselines: {gains}.' if gains else ''}"
    )
