"""An existing Dask scheduler, its workers started elsewhere."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.assay_command import assay, evaluation, some_ideas, wait_until
from tests.support.ports import quiet_port

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]


@pytest.fixture
def scheduler(env: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """Address of a scheduler with one worker, processes of their own started from another
    directory.
    """
    port = quiet_port()
    address = f"tcp://127.0.0.1:{port}"
    commands = (
        ["dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        ["dask_worker", address, "--nthreads", "1", "--no-dashboard"],
    )
    with (tmp_path / "dask.log").open("wb") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:]],
                env=env,
                cwd=tmp_path,
                stdout=log,
                stderr=log,
            )
            for command in commands
        ]
        wait_until(lambda: _listens(port), 240, "the scheduler's start")
        yield address
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=120)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_batch_runs_on_workers_started_elsewhere(
    scheduler: str, env: dict[str, str], tmp_path: Path
) -> None:
    ideas = some_ideas(tmp_path / "four.jsonl", 4)
    words = evaluation(ideas, tmp_path / "warehouse", "--scheduler", scheduler, "--json")
    done = assay(*words, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + (tmp_path / "dask.log").read_text()
    assert json.loads(done.stdout)["run"]["evaluated_count"] == 4
