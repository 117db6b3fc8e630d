"""Which program was made from which: a lane for each line of descent, laid out for
`templates/lineage.svg.jinja`.
"""

import math
from collections.abc import Mapping, Sequence

from dashboards.render import figures
from dashboards.render.charts.lineage import Lineage, Stop
from dashboards.render.wording import shortened
from schemas.works.experiment import Experiment, Fate, Program, Role

LEFT, TOP, LANE_HEIGHT, STEP_WIDTH, WIDTH_OF_LABELS = 30, 34, 56, 190, 220
MOST_LANES = 16
_ON_FULL_DATA = (Fate.COMPARED, Fate.CONFIRMED)
_SAID_CHARACTERS = 30
_CAPTION = (
    "Each dot is a program, joined to the one it was made from, with its gain over the program"
    " that was given. Large ones came to full data. Of long searches only lines that led there are"
    " drawn."
)


def program_lineage(number: int, experiment: Experiment) -> Lineage | None:
    """None where every candidate was made from the parent, or there is none."""
    parent = next((each for each in experiment.programs if each.role is Role.PARENT), None)
    run = {
        each.program_id: each
        for each in experiment.programs
        if each.role is Role.CANDIDATE and each.fate not in (Fate.REFUSED, Fate.REPEATED)
    }
    if parent is None or all(each.parent_program_id not in run for each in run.values()):
        return None
    shown = _shown(list(run.values()), run)
    children: dict[str, list[str]] = {}
    for name in run:
        if name in shown:
            made_from = run[name].parent_program_id
            known = made_from if made_from in run else parent.program_id
            children.setdefault(known, []).append(name)
    places = _places(parent.program_id, children)
    programs = {parent.program_id: parent, **run}
    stops = {name: _stop(programs[name], depth, lane) for name, (depth, lane) in places.items()}
    depths = range(max(depth for depth, _ in places.values()) + 1)
    lanes = 1 + max(lane for _, lane in places.values())
    return Lineage(
        number=number,
        width=LEFT + STEP_WIDTH * (len(depths) - 1) + WIDTH_OF_LABELS,
        height=TOP + LANE_HEIGHT * lanes + 10,
        lanes=(),
        rounds=tuple(
            (
                float(LEFT + STEP_WIDTH * depth),
                figures.counted(depth, "change") if depth else "given",
            )
            for depth in depths
        ),
        stops=tuple(stops.values()),
        lines=tuple(
            (stops[name], stops[child]) for name, those in children.items() for child in those
        ),
        description="; ".join(f"{stop.label} ({stop.more})" for stop in stops.values()),
        title="Which program was made from which",
        caption=_CAPTION,
    )


def _shown(candidates: Sequence[Program], run: Mapping[str, Program]) -> set[str]:
    """Names on the lines of descent that lead to full data, then on those of the best others, as
    long as there are lanes.
    """
    ordered = sorted(candidates, key=_best_first)
    shown: set[str] = set()
    lanes = 0
    for each in ordered:
        line = _line_of(each, run)
        if each.program_id not in shown and lanes < MOST_LANES:
            shown |= line
            lanes += 1
    return shown


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
    """Depth and lane of each: a first child goes on in the lane of what it was made from."""
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


def _stop(program: Program, depth: int, lane: int) -> Stop:
    if program.role is Role.PARENT:
        label, more = program.program_id, "what was given"
    else:
        gain = "no score" if program.gain is None else figures.measure(program.gain)
        label = f"{program.program_id}: {gain}"
        aim = program.aim.value.replace("_", " ") if program.aim is not None else "other values"
        more = f"{aim}, from {program.borrowed_from}" if program.borrowed_from else aim
    return Stop(
        x=LEFT + STEP_WIDTH * depth,
        y=TOP + LANE_HEIGHT * (lane + 0.5),
        label=label,
        more=shortened(more, _SAID_CHARACTERS),
        kept=program.role is Role.PARENT or program.fate in _ON_FULL_DATA,
        title=program.rationale or program.program_id,
    )
