"""Record of an experiment: programs, executions, gains, elites and the finding."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as students_t

from schemas.base import replace
from schemas.works.experiment import Direction, Execution, Fate, Finding, Program, Role, Stage, Task
from tasks.experiments.program import tree_hash, tunables_of
from tasks.experiments.task_folder import PARENT, TaskFolder

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Gain:
    """A mean gain with its interval (Student's t over replicates).

    A gain is the improvement over the parent on the same data with the same seed; more is better
    whichever direction the metric has.

    Attributes:
        compared_with: number of comparisons in the Bonferroni correction of the interval.
    """

    mean: float
    low: float
    high: float
    compared_with: int


def interval(values: Sequence[float], compared_with: int = 1) -> Gain:
    """Return the mean of at least two values with its interval.

    The interval holds for `compared_with` such means together at 95 %.
    """
    count, mean = len(values), float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    tail = (1 - CONFIDENCE) / compared_with / 2
    reach = float(students_t.isf(tail, count - 1)) * error
    return Gain(mean, mean - reach, mean + reach, compared_with)


def gains(
    ours: Sequence[float], theirs: Sequence[float], direction: Direction
) -> tuple[float, ...]:
    """Return the improvement of the first over the second, by replicate."""
    sign = 1.0 if direction is Direction.MAXIMISE else -1.0
    return tuple(sign * (one - other) for one, other in zip(ours, theirs, strict=True))


def finding(
    selection_gain: Gain,
    fresh_gain: Gain,
    least_difference: float,
    known_without_labels: Gain | None,
) -> tuple[Finding, str]:
    """Return the finding on the best candidate, and its reason.

    Args:
        selection_gain: gain on the selection data, corrected for all candidates tried.
        fresh_gain: gain on fresh data.
        known_without_labels: gain over chance with permuted labels; None if not tried.
    """
    if known_without_labels is not None and known_without_labels.low > 0:
        reason = "it is better than chance although the labels are permuted, so it knows them from"
        return Finding.UNDECIDED, f"{reason} elsewhere"
    if fresh_gain.high < least_difference:
        reason = "on fresh data the gain lies below the smallest difference worth having"
        return Finding.NOT_SUPPORTED, reason
    if fresh_gain.low <= 0:
        reason = "on fresh data the interval of the gain holds 0"
    elif selection_gain.low <= 0:
        reason = f"the interval corrected for {selection_gain.compared_with} candidates holds 0"
    elif fresh_gain.mean < least_difference:
        reason = "the gain is smaller than the smallest difference worth having, and may be larger"
    else:
        reason = "chosen and confirmed on different data, both intervals lie above 0"
        return Finding.SUPPORTED, reason
    return Finding.UNDECIDED, reason


_FIGURES = ("mean", "gain", "gain_low", "gain_high")


@dataclass(slots=True)
class Record:
    """Programs by name and executions in order, starting with the given programs."""

    folder: TaskFolder
    programs: dict[str, Program] = field(default_factory=dict)
    executions: list[Execution] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, source in self.folder.programs.items():
            tunables = tunables_of(source, name) if name == PARENT else ()
            self.programs[name] = Program(
                program_id=name,
                role=Role.PARENT if name == PARENT else Role.BASELINE,
                settings={each.name: repr(each.value) for each in tunables},
                source=source,
                source_sha256=tree_hash(source),
            )

    @property
    def task(self) -> Task:
        return self.folder.task

    def candidates(self) -> list[Program]:
        return [each for each in self.programs.values() if each.role is Role.CANDIDATE]

    def tried(self) -> list[Program]:
        unrun = (Fate.REPEATED, Fate.REFUSED)
        return [each for each in self.candidates() if each.fate not in unrun]

    def values(self, name: str, stage: Stage) -> list[float] | None:
        """Return the metric of every replicate; None if one is missing, or if there is none."""
        values = [each.value for each in self._of(name, stage)]
        scores = [value for value in values if value is not None]
        return scores if scores and len(scores) == len(values) else None

    def seconds(self, name: str, stage: Stage) -> float:
        """Return the mean wall time of its runs; 0 without runs."""
        return mean_of([each.wall_seconds for each in self._of(name, stage)]) or 0.0

    def failure(self, name: str) -> str:
        """Return the error of its first run without a score; empty if there is none."""
        failures = (each for each in self.executions if each.value is None)
        return next((each.unscored_detail for each in failures if each.program_id == name), "")

    def note_gains(
        self, names: Sequence[str], stage: Stage, fate: Fate | None, compared_with: int
    ) -> dict[str, Gain]:
        """Record the gains over the parent; return those of scored programs."""
        parent_values = self.values(PARENT, stage)
        gain_of: dict[str, Gain] = {}
        for name in names:
            values = self.values(name, stage)
            if values is None or parent_values is None:
                failed_fate = Fate.FAILED if fate is not None else None
                self.programs[name] = replace(
                    self.programs[name], fate=failed_fate, **dict.fromkeys(_FIGURES), run_count=0
                )
                continue
            pairs = gains(values, parent_values, self.task.direction)
            changes = {"fate": fate, "mean": mean_of(values), "run_count": len(values)}
            if stage is Stage.SCREENING:
                changes["gain"] = mean_of(pairs)
            else:
                gain = gain_of[name] = interval(pairs, compared_with)
                changes |= {"gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high}
                changes["compared_with"] = compared_with
            self.programs[name] = replace(self.programs[name], **changes)
        return gain_of

    def _of(self, name: str, stage: Stage) -> list[Execution]:
        return [each for each in self.executions if (each.program_id, each.stage) == (name, stage)]


def mean_of(values: Sequence[float] | None) -> float | None:
    """Return the mean; None without values."""
    return math.fsum(values) / len(values) if values else None


_PER_DOUBLING_OF_LENGTH = 2
_TIME_FACTOR = 4.0
_LEAST_SECONDS = 1.0
"""Shorter times depend more on the machine's load than on the program."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A scored program.

    Attributes:
        gain: gain over the given program; more is better.
        length: length of its syntax tree, in characters.
        seconds: mean time of a run.
    """

    name: str
    gain: float
    length: int
    seconds: float


def elites(entries: Iterable[Entry], length: int) -> tuple[Entry, ...]:
    """Return the best entry of each cell, best first; of equals the earliest.

    The cells are those of MAP-Elites (Mouret and Clune 2015). A search from the best program alone
    can get stuck; the best program of another cell may overtake it.

    Args:
        length: length of the given program; cells are counted relative to it.
    """
    best_of_cell: dict[tuple[int, int], Entry] = {}
    for entry in entries:
        incumbent = best_of_cell.setdefault(_cell(entry, length), entry)
        if entry.gain > incumbent.gain:
            best_of_cell[_cell(entry, length)] = entry
    return tuple(sorted(best_of_cell.values(), key=lambda entry: -entry.gain))


def least_used(entries: Iterable[Entry], uses: Mapping[str, int]) -> Entry:
    """Return the entry used least often as a parent, the better one of equals."""
    return min(entries, key=lambda entry: (uses.get(entry.name, 0), -entry.gain))


def _cell(entry: Entry, length: int) -> tuple[int, int]:
    seconds = max(entry.seconds, _LEAST_SECONDS) / _LEAST_SECONDS
    return (
        round(_PER_DOUBLING_OF_LENGTH * math.log2(max(entry.length, 1) / max(length, 1))),
        round(math.log(seconds, _TIME_FACTOR)),
    )
