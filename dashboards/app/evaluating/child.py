"""`python -m dashboards.app.evaluating.child WAREHOUSE JOB`: run one evaluation to its end, alone in its warehouse."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import orjson

from dashboards.app.evaluating.jobs import JobState, jobs_folder, lock_path
from dashboards.app.evaluating.request import EvaluateRequest, arguments
from schemas.errors import ConfigurationError
from schemas.interpreter import module_command
from schemas.settings import Settings
from warehouse.layout import Layout

POLL_SECONDS = 0.3
LOCK_SECONDS = 3.0
_EXIT_USAGE = 2


def run(layout: Layout, job_id: str) -> None:
    """Evaluate the idea of a job; `exit.json` says how it ended. A file `stop` in its folder interrupts the command in order."""
    folder = jobs_folder(layout) / job_id
    with lock_path(layout).open("a+b") as lock:
        if not _taken(lock):
            _write_exit(folder, JobState.REFUSED, _EXIT_USAGE)
            return
        lock.truncate(0)
        lock.write(job_id.encode())
        lock.flush()
        try:
            code, stopped = _evaluate(folder, layout)
        except ConfigurationError as error:
            (folder / "log.txt").write_text(f"assay: {error}\n", "utf-8")
            code, stopped = _EXIT_USAGE, False
        _write_exit(
            folder,
            JobState.INTERRUPTED if stopped else JobState.DONE if code == 0 else JobState.FAILED,
            code,
        )


def _taken(lock: BinaryIO) -> bool:
    """Whether the lock could be had; readers who look at it hold it for an instant."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)
        else:
            return True


def _evaluate(folder: Path, layout: Layout) -> tuple[int, bool]:
    """The command's exit code, and whether it was asked to stop. `flows.child` ends it should this process be lost.

    Raises:
        ConfigurationError: the request asks for more than is offered.
    """
    request = EvaluateRequest.model_validate_json((folder / "request.json").read_bytes())
    wanted = arguments(
        "evaluate", request, folder / "idea.jsonl", layout.root, Settings().dashboard
    )
    command = module_command("flows.child", str(os.getpid()), "flows", *wanted)
    stopped = False
    with (folder / "result.json").open("wb") as out, (folder / "log.txt").open("wb") as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=log)  # noqa: S603 a list, no shell
        while child.poll() is None:
            if not stopped and (folder / "stop").exists():
                child.send_signal(signal.SIGINT)
                stopped = True
            time.sleep(POLL_SECONDS)
    return child.returncode, stopped


def _write_exit(folder: Path, state: JobState, code: int) -> None:
    building = folder / ".exit.json"
    building.write_bytes(
        orjson.dumps(
            {"state": state.value, "exit_code": code, "finished_at": datetime.now(UTC).isoformat()}
        )
    )
    building.replace(folder / "exit.json")


if __name__ == "__main__":
    run(Layout(Path(sys.argv[1])), sys.argv[2])
