"""What a model is shown of an experiment: bounded, and never more than screening tells.

Nothing of the data by which candidates are selected or confirmed is shown, nor `evaluate.py`.
"""

from collections.abc import Iterable
from textwrap import shorten

from schemas.works.experiment import Fate, Program, Stage, Task
from tasks.experiments.record import Record, mean_of
from tasks.experiments.steps.learn_from_runs import Attempt
from tasks.experiments.steps.propose_program import ShownProgram
from tasks.experiments.task_folder import PARENT
from warehouse.scrubbing import one_line

MOST_TRIES = 40
MOST_LESSONS = 12
_RATIONALE_CHARACTERS = 240
_PATCH_CHARACTERS = 4_000
_SLOW_SHARE = 0.2
"""Of the time a run may take, from which it is worth saying."""


def measured(task: Task, environment: str) -> str:
    """Metric, direction and limits, and what the task says of them."""
    limits = task.limits
    explained = f" {one_line(task.explanation)}" if task.explanation else ""
    return (
        f"{task.metric}; {task.direction.better}, and a difference of {task.least_difference:g} or"
        f" more is worth having. A run may take {limits.seconds:g} s and"
        f" {limits.memory_bytes >> 20:,} MB."
        f" {environment}.{explained}"
    )


def shown(record: Record, name: str) -> ShownProgram:
    """A program with how it fared."""
    source = record.programs[name].source
    return ShownProgram(name=_called(name), fared=fared(record, name), source=source)


def fared(record: Record, name: str) -> str:
    """How a program fared on small data, in a line."""
    program = record.programs[name]
    if program.fate is Fate.REFUSED:
        return f"could not be applied: {one_line(program.refusal)}"
    if program.fate is Fate.REPEATED:
        return "is a program that was there before, under another name"
    values = record.values(name, Stage.SCREENING)
    mean = mean_of(values)
    if values is None or mean is None:
        return f"failed when it was run: {one_line(record.failure(name))}"
    told = f"mean {record.task.metric} of {len(values)} small runs: {mean:.5g}"
    if name != PARENT:
        told += _beside_the_parent(program.gain or 0.0)
    seconds = record.seconds(name, Stage.SCREENING)
    limit = record.task.limits.seconds
    if seconds > _SLOW_SHARE * limit:
        told += f"; a run takes {seconds:.0f} of the {limit:g} s it may, and full data are larger"
    return told


def tries(record: Record) -> tuple[str, ...]:
    """What was tried last, a line each."""
    return tuple(_tried(record, each) for each in record.candidates()[-MOST_TRIES:])


def lessons(record: Record, name: str) -> tuple[str, ...]:
    """What was learnt on the way to a program: from those that it comes from, and from all that
    went on from one of them.
    """
    line, at = {name}, record.programs[name].parent_program_id
    while at is not None:
        line.add(at)
        at = record.programs[at].parent_program_id
    told = [
        f"({each.program_id}) {each.lesson}"
        for each in record.candidates()
        if each.lesson and (each.program_id in line or each.parent_program_id in line)
    ]
    return tuple(told[-MOST_LESSONS:])


def weak(record: Record, names: Iterable[str]) -> list[str]:
    """Those of `names` that failed, could not be applied, or are no better than what they were made
    from.
    """
    return [name for name in names if _is_weak(record, record.programs[name])]


def attempt(record: Record, name: str) -> Attempt:
    """A change with how it fared."""
    program = record.programs[name]
    patch = program.patch[:_PATCH_CHARACTERS]
    return Attempt(key=name, rationale=program.rationale, patch=patch, fared=fared(record, name))


def _is_weak(record: Record, program: Program) -> bool:
    if program.fate is Fate.REPEATED:
        return False
    parent = record.programs[program.parent_program_id or PARENT]
    return program.gain is None or program.gain <= (parent.gain or 0.0)


def _beside_the_parent(gain: float) -> str:
    if gain == 0:
        return f", as that of {_called(PARENT)}"
    word = "better" if gain > 0 else "worse"
    return f", {abs(gain):.3g} {word} than that of {_called(PARENT)}"


def _called(name: str) -> str:
    return "the program that was given" if name == PARENT else name


def _tried(record: Record, program: Program) -> str:
    said = shorten(program.rationale, _RATIONALE_CHARACTERS, placeholder=" …")
    said = said or "no word of what it is"
    name, parent = program.program_id, _called(program.parent_program_id or PARENT)
    return f"{name}, from {parent}: {said} → {fared(record, name)}"
