"""Command line, HTTP and MCP services, jobs, and the execution of runs."""

import os
import sys
from pathlib import Path

_PACKAGES = ("dashboards", "schemas", "tasks", "warehouse")


def ignore_namesakes() -> None:
    """Drop folders of PYTHONPATH whose packages have names of ours, here and for child processes.

    `tasks` or `schemas` of a user's project would be imported instead. Empty and relative entries
    are dropped too: they mean the current folder, or lie in it.
    """
    value = os.environ.get("PYTHONPATH", "")
    if not value:
        return
    own_root = Path(__file__).resolve().parents[1]
    entries = value.split(os.pathsep)
    ignored_entries = [
        each
        for each in entries
        if Path(each).resolve() != own_root
        and (
            not Path(each).is_absolute()
            or any(
                Path(each, name).is_dir() or Path(each, f"{name}.py").is_file()
                for name in _PACKAGES
            )
        )
    ]
    if ignored_entries:
        # Python has made the entries of `sys.path` absolute.
        folders = {Path(each).resolve() for each in ignored_entries}
        sys.path[:] = [each for each in sys.path if Path(each).resolve() not in folders]
        os.environ["PYTHONPATH"] = os.pathsep.join(
            each for each in entries if each not in ignored_entries
        )


ignore_namesakes()
