"""An existing Dask scheduler, its workers started elsewhere."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.prefect_server import PrefectServer, free_port
from flows.request import bundled
from tests.support.assay_command import assay

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def cluster(env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """A Prefect server, a scheduler and a worker as processes of their own; their addresses."""
    for name in ("ASSAY_HOME", "PREFECT_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "prefect"))
    address = f"tcp://127.0.0.1:{free_port()}"
    with PrefectServer(None) as server:
        api_url = server.wait()
        monkeypatch.delenv("PREFECT_API_URL")
        remote = {**env, "PREFECT_API_URL": api_url}
        scheduler = [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            address.rsplit(":", 1)[1],
            "--no-dashboard",
        ]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        log = (tmp_path / "dask.log").open("wb")
        processes = [subprocess.Popen(command, env=remote, cwd=tmp_path, stdout=log, stderr=log) for command in (scheduler, worker)]
        yield address, api_url
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=20)


def test_a_batch_runs_on_workers_started_elsewhere(cluster: tuple[str, str], env: dict[str, str], tmp_path: Path) -> None:
    address, api_url = cluster
    ideas = tmp_path / "four.jsonl"
    ideas.write_text("".join(bundled("ideas.jsonl").read_text().splitlines(keepends=True)[:4]))
    done = assay(
        "evaluate", str(ideas), "--warehouse", str(tmp_path / "warehouse"), "--literature", f"snapshot:{bundled('papers.jsonl')}",
        "--scheduler", address, "--json", env={**env, "PREFECT_API_URL": api_url}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"]["evaluated_count"] == 4
