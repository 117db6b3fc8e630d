"""A metric that is noise is not called an improvement, however many candidates are tried."""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import ClassVar, cast

import pytest

from schemas.failure import Failure
from schemas.works.experiment import (
    Direction,
    Execution,
    Finding,
    Program,
    Role,
    Stage,
    Task,
    Trials,
)
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import run_experiment
from tasks.experiments.proposing import Proposer
from tasks.experiments.record import Entry, elites, finding, interval, least_used
from tasks.experiments.task_folder import TaskFolder

PROGRAM = "def solve(given, seed):\n    return 0\n"
Noise = Callable[[random.Random], float]


def normal(chance: random.Random) -> float:
    return chance.gauss()


def skewed(chance: random.Random) -> float:
    """Most runs are a little good, and few very bad."""
    return -chance.lognormvariate(0, 1.5)


def coarse(chance: random.Random) -> float:
    """Such as the accuracy on a handful of points."""
    return sum(chance.random() < 0.5 for _ in range(8)) / 8


class EachOther:
    """Proposes what was not proposed yet; nothing is learnt from noise."""

    failures: ClassVar[list[Failure]] = []
    provenance = None

    async def propose(self, names: Sequence[str], record: object) -> list[Program]:
        return [
            Program(
                program_id=name,
                role=Role.CANDIDATE,
                parent_program_id="parent",
                source=PROGRAM,
                source_sha256=name,
            )
            for name in names
        ]

    async def learn(self, firsts: object, record: object, *, more: bool) -> None: ...


class OfNoise:
    """Every execution of every program gives noise; the parent's is shared in part, as data are."""

    container = None

    def __init__(self, noise: Noise, seed: int, better: float = 0.0) -> None:
        self.noise, self.seed, self.better = noise, seed, better

    async def execute(self, name: str, source: str, stage: Stage, replicate: int) -> Execution:
        data = random.Random(f"{self.seed} {stage} {replicate}")
        own = random.Random(f"{self.seed} {stage} {replicate} {name}")
        value = self.noise(data) + self.noise(own) + self.better * (name != "parent")
        return Execution(
            program_id=name,
            stage=stage,
            replicate=replicate,
            seed=0,
            value=value,
            wall_seconds=0.0,
            memory_bytes=0,
        )


TASK = TaskFolder(
    "null",
    Task(
        question="?",
        metric="m",
        direction=Direction.MAXIMISE,
        least_difference=1e-6,
        trials=Trials(candidates=12),
    ),
    {"parent": PROGRAM},
    "",
    {},
    "0" * 64,
)


def found(noise: Noise, seed: int, better: float = 0.0) -> Finding | None:
    executor, proposer = OfNoise(noise, seed, better), EachOther()
    running = run_experiment(TASK, cast(Executor, executor), cast(Proposer, proposer))
    return asyncio.run(running).finding


@pytest.mark.parametrize("tasks", [120, pytest.param(500, marks=pytest.mark.long)])
def test_of_tasks_without_an_effect_at_most_5_in_100_are_called_improvements(
    tasks: int,
) -> None:
    noises = (normal, skewed, coarse)
    called = [found(noises[seed % len(noises)], seed) for seed in range(tasks)]
    assert called.count(Finding.SUPPORTED) <= 0.05 * tasks
    assert None not in called


def test_an_effect_that_is_there_is_found() -> None:
    called = [found(normal, seed, better=6.0) for seed in range(50)]
    assert called.count(Finding.SUPPORTED) >= 45


def test_the_interval_of_a_confirmation_alone_holds_its_level() -> None:
    """Without the gate of the selection: at most 2.5 in 100 lie above 0 by chance."""
    chance = random.Random(0)
    lows = [interval([chance.gauss() for _ in range(10)]).low for _ in range(4_000)]
    assert 0.018 < sum(low > 0 for low in lows) / len(lows) < 0.032


def test_what_knows_labels_that_say_nothing_is_not_believed() -> None:
    clear = interval([0.4, 0.41, 0.42, 0.4, 0.41])
    assert finding(clear, clear, 0.1, None)[0] is Finding.SUPPORTED
    assert finding(clear, clear, 0.1, interval([0.3, 0.31, 0.32]))[0] is Finding.UNDECIDED
    assert finding(clear, clear, 0.1, interval([0.01, -0.01, 0.0]))[0] is Finding.SUPPORTED


def test_a_gain_too_small_to_be_worth_having_is_no_support() -> None:
    small = interval([0.04, 0.041, 0.042])
    assert finding(small, small, 0.1, None)[0] is Finding.NOT_SUPPORTED
    unsure = interval([-1.0, 2.0, 0.5])
    assert finding(small, unsure, 0.1, None)[0] is Finding.UNDECIDED
    assert finding(unsure, small, 0.01, None)[0] is Finding.UNDECIDED
    wide = interval([0.01, 0.05, 0.1, 0.14])
    assert finding(wide, interval([0.05, 0.14, 0.06, 0.12]), 0.1, None)[0] is Finding.UNDECIDED


def entry(name: str, gain: float, length: int = 100, seconds: float = 0.1) -> Entry:
    return Entry(name, gain, length, seconds)


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        # Of programs of one kind the best is kept, and of another kind a worse one too.
        (
            [
                *(entry("parent", 0), entry("c001", 0.5), entry("c002", 0.3, 105)),
                *(entry("c003", 0.1, 400), entry("c004", -0.2, 100, 30.0)),
            ],
            ["c001", "c003", "c004"],
        ),
        ([entry("a", 0.5), entry("b", 0.5)], ["a"]),
        # Times that are not worth telling apart are of one kind.
        ([entry("a", 0.1, seconds=0.1), entry("b", 0.2, seconds=1.1)], ["b"]),
    ],
)
def test_programs_are_kept_that_are_good_in_different_ways(
    entries: list[Entry], names: list[str]
) -> None:
    assert [each.name for each in elites(entries, 100)] == names


def test_the_parent_used_least_often_comes_first() -> None:
    entries = [entry("a", 0.5), entry("b", 0.3), entry("c", 0.4)]
    assert least_used(entries, {"a": 1}).name == "c"
    assert least_used(entries, {"a": 1, "b": 1, "c": 1}).name == "a"
