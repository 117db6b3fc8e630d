"""A control group of Linux around a sandbox, where this process may make one.

It counts all memory, the kernel's own too, and lets nothing pass its bound. Only version 2 is used:
a group above this process must be ours to write, as systemd's `Delegate=yes` makes it.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from schemas.works.experiment import Limits
from tasks.experiments.sandbox.inside import Memory

_CONTROLLERS = {"memory", "pids"}
# Bubblewrap, its first process and the shell inside.
_OWN_PROCESSES = 4
_REMOVAL_SECONDS = 5.0
_PREFIX = "assay-sandbox-"
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A group of one sandbox, by its folder."""

    folder: Path

    def entering(self) -> list[str]:
        """Return the start of a command that enters the group and then runs the rest."""
        script = 'echo $$ >"$1" && shift && exec "$@"'
        return ["sh", "-c", script, "sh", f"{self.folder}/cgroup.procs"]

    def memory_bytes(self) -> int:
        return _number(self.folder / "memory.current")

    def memory(self) -> Memory:
        """Return the most memory in use, and whether something was ended for want of it."""
        events = _words(self.folder / "memory.events")
        killed = dict(zip(events[::2], events[1::2], strict=False)).get("oom_kill", "0")
        most_bytes = _number(self.folder / "memory.peak")
        return Memory(most_bytes=most_bytes or None, passed=killed != "0")


@contextlib.contextmanager
def control_group(limits: Limits) -> Iterator[ControlGroup | None]:
    """Make a control group with the limits and remove it at the end; None: none can be made here.

    Whatever still runs in it at the end is killed.
    """
    group = _made(limits)
    try:
        yield group
    finally:
        if group is not None:
            _remove(group.folder)


def _made(limits: Limits) -> ControlGroup | None:
    for above in groups_above(Path("/proc/self")):
        folder = above / f"{_PREFIX}{os.getpid()}-{next(_NUMBERS)}"
        try:
            _remove_abandoned(above)
            folder.mkdir()
            _limit(folder, limits)
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        return ControlGroup(folder)
    return None


def _limit(folder: Path, limits: Limits) -> None:
    (folder / "memory.max").write_text(f"{limits.memory_bytes}")
    (folder / "pids.max").write_text(f"{limits.processes + _OWN_PROCESSES}")
    # All end together, so that none goes on with a part of the work.
    (folder / "memory.oom.group").write_text("1")
    if (folder / "memory.swap.max").exists():  # the kernel counts swap
        (folder / "memory.swap.max").write_text("0")


def groups_above(process: Path) -> Iterator[Path]:
    """Yield the groups in which a process may make others with bounds, the nearest first."""
    mount, own = _mount_of(process), _group_of(process)
    if mount is None or own is None:
        return
    for path in (own, *own.parents):
        folder = mount / path.relative_to("/")
        # To move a process, one has to write where the paths of both groups meet.
        if not os.access(folder, os.W_OK) or not os.access(folder / "cgroup.procs", os.W_OK):
            return
        control = folder / "cgroup.subtree_control"
        with contextlib.suppress(OSError):
            if not set(_words(control)) >= _CONTROLLERS:
                control.write_text("+memory +pids")
            if set(_words(control)) >= _CONTROLLERS:
                yield folder


def _mount_of(process: Path) -> Path | None:
    """Where control groups of version 2 are mounted, from their root on."""
    with contextlib.suppress(OSError):
        for line in _lines(process / "mountinfo"):
            before, _, after = line.partition(" - ")
            if after.split(" ")[0] == "cgroup2" and before.split(" ")[3] == "/":
                return Path(before.split(" ")[4])
    return None


def _group_of(process: Path) -> Path | None:
    with contextlib.suppress(OSError):
        for line in _lines(process / "cgroup"):
            if line.startswith("0::/") and "/.." not in line:
                return Path(line.removeprefix("0::"))
    return None


def _lines(path: Path) -> list[str]:
    """Lines of a file of the kernel, in which other people's names may hold any other byte."""
    return os.fsdecode(path.read_bytes()).split("\n")


def _remove_abandoned(above: Path) -> None:
    """Remove the empty groups of commands that were killed."""
    for folder in above.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
    until = time.monotonic() + _REMOVAL_SECONDS
    while time.monotonic() < until:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _number(path: Path) -> int:
    words = _words(path)
    return int(words[0]) if words and words[0].isdecimal() else 0
