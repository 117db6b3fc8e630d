"""Experiments on workers of a Dask cluster: whether a worker is killed or the command itself, and
whenever, no execution is lost and none is counted twice.
"""

import sqlite3
from pathlib import Path

import pytest

from tests.support.assay_command import assay, find_child, kill_hard, rows, start_assay, wait_until
from tests.support.sandboxes import needs_sandbox
from tests.support.small_task import PROGRAM, write_task

pytestmark = [pytest.mark.end_to_end, needs_sandbox, pytest.mark.long]

WORKER = "multiprocessing.spawn"
GUARD_SECONDS = 800
PROGRAMS = "from programs order by all"
EXECUTIONS = (
    "select run_id, task_id, program_id, stage, replicate, seed, value, unscored_reason"
    " from executions order by all"
)
FAILS_AT_0 = PROGRAM.replace("0.0  # tunable: 0, 10", "3.0  # tunable: 0, 3.0, 10").replace(
    "return NUMBER", "return NUMBER / (NUMBER != 0)"
)


def command(warehouse: Path, tasks: list[Path], *options: str) -> list[str]:
    return ["experiment", "run", *map(str, tasks), "--warehouse", str(warehouse), *options]


def seen(warehouse: Path) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    return rows(warehouse, PROGRAMS), rows(warehouse, EXECUTIONS)


def stored(warehouse: Path) -> int:
    """Data made and executions measured so far; 0 while there is no store."""
    path = warehouse / "cache" / "executions.sqlite"
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(connection.execute("select count(*) from entries").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One for each of two workers; a candidate of the second fails."""
    folder = tmp_path_factory.mktemp("tasks")
    programs = {"first": PROGRAM, "second": FAILS_AT_0}
    return [
        write_task(folder / name, program=text, candidates=3) for name, text in programs.items()
    ]


@pytest.fixture(scope="module")
def undisturbed(
    tasks: list[Path], bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The lake of the same experiments in one process."""
    warehouse = tmp_path_factory.mktemp("undisturbed")
    done = assay(*command(warehouse, tasks), env=bare_env)
    assert done.returncode == 0, done.stderr
    return warehouse


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.kills)])
def test_workers_killed_at_several_moments_lose_and_double_no_execution(
    kills: int, tasks: list[Path], undisturbed: Path, env: dict[str, str], tmp_path: Path
) -> None:
    warehouse, log = tmp_path / "warehouse", tmp_path / "log"
    total = stored(undisturbed)
    words = command(warehouse, tasks, "--workers", "2")
    process = start_assay(*words, env=env, log=log)
    for kill in range(kills):
        until = total * kill // kills
        wait_until(
            lambda until=until: stored(warehouse) > until or process.poll() is not None,
            GUARD_SECONDS,
            "the next execution",
        )
        assert process.poll() is None, log.read_text()
        wait_until(
            lambda: find_child(process, WORKER) is not None, GUARD_SECONDS, "a worker's return"
        )
        victim = find_child(process, WORKER)
        assert victim is not None
        kill_hard(victim)
    assert process.wait(timeout=GUARD_SECONDS) == 0, log.read_text()
    assert seen(warehouse) == seen(undisturbed)
    assert stored(warehouse) == total
