"""Memory and files that a bubblewrap sandbox holds, as `/proc` shows them from outside.

The system calls that would hide memory are refused, so what is mapped, lies in the scratch folder
or waits in sockets is all of it.
"""

import contextlib
import os
from functools import cache
from pathlib import Path

from schemas.experiment import Limits
from tasks.experiments.control_group import ControlGroup
from tasks.experiments.inside import SCRATCH, Usage

# Pages of the scratch folder that a process maps are counted in the folder, once.
_COUNTED = ("RssAnon:", "RssFile:", "VmSwap:", "VmPTE:")
_BLOCK = os.sysconf("SC_PAGE_SIZE")


def sandbox_usage(pid: int, limits: Limits, group: ControlGroup | None) -> Usage:
    """Return what the sandbox of bubblewrap's process `pid` holds now."""
    first = next(iter(children_of(pid)), None)
    if first is None:  # bubblewrap has made nothing yet, or is gone
        return Usage()
    scratch_bytes, files = _scratch(first, limits)
    if group is not None:
        return Usage(memory_bytes=group.memory_bytes(), files=files)
    return Usage(memory_of_tree(pid) + scratch_bytes + _in_sockets(first), files)


def _scratch(first: int, limits: Limits) -> tuple[int, int]:
    """Bytes and files in the scratch folder of the sandbox's first process."""
    with contextlib.suppress(OSError):
        scratch = os.statvfs(f"/proc/{first}/root{SCRATCH}")
        # Until bubblewrap has mounted its own, the path may lead to a folder of this machine.
        if scratch.f_blocks == -(-limits.scratch_bytes // _BLOCK):
            used_bytes = (scratch.f_blocks - scratch.f_bfree) * scratch.f_bsize
            return used_bytes, scratch.f_files - scratch.f_ffree
    return 0, 0


def _in_sockets(first: int) -> int:
    """What may wait in the sandbox's sockets, in bytes."""
    with contextlib.suppress(OSError):
        sockets = Path(f"/proc/{first}/net/unix").read_bytes().count(b"\n") - 1
        return max(0, sockets) * _socket_bytes()
    return 0


def memory_of_tree(pid: int) -> int:
    """Return the memory of a process and of all below it, in bytes.

    Processes that end meanwhile hold nothing.
    """
    # The first thread may be gone while others still hold the memory.
    own = max((_memory_of(task) for task in _tasks(pid)), default=0)
    return own + sum(map(memory_of_tree, children_of(pid)))


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started, from whichever of its threads."""
    children: list[int] = []
    for task in _tasks(pid):
        with contextlib.suppress(OSError, ValueError):
            children += map(int, (task / "children").read_text().split())
    return children


def _tasks(pid: int) -> list[Path]:
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{pid}/task").iterdir())
    return []


def _memory_of(task: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        lines = (task / "status").read_text().splitlines()
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(_COUNTED))
    return 0


@cache
def _socket_bytes() -> int:
    """What waits in a socket at most, as no program may raise it."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text())
    # A container does not see the setting; this is what Linux begins with.
    return 212_992
