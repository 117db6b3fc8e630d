"""Signals at moments drawn at random: the same command again gives the lake of an undisturbed run,
row for row.

Hours rather than minutes, so outside `make test`: `make kills`, or `ASSAY_KILL_POINTS=5 make kills`
for the first five.
"""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.test_kills import GUARD_SECONDS, MARKS, content
from tests.support.assay_command import (
    assay,
    evaluation,
    family,
    some_ideas,
    start_assay,
    wait_until,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.kills]

SEED = 20_261_122
POINTS = int(os.environ.get("ASSAY_KILL_POINTS", "50"))
SIGNALS = (
    signal.SIGKILL,
    signal.SIGKILL,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGSTOP,
)
LONGEST_STOP_SECONDS = 20.0


@dataclass(frozen=True)
class Kill:
    """Who gets which signal, and when: as a share of the seconds that an undisturbed run took."""

    victim: str
    signal: signal.Signals
    moment: float
    draw: float

    def __str__(self) -> str:
        return f"{self.signal.name} to the {self.victim} at {self.moment:.2f}"


def drawn() -> list[Kill]:
    dice = random.Random(SEED)
    victims = ("driver", *MARKS)
    return [
        Kill(dice.choice(victims), dice.choice(SIGNALS), dice.random(), dice.random())
        for _ in range(POINTS)
    ]


@dataclass(frozen=True)
class Undisturbed:
    seconds: float
    lake: dict[str, list[str]]
    ideas: Path

    def command(self, warehouse: Path) -> list[str]:
        return evaluation(self.ideas, warehouse)


@pytest.fixture(scope="module")
def undisturbed(bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    ideas = some_ideas(folder / "two.jsonl", 2)
    first = Undisturbed(0.0, {}, ideas)
    began_at = time.monotonic()
    done = assay(*first.command(folder / "warehouse"), env=bare_env)
    seconds = time.monotonic() - began_at
    assert done.returncode == 0, done.stderr
    return Undisturbed(seconds, content(folder / "warehouse"), ideas)


@pytest.mark.parametrize("kill", drawn(), ids=str)
def test_a_run_hit_at_a_random_moment_ends_in_the_undisturbed_lake(
    kill: Kill, undisturbed: Undisturbed, bare_env: dict[str, str], tmp_path: Path
) -> None:
    warehouse, log = tmp_path / "warehouse", tmp_path / "log"
    process = start_assay(*undisturbed.command(warehouse), env=bare_env, log=log)
    try:
        process.wait(kill.moment * undisturbed.seconds)
    except subprocess.TimeoutExpired:
        relatives = family(process)
        strike(kill, process, relatives)
        process.wait(GUARD_SECONDS)
        wait_until(
            lambda: not any(map(alive, relatives)), GUARD_SECONDS, "the end of all it started"
        )
    if process.returncode != 0:
        again = assay(*undisturbed.command(warehouse), env=bare_env)
        assert again.returncode == 0, log.read_text() + again.stderr
    assert content(warehouse) == undisturbed.lake


def strike(kill: Kill, process: subprocess.Popen[bytes], relatives: list[psutil.Process]) -> None:
    """Send the signal; a victim that does not live yet is stood in for by the driver.

    Who is stopped goes on after a while.
    """
    found = [
        each
        for each in relatives
        if alive(each) and MARKS.get(kill.victim, " none ") in " ".join(each.cmdline())
    ]
    struck = found[int(kill.draw * len(found))].pid if found else process.pid
    os.kill(struck, kill.signal)
    if kill.signal is signal.SIGSTOP:
        time.sleep(kill.draw * LONGEST_STOP_SECONDS)
        with suppress(ProcessLookupError):  # the run may have ended and killed it meanwhile
            os.kill(struck, signal.SIGCONT)


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
