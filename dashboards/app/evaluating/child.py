"""`python -m dashboards.app.evaluating.child WAREHOUSE JOB`: run one evaluation to its end, alone
in its warehouse.
"""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

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
    """Evaluate the idea of a job; `exit.json` says how it ended.

    A file `stop` in its folder interrupts the command in order.
    """
    folder = jobs_folder(layout) / job_id
    path = lock_path(layout)
    # Readers who look who holds the lock hold it for an instant.
    lock = FileLock(path, LOCK_SECONDS, poll_interval=POLL_SECONDS, fallback_to_soft=False)
    try:
        with lock:
            path.write_text(job_id, "ascii")
            _run_alone(folder, layout)
    except Timeout:
        _write_exit(folder, JobState.REFUSED, _EXIT_USAGE)


def _run_alone(folder: Path, layout: Layout) -> None:
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


def _evaluate(folder: Path, layout: Layout) -> tuple[int, bool]:
    """The command's exit code, and whether it was asked to stop.

    `flows.child` ends it should this process be lost.

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
