"""Kill anything, at any time; the same command again gives the lake of an undisturbed run."""

import subprocess
from pathlib import Path

import pytest

from tests.support.assay_command import (
    assay,
    family,
    find_child,
    kill_hard,
    landed_count,
    rows,
    start_assay,
    wait_until,
)
from tests.support.demo_run import DemoRun

pytestmark = pytest.mark.end_to_end

TABLES = (
    "ideas", "methods", "passages", "papers", "paper_sections", "method_evidence", "soundness_reviews", "dimensions",
    "candidates", "comparisons", "contribution_reviews", "citations", "failures", "idea_scores", "group_rankings",
)  # fmt: skip
TIMES = {"created_at", "started_at", "finished_at", "duration_seconds", "reused_from_run_id"}
MARKS = {"worker": "multiprocessing.spawn", "gateway": "tasks.literature.gateway"}
GUARD_SECONDS = 800


def content(warehouse: Path) -> dict[str, list[str]]:
    """Everything a reader can see, without the clock; numbers as far as the order in which ideas
    landed leaves them alone: sums of the same floats in another order differ in the last digit.
    """
    seen = {}
    for table in TABLES:
        found = rows(warehouse, f"from {table}")
        seen[table] = sorted(
            repr({name: rounded(value) for name, value in row.items() if name not in TIMES})
            for row in found
        )
    return seen


def rounded(value: object) -> object:
    return round(value, 9) if isinstance(value, float) else value


def kill_one_by_one(
    process: subprocess.Popen[bytes], victims: tuple[str, ...], warehouse: Path, log: Path
) -> None:
    """Kill each victim once one more idea has landed."""
    for ideas, victim in enumerate(victims, start=2):
        wait_until(
            lambda ideas=ideas: landed_count(warehouse) >= ideas or process.poll() is not None,
            GUARD_SECONDS,
            "the next idea",
        )
        assert process.poll() is None, log.read_text()
        killed = process if victim == "driver" else find_child(process, MARKS[victim])
        assert killed is not None
        kill_hard(killed)


@pytest.mark.long
def test_a_run_survives_its_gateway_and_a_worker(
    demo: DemoRun, env: dict[str, str], tmp_path: Path
) -> None:
    warehouse, log = tmp_path / "warehouse", tmp_path / "log"
    process = start_assay("demo", "--warehouse", str(warehouse), env=env, log=log)
    kill_one_by_one(process, ("gateway", "worker"), warehouse, log)
    assert process.wait(timeout=GUARD_SECONDS) == 0, log.read_text()
    assert content(warehouse) == content(demo.warehouse)


@pytest.mark.long
def test_a_killed_run_started_again_yields_the_lake_of_an_undisturbed_one(
    demo: DemoRun, bare_env: dict[str, str], env: dict[str, str], tmp_path: Path
) -> None:
    warehouse, log = tmp_path / "warehouse", tmp_path / "log"
    process = start_assay("demo", "--warehouse", str(warehouse), env=bare_env, log=log)
    wait_until(
        lambda: landed_count(warehouse) >= 1 or process.poll() is not None,
        GUARD_SECONDS,
        "the first idea",
    )
    relatives = family(process)
    kill_one_by_one(process, ("driver",), warehouse, log)
    process.wait(timeout=GUARD_SECONDS)
    wait_until(
        lambda: not any(each.is_running() and each.status() != "zombie" for each in relatives),
        GUARD_SECONDS,
        "the end of all",
    )
    again = assay("demo", "--warehouse", str(warehouse), "--json", env=env)
    assert again.returncode == 0, again.stderr
    assert content(warehouse) == content(demo.warehouse)
