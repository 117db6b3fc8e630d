"""The nightly deployment, through a real Prefect server and a real worker."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import LITERATURE, rows, wait_until

pytestmark = pytest.mark.end_to_end
REPOSITORY = Path(__file__).parents[2]


def prefect(*arguments: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *arguments],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def asked(env: dict[str, str], kind: str) -> list[dict[str, Any]]:
    """Everything of a kind that the Prefect server knows."""
    user, _, password = env["PREFECT_API_AUTH_STRING"].partition(":")
    address = f"{env['PREFECT_API_URL']}/{kind}/filter"
    return httpx.post(address, json={}, auth=(user, password)).raise_for_status().json()


@pytest.fixture(scope="module")
def served(
    env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The Prefect server, with the deployments of infra/prefect.yaml and a worker on their pool."""
    folder = tmp_path_factory.mktemp("nightly")
    served_env = {
        **env,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_WORKER_QUERY_SECONDS": "1",
    }
    prefect("work-pool", "create", "assay", "--type", "process", env=served_env, cwd=folder)
    shutil.copytree(REPOSITORY / "infra", folder / "infra")
    prefect(
        "--no-prompt",
        "deploy",
        "--all",
        "--prefect-file",
        "infra/prefect.yaml",
        env=served_env,
        cwd=folder,
    )
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "assay"]
    with (folder / "worker.log").open("wb") as log:
        worker = subprocess.Popen(command, env=served_env, cwd=folder, stdout=log, stderr=log)
        yield served_env
        worker.terminate()
        worker.wait(timeout=120)


@pytest.mark.long
def test_new_idea_files_are_evaluated_published_reported_and_archived(
    served: dict[str, str], tmp_path: Path
) -> None:
    inbox, archive, warehouse = tmp_path / "inbox", tmp_path / "archive", tmp_path / "warehouse"
    inbox.mkdir()
    lines = bundled_file("ideas.jsonl").read_text().splitlines(keepends=True)
    (inbox / "tonight.jsonl").write_text("".join(lines[:2]))
    (inbox / "broken.csv").write_text("name\nno idea here\n")
    (inbox / "arriving.jsonl.part").write_text("".join(lines[2:3]))
    parameters = [
        f"inbox={inbox}",
        f"warehouse={warehouse}",
        "settle_seconds=0",
        "workers=1",
        f"literature={LITERATURE}",
    ]
    flags = [flag for parameter in parameters for flag in ("--param", parameter)]
    prefect("deployment", "run", "nightly/nightly", *flags, env=served, cwd=tmp_path)
    wait_until(
        lambda: (
            len(list(archive.rglob("*.jsonl"))) == 1
            and len(list(archive.rglob("*.reason.txt"))) == 1
        ),
        600,
        "archiving",
    )
    assert [path.name for path in inbox.iterdir()] == ["arriving.jsonl.part"]
    assert "text" in next(archive.rglob("broken.csv.reason.txt")).read_text()
    (run,) = rows(warehouse, "from runs")
    assert (run["idea_count"], run["evaluated_count"]) == (2, 2)
    assert list((warehouse / "reports").rglob("*.html"))
    expected = {"evaluate-batch-progress", "evaluate-batch-summary", "nightly-summary"}
    wait_until(
        lambda: expected <= {artifact["key"] for artifact in asked(served, "artifacts")},
        600,
        "the summary of the night",
    )


@pytest.mark.long
def test_the_schedule_plans_the_coming_nights(served: dict[str, str]) -> None:
    def planned() -> list[dict[str, Any]]:
        return [run for run in asked(served, "flow_runs") if run["state_type"] == "SCHEDULED"]

    wait_until(lambda: len(planned()) >= 2, 300, "planning")
    assert all(run["expected_start_time"][11:16] == "01:00" for run in planned())
