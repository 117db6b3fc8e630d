"""Command line, HTTP and MCP services, jobs, and the execution of runs."""

import os
import sys
from pathlib import Path

_PACKAGES = ("dashboards", "schemas", "tasks", "warehouse")


def ignore_namesakes() -> None:
    """Drop folders of PYTHONPATH whose packages have names of ours, here and for child processes.

    `tasks` or `schemas` of a user's project would be imported instead.
    """
    own_root = Path(__file__).resolve().parents[1]
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    namesake_folders = [
        each
        for each in filter(None, entries)
        if Path(each).resolve() != own_root
        and any(
            Path(each, name).is_dir() or Path(each, f"{name}.py").is_file() for name in _PACKAGES
        )
    ]
    if namesake_folders:
        sys.path[:] = [each for each in sys.path if each not in namesake_folders]
        os.environ["PYTHONPATH"] = os.pathsep.join(
            each for each in entries if each not in namesake_folders
        )


ignore_namesakes()
