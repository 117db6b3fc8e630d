"""Lineage of versions: ideas by round, programs by change."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.charts.drawing import Drawing
from dashboards.render.page import Figure
from dashboards.render.wording import shorten
from schemas.works.experiment import Experiment, Fate, Program, Role
from schemas.works.ideation import IdeaVersion, Move

TOP, LANE_HEIGHT, STEP_WIDTH, WIDTH_OF_LABELS = 34, 56, 190, 220
_LEFT_OF_IDEAS, _LEFT_OF_PROGRAMS = 230, 30
_NAME_CHARACTERS = 30
MOST_LANES = 16
_ON_FULL_DATA = (Fate.COMPARED, Fate.CONFIRMED)
_IDEAS_CAPTION = (
    "Each dot is a version, joined to the one it grew from, with its score and what it added."
    " Small ones went no further."
)
_PROGRAMS_CAPTION = (
    "Each dot is a program, joined to the one it was made from, with its gain over the program"
    " that was given. Large ones came to full data. Of long searches only lines that led there are"
    " drawn."
)


@dataclass(frozen=True, slots=True)
class _Node:
    """A version in the chart.

    Attributes:
        label: its score, or the reason for dropping it.
        change: difference from the previous version.
    """

    step: int
    lane: int
    label: str
    change: str
    is_large: bool
    tooltip: str


def lineage(
    name: str, versions: Sequence[IdeaVersion], scores: Mapping[str, float | None]
) -> Figure:
    """Draw all versions of a run, one lane per idea; scores are from 0 to 10."""
    lanes = list(dict.fromkeys((version.seed_id, version.slot) for version in versions))
    rounds = sorted({version.round for version in versions})
    stops = {
        str(version.version_id): _Node(
            step=rounds.index(version.round),
            lane=lanes.index((version.seed_id, version.slot)),
            label=label(version, scores.get(version.version_id)),
            change=change(version),
            is_large=version.kept,
            tooltip=version.title or "no text",
        )
        for version in versions
    }
    lines = [(str(v.parent_id), str(v.version_id)) for v in versions if v.parent_id in stops]
    labels = [f"{name}: {stop.label}" for name, stop in stops.items()]
    drawing = Drawing(
        name,
        "Versions of each idea, round by round",
        _LEFT_OF_IDEAS + STEP_WIDTH * max(len(rounds) - 1, 0) + WIDTH_OF_LABELS,
    )
    for place, (seed_id, slot) in enumerate(lanes):
        words = shorten(f"{seed_id}, idea {slot}", _NAME_CHARACTERS)
        drawing.label(words, 16, _lane(place) + 4)
    steps = [f"round {each}" for each in rounds]
    height = _draw(drawing, _LEFT_OF_IDEAS, steps, stops, lines)
    return drawing.figure(height, _IDEAS_CAPTION, "; ".join(labels))


def label(version: IdeaVersion, score: float | None) -> str:
    """Return the score of a version, or why it has none."""
    if version.text is None:
        return "not made"
    if version.dropped_reason is not None:
        return version.dropped_reason.value.replace("_", " ")
    if version.move is Move.LEAD:
        return "a lead"
    return "no score" if score is None else f"{figures.score(score)} of 10"


def change(version: IdeaVersion) -> str:
    """Return the concept that a version adds, or its move."""
    if version.added_keyword is None:
        return version.move.value.replace("_", " ")
    given_up = f" for {version.replaced_keyword}" if version.replaced_keyword else ""
    return shorten(f"+ {version.added_keyword}{given_up}", _NAME_CHARACTERS)


def program_lineage(name: str, experiment: Experiment) -> Figure | None:
    """Draw programs in lanes of descent; None if all come from the parent."""
    stops, lines = _nodes_and_lines(experiment)
    if not stops:
        return None
    last = max(stop.step for stop in stops.values())
    width = _LEFT_OF_PROGRAMS + STEP_WIDTH * last + WIDTH_OF_LABELS
    drawing = Drawing(name, "Which program was made from which", width)
    steps = ["given", *(figures.plural(depth, "change") for depth in range(1, last + 1))]
    height = _draw(drawing, _LEFT_OF_PROGRAMS, steps, stops, lines)
    description = "; ".join(f"{stop.label} ({stop.change})" for stop in stops.values())
    return drawing.figure(height, _PROGRAMS_CAPTION, description)


def _nodes_and_lines(experiment: Experiment) -> tuple[dict[str, _Node], list[tuple[str, str]]]:
    parent = next((each for each in experiment.programs if each.role is Role.PARENT), None)
    run = {
        each.program_id: each
        for each in experiment.programs
        if each.role is Role.CANDIDATE and each.fate not in (Fate.REFUSED, Fate.REPEATED)
    }
    if parent is None or all(each.parent_program_id not in run for each in run.values()):
        return {}, []
    visible_ids = _select_visible(list(run.values()), run)
    children: dict[str, list[str]] = {}
    for program_id in run:
        if program_id in visible_ids:
            origin_id = run[program_id].parent_program_id
            parent_id = origin_id if origin_id in run else parent.program_id
            children.setdefault(parent_id, []).append(program_id)
    places = _places(parent.program_id, children)
    programs = {parent.program_id: parent, **run}
    stops = {name: _stop(programs[name], *place) for name, place in places.items()}
    return stops, [(before, after) for before, those in children.items() for after in those]


def _draw(
    drawing: Drawing,
    left: int,
    steps: Sequence[str],
    stops: Mapping[str, _Node],
    lines: Sequence[tuple[str, str]],
) -> float:
    """Draw versions and the lines between them; return the height in pixels."""
    for place, words in enumerate(steps):
        drawing.label(words, left + STEP_WIDTH * place, 16, "tick", "middle")
    at = {name: (left + STEP_WIDTH * stop.step, _lane(stop.lane)) for name, stop in stops.items()}
    for before, after in lines:
        drawing.line("interval", *at[before], *at[after])
    for name, stop in stops.items():
        x, y = at[name]
        drawing.dot(
            x, y, 6 if stop.is_large else 4, stop.tooltip, "dot" if stop.is_large else "dot other"
        )
        drawing.label(stop.label, x + 10, y + 15)
        drawing.label(stop.change, x + 10, y - 9, "tick")
    return _lane(max((stop.lane for stop in stops.values()), default=0)) + LANE_HEIGHT / 2 + 10


def _lane(place: int) -> float:
    return TOP + LANE_HEIGHT * (place + 0.5)


def _select_visible(candidates: Sequence[Program], run: Mapping[str, Program]) -> set[str]:
    """Return the programs on the lines of descent that fit into `MOST_LANES`.

    Lines that reach full data come first, then those of the best other candidates.
    """
    programs = sorted(candidates, key=_best_first)
    visible_ids: set[str] = set()
    lanes = 0
    for each in programs:
        line = _line_of(each, run)
        if each.program_id not in visible_ids and lanes < MOST_LANES:
            visible_ids |= line
            lanes += 1
    return visible_ids


def _best_first(program: Program) -> tuple[bool, bool, float, str]:
    gain = -math.inf if program.gain is None else program.gain
    fate = program.fate
    return fate is not Fate.CONFIRMED, fate not in _ON_FULL_DATA, -gain, program.program_id


def _line_of(program: Program, run: Mapping[str, Program]) -> set[str]:
    line, at = {program.program_id}, program.parent_program_id
    while at is not None and at in run and at not in line:
        line.add(at)
        at = run[at].parent_program_id
    return line


def _places(root: str, children: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, int]]:
    """Return depth and lane of each program; a first child stays in its parent's lane."""
    places: dict[str, tuple[int, int]] = {}
    waiting, lane = [(root, 0)], 0
    while waiting:
        name, depth = waiting.pop()
        places[name] = (depth, lane)
        below = children.get(name, ())
        waiting += [(child, depth + 1) for child in reversed(below)]
        if not below:
            lane += 1
    return places


def _stop(program: Program, depth: int, lane: int) -> _Node:
    if program.role is Role.PARENT:
        return _Node(depth, lane, program.program_id, "what was given", True, program.program_id)
    gain = "no score" if program.gain is None else figures.measure(program.gain)
    aim = program.aim.value.replace("_", " ") if program.aim is not None else "other values"
    more = f"{aim}, from {program.borrowed_from}" if program.borrowed_from else aim
    return _Node(
        step=depth,
        lane=lane,
        label=f"{program.program_id}: {gain}",
        change=shorten(more, _NAME_CHARACTERS),
        is_large=program.fate in _ON_FULL_DATA,
        tooltip=program.rationale or program.program_id,
    )
