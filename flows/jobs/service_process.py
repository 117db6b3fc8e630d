"""A child process that serves requests, with the job runner in this process."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from schemas.interpreter import module_command
from warehouse.warehouse import Warehouse

STOP_SECONDS = 10.0


def run_with_jobs(
    module: Sequence[str],
    environment: Mapping[str, str],
    warehouse: Warehouse,
    *,
    answers_on_stdout: bool = False,
) -> int:
    """Run a module in a child process, and jobs in this one, until the child ends.

    Call it in the main thread. Ctrl-C and SIGTERM stop both and are no failure.

    Args:
        environment: of the child, which needs no API keys: jobs inherit those of this process.

    Returns: the exit code.
    """
    command = module_command("flows.run.child", str(os.getpid()), *module)
    child = subprocess.Popen(  # noqa: S603 our own words
        command, env=environment, stdout=None if answers_on_stdout else subprocess.DEVNULL
    )
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        # Imported while the child starts, since it takes half a second.
        from flows.jobs.runner import run_jobs

        run_jobs(warehouse, is_over=lambda: child.poll() is not None)
    except KeyboardInterrupt:  # a stop is no failure
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        return 0
    return 0 if child.returncode in (0, -signal.SIGTERM) else 1
