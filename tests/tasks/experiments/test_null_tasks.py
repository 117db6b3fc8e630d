"""A metric that is noise is not called an improvement, however many candidates are tried."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, cast

import pytest

from schemas.works.experiment import Direction, Execution, Finding, Stage, Task, Trials
from tasks.experiments import proposing
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import run_experiment
from tasks.experiments.proposing import TunableProposer
from tasks.experiments.record import finding, interval
from tasks.experiments.task_folder import TaskFolder

PROGRAM = "A = 0  # tunable: 0..1000000\n\ndef solve(given, seed):\n    return A\n"
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
    """Proposes what was not proposed yet."""

    def __init__(self, *_: object) -> None:
        self.count = 0

    def propose(self, count: int) -> list[dict[str, int]]:
        self.count += count
        return [{"A": self.count - number} for number in range(count)]

    def tell(self, values: Any) -> None:
        """Nothing is learnt from noise."""


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


def task(**more: Any) -> TaskFolder:
    said = Task(
        question="?",
        metric="m",
        direction=Direction.MAXIMISE,
        least_difference=1e-6,
        trials=Trials(candidates=12),
    )
    return TaskFolder("null", said, {"parent": PROGRAM}, "", {}, False, "0" * 64, **more)


def found(noise: Noise, seed: int, better: float = 0.0) -> Finding | None:
    executor = cast(Executor, OfNoise(noise, seed, better))
    return asyncio.run(run_experiment(task(), executor, TunableProposer(task(), seed))).finding


@pytest.mark.parametrize("tasks", [120, pytest.param(500, marks=pytest.mark.long)])
def test_of_tasks_without_an_effect_at_most_5_in_100_are_called_improvements(
    tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposing, "TunableSearch", EachOther)
    noises = (normal, skewed, coarse)
    called = [found(noises[seed % len(noises)], seed) for seed in range(tasks)]
    assert called.count(Finding.SUPPORTED) <= 0.05 * tasks
    assert None not in called


def test_an_effect_that_is_there_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposing, "TunableSearch", EachOther)
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
