"""Kill anything, at any time; the same command again gives the lake of an undisturbed run."""

from pathlib import Path

import pytest

from tests.end_to_end.conftest import DemoRun
from tests.support.assay_command import assay, family, find_child, kill_hard, landed_count, rows, start_assay, wait_until

pytestmark = pytest.mark.end_to_end

TABLES = (
    "ideas", "methods", "passages", "papers", "paper_sections", "method_evidence", "soundness_reviews", "dimensions",
    "candidates", "comparisons", "contribution_reviews", "citations", "failures", "idea_scores", "group_rankings",
)  # fmt: skip
TIMES = {"created_at", "started_at", "finished_at", "duration_seconds", "reused_from_run_id"}


def content(warehouse: Path, env: dict[str, str]) -> dict[str, list[str]]:
    """Everything a reader can see, without the clock."""
    seen = {}
    for table in TABLES:
        found = rows(warehouse, f"from {table}", env)
        seen[table] = sorted(repr({name: value for name, value in row.items() if name not in TIMES}) for row in found)
    return seen


@pytest.mark.parametrize("victim", ["driver", "worker", "gateway"])
def test_a_killed_run_started_again_yields_the_lake_of_an_undisturbed_one(
    victim: str, demo: DemoRun, bare_env: dict[str, str], env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    process = start_assay("demo", "--warehouse", str(warehouse), env=bare_env, log=tmp_path / "first.log")
    wait_until(lambda: landed_count(warehouse) >= 2 or process.poll() is not None, 120, "the second idea")
    assert process.poll() is None, (tmp_path / "first.log").read_text()
    relatives = family(process)
    if victim == "driver":
        kill_hard(process)
    else:
        child = find_child(process, {"worker": "multiprocessing.spawn", "gateway": "tasks.literature.gateway"}[victim])
        assert child is not None
        kill_hard(child)
    process.wait(timeout=200)
    wait_until(
        lambda: not any(relative.is_running() and relative.status() != "zombie" for relative in relatives), 30, "the end of all children"
    )
    again = assay("demo", "--warehouse", str(warehouse), "--json", env=env)
    assert again.returncode == 0, again.stderr
    assert content(warehouse, env) == content(demo.warehouse, env)
