"""The nightly deployment, through a real Prefect server and a real worker."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from flows.prefect_server import PrefectServer
from flows.request import bundled
from tests.support.assay_command import rows, wait_until

pytestmark = pytest.mark.end_to_end
REPOSITORY = Path(__file__).parents[2]


def prefect(*arguments: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "prefect", *arguments], env=env, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def served(env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A Prefect server with the deployments of infra/prefect.yaml and a worker on its pool."""
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    with PrefectServer(None) as server:
        served_env = {
            **env,
            "PREFECT_API_URL": server.wait(),
            "PREFECT_HOME": str(tmp_path / "prefect"),
            "PREFECT_WORKER_QUERY_SECONDS": "1",
        }
        monkeypatch.delenv("PREFECT_API_URL")
        prefect("work-pool", "create", "assay", "--type", "process", env=served_env, cwd=tmp_path)
        shutil.copytree(REPOSITORY / "infra", tmp_path / "infra")
        prefect("--no-prompt", "deploy", "--all", "--prefect-file", "infra/prefect.yaml", env=served_env, cwd=tmp_path)
        worker_log = (tmp_path / "worker.log").open("wb")
        worker = subprocess.Popen(
            [sys.executable, "-m", "prefect", "worker", "start", "--pool", "assay"],
            env=served_env, cwd=tmp_path, stdout=worker_log, stderr=worker_log,
        )  # fmt: skip
        yield served_env
        worker.terminate()
        worker.wait(timeout=30)


def test_new_idea_files_are_evaluated_published_reported_and_archived(served: dict[str, str], tmp_path: Path) -> None:
    inbox, archive, warehouse = tmp_path / "inbox", tmp_path / "archive", tmp_path / "warehouse"
    inbox.mkdir()
    lines = bundled("ideas.jsonl").read_text().splitlines(keepends=True)
    (inbox / "tonight.jsonl").write_text("".join(lines[:2]))
    (inbox / "broken.csv").write_text("name\nno idea here\n")
    (inbox / "arriving.jsonl.part").write_text("".join(lines[2:3]))
    parameters = [f"inbox={inbox}", f"warehouse={warehouse}", "settle_seconds=0", f"literature=snapshot:{bundled('papers.jsonl')}"]
    flags = [flag for parameter in parameters for flag in ("--param", parameter)]
    prefect("deployment", "run", "nightly/nightly", *flags, env=served, cwd=tmp_path)
    wait_until(lambda: len(list(archive.rglob("*.jsonl"))) == 1 and len(list(archive.rglob("*.reason.txt"))) == 1, 200, "archiving")
    assert [path.name for path in inbox.iterdir()] == ["arriving.jsonl.part"]
    assert "text" in next(archive.rglob("broken.csv.reason.txt")).read_text()
    (run,) = rows(warehouse, "from runs", served)
    assert (run["idea_count"], run["evaluated_count"]) == (2, 2)
    assert list((warehouse / "reports").rglob("*.html"))


def test_the_deployment_names_a_module_path_and_a_schedule() -> None:
    (deployment,) = yaml.safe_load((REPOSITORY / "infra/prefect.yaml").read_text())["deployments"]
    assert deployment["entrypoint"] == "flows.nightly.nightly"
    assert deployment["schedules"][0]["active"]
