"""How a search went: the gain over the parent of every candidate in the order of proposal, with the
intervals there are, beside the baselines; laid out for `templates/search.svg.jinja`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.wording import shortened
from schemas.works.experiment import Experiment, Fate, Program, Role

LEFT, RIGHT, TOP, WIDTH, HEIGHT = 80, 170, 16, 860, 330
_BOTTOM = 50
_TICKS = 5
_LABEL_HEIGHT = 16
_NAME_CHARACTERS = 26
_ON_FULL_DATA = (Fate.COMPARED, Fate.CONFIRMED)


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate that was scored; `low_y` and `high_y` are the same where it has no interval."""

    x: float
    y: float
    low_y: float
    high_y: float
    on_full_data: bool
    best: bool
    said: str


@dataclass(frozen=True, slots=True)
class Level:
    """The parent or a baseline: a line across, with its interval as a band."""

    y: float
    low_y: float
    high_y: float
    label_y: float
    label: str


@dataclass(frozen=True, slots=True)
class SearchChart:
    """Positions in the units of the drawing; `number` keeps names apart on one page.

    Attributes:
        best_so_far: corners of the line of the best gain on small data so far, as SVG takes them.
        hidden_count: candidates far below the parent, which are drawn nowhere.
        lost_count: candidates without a score, and proposals that could not be applied.
    """

    number: int
    width: int
    height: int
    plot_left: int
    plot_right: int
    plot_top: int
    plot_bottom: int
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    tried: tuple[Tried, ...]
    levels: tuple[Level, ...]
    best_so_far: str
    hidden_count: int
    lost_count: int
    description: str


def search_chart(number: int, experiment: Experiment) -> SearchChart | None:
    """None where no candidate was scored."""
    candidates = [each for each in experiment.programs if each.role is Role.CANDIDATE]
    scored = [
        (place, each, each.gain)
        for place, each in enumerate(candidates, start=1)
        if each.gain is not None
    ]
    if not scored:
        return None
    baselines = [
        each for each in experiment.programs if each.role is Role.BASELINE and each.gain is not None
    ]
    low, high = _range([each for _, each, _ in scored], baselines)
    right, bottom = WIDTH - RIGHT, HEIGHT - _BOTTOM

    def across(place: float) -> float:
        return round(LEFT + (right - LEFT) * (place - 0.5) / len(candidates), 1)

    def up(value: float) -> float:
        held = min(max(value, low), high)
        return round(bottom - (bottom - TOP) * (held - low) / (high - low), 1)

    shown = [(place, each, gain) for place, each, gain in scored if gain >= low]
    values = _round_values(low, high)
    return SearchChart(
        number=number,
        width=WIDTH,
        height=HEIGHT,
        plot_left=LEFT,
        plot_right=right,
        plot_top=TOP,
        plot_bottom=bottom,
        x_ticks=tuple((across(place), str(place)) for place in _places(len(candidates))),
        y_ticks=tuple((up(value), figures.measure(value)) for value in values),
        tried=tuple(
            Tried(
                x=across(place),
                y=up(gain),
                low_y=up(gain if each.gain_low is None else each.gain_low),
                high_y=up(gain if each.gain_high is None else each.gain_high),
                on_full_data=each.fate in _ON_FULL_DATA,
                best=each.program_id == experiment.best_program_id,
                said=_said(each),
            )
            for place, each, gain in shown
        ),
        levels=tuple(_levels(baselines, up)),
        best_so_far=" ".join(
            f"{x},{y}" for x, y in _corners([(across(n), up(g)) for n, _, g in scored], right)
        ),
        hidden_count=len(scored) - len(shown),
        lost_count=sum(each.fate in (Fate.FAILED, Fate.REFUSED) for each in candidates),
        description=_description(scored, baselines),
    )


def _range(scored: Sequence[Program], baselines: Sequence[Program]) -> tuple[float, float]:
    """From the lowest that is drawn to the highest; what is worse than the best is good is not."""
    known = [*scored, *baselines]
    tops = [each.gain or 0.0 if each.gain_high is None else each.gain_high for each in known]
    high = max(0.0, *tops)
    ends = [each.gain or 0.0 if each.gain_low is None else each.gain_low for each in known]
    kept = [end for end in ends if end >= -high] if high > 0 else ends
    low = min(0.0, *kept) if kept else 0.0
    if high == low:
        return low - 1.0, high + 1.0
    return low, high


def _round_values(low: float, high: float) -> list[float]:
    """About five values in the range that are 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [step * number for number in range(first, last + 1)]


def _places(count: int) -> list[int]:
    """A few numbers of candidates, the first and the last among them."""
    step = max(1, round(count / 6))
    return [*range(1, count - step // 2, step), count] if count > 1 else [1]


def _levels(baselines: Sequence[Program], up: Callable[[float], float]) -> Iterator[Level]:
    """The parent and the baselines from top to bottom, their names apart from one another."""
    given = [(0.0, 0.0, 0.0, "the parent")]
    for each in baselines:
        gain = each.gain or 0.0
        low = gain if each.gain_low is None else each.gain_low
        high = gain if each.gain_high is None else each.gain_high
        given.append((gain, low, high, shortened(each.program_id, _NAME_CHARACTERS)))
    lowest = -math.inf
    for gain, low, high, label in sorted(given, reverse=True):
        lowest = max(up(gain) + 4, lowest + _LABEL_HEIGHT)
        yield Level(up(gain), up(low), up(high), lowest, label)


def _corners(points: Sequence[tuple[float, float]], right: float) -> Iterator[tuple[float, float]]:
    """Of the steps of the best so far; up is less."""
    best: float | None = None
    for x, y in points:
        if best is None or y < best:
            if best is not None:
                yield x, best
            yield x, y
            best = y
    if best is not None:
        yield right, best


def _said(program: Program) -> str:
    told = f"{program.program_id}: gain {figures.measure(program.gain)}"
    if program.gain_low is None:
        return f"{told} on small data"
    reach = f"{figures.measure(program.gain_low)} to {figures.measure(program.gain_high)}"
    data = "data that chose nothing" if program.fate is Fate.CONFIRMED else "full data"
    return f"{told} ({reach}) on {data}"


def _description(scored: Sequence[tuple[int, Program, float]], baselines: Sequence[Program]) -> str:
    _, best, _ = max(scored, key=lambda each: each[2])
    known = "; ".join(f"{each.program_id} gains {figures.measure(each.gain)}" for each in baselines)
    return (
        f"{figures.counted(len(scored), 'candidate')} by the order of proposal; the largest gain:"
        f" {_said(best)}.{f' Baselines: {known}.' if known else ''}"
    )
