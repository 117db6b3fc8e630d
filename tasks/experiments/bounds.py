"""What bounds a sandbox: a control group of Linux around it, where this process may make one, and
what of its memory and files `/proc` shows from outside.

A group counts all memory, the kernel's own too, and lets nothing pass its bound. Only version 2 is
used: a group above this process must be ours to write, as systemd's `Delegate=yes` makes it.

A program can make no system call that would hide memory. What is mapped, lies in the scratch folder
or waits in sockets is counted; what waits in pipes has a bound.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

from schemas.works.experiment import Limits

SCRATCH = "/scratch"
OPEN_FILES = 256


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory and files that a sandbox holds at one moment; 0 where it bounds them itself."""

    memory_bytes: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a sandbox that has ended; `most_bytes` None: how much was used is not known, only
    whether it was too much.
    """

    most_bytes: int | None
    passed: bool


_CONTROLLERS = {"memory", "pids"}
# Bubblewrap, its first process and the shell inside.
_OWN_PROCESSES = 4
_REMOVAL_SECONDS = 5.0
_PREFIX = "assay-sandbox-"
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class ControlGroup:
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
    """Return where control groups of version 2 are mounted, from their root on."""
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


_PROC = Path("/proc")
_BLOCK = os.sysconf("SC_PAGE_SIZE")
# Pages of the scratch folder that a process maps are counted in the folder, once.
_COUNTED = (b"RssAnon:", b"RssFile:", b"VmSwap:", b"VmPTE:")
# What the kernel keeps of a file beside its pages at most: inode, a name of 255 bytes, and index of its pages.
_FILE_BYTES = 4096
# What it keeps of a mapping, and of each process that may share the mapping's pages by `fork`.
_MAPPING_BYTES, _LINK_BYTES = 328, 64
_CHUNK_BYTES = 1 << 16
# A stream takes a message as long as its buffer is not full: one more, of four pages and 32 KiB with its heads.
_MESSAGE_BYTES = 4 * _BLOCK + (32 << 10) + 4096
# How files of a process answer that has ended meanwhile.
_GONE = (FileNotFoundError, ProcessLookupError)
# Counting mappings takes up to a second, so it is done beside the looks, and not for each.
_MAPPINGS_SECONDS = 1.0
# Linux gives a pipe 16 pages, or 2 where the user's pipes have 16,384 already; and it keeps 2 spare
# ones beside those that hold something.
_PIPE_PAGES, _SMALL_PIPE_PAGES, _PIPES_SOFT_PAGES, _SPARE_PAGES = 16, 2, 16_384, 2
# Descriptors that wait in sockets: as many as a process may have, and one message more.
_IN_FLIGHT = OPEN_FILES + 253


def pipe_bytes(limits: Limits) -> int:
    """Return what all pipes of a sandbox hold at most, with Linux's usual settings.

    A pipe is there as long as a descriptor of it is; every thread may have descriptors of its own.
    """
    pipes = limits.processes * OPEN_FILES + _IN_FLIGHT
    large = min(pipes, _PIPES_SOFT_PAGES // _PIPE_PAGES)
    pages = large * _PIPE_PAGES + (pipes - large) * _SMALL_PIPE_PAGES + pipes * _SPARE_PAGES
    return pages * _BLOCK


@dataclass(slots=True)
class SandboxUsage:
    """Usage of a sandbox, from one look at it to the next.

    Attributes:
        beside: counts mappings in a thread of its own.
    """

    limits: Limits
    group: ControlGroup | None
    beside: Executor
    _mapping_bytes: int = field(default=0, init=False)
    _counting: Future[int] | None = field(default=None, init=False)
    _counted_at: float = field(default=float("-inf"), init=False)

    def look(self, pid: int) -> Usage:
        first = next(iter(children_of(pid)), None)
        if first is None:  # bubblewrap has made nothing yet, or is gone
            return Usage()
        scratch_bytes, files = _scratch(first, self.limits)
        if self.group is not None:
            return Usage(memory_bytes=self.group.memory_bytes(), files=files)
        processes = list(_tree(pid))
        mapped_bytes = sum(_memory_of(process, self.limits) for process in processes)
        kept_bytes = scratch_bytes + files * _FILE_BYTES + self._of_mappings(processes)
        return Usage(mapped_bytes + kept_bytes + _in_sockets(first), files)

    def _of_mappings(self, processes: list[int]) -> int:
        """Return what the kernel keeps of mappings, as the newest count that has ended tells."""
        if self._counting is not None and self._counting.done():
            self._mapping_bytes, self._counting = self._counting.result(), None
        if self._counting is None and time.monotonic() - self._counted_at > _MAPPINGS_SECONDS:
            self._counted_at = time.monotonic()
            most_bytes = self.limits.memory_bytes
            self._counting = self.beside.submit(_of_mappings, processes, most_bytes)
        return self._mapping_bytes


def _scratch(first: int, limits: Limits) -> tuple[int, int]:
    with contextlib.suppress(OSError):
        scratch = os.statvfs(f"{_PROC}/{first}/root{SCRATCH}")
        # Until bubblewrap has mounted its own, the path may lead to a folder of this machine.
        if scratch.f_blocks == -(-limits.scratch_bytes // _BLOCK):
            used_bytes = (scratch.f_blocks - scratch.f_bfree) * scratch.f_bsize
            return used_bytes, scratch.f_files - scratch.f_ffree
    return 0, 0


def _in_sockets(first: int) -> int:
    with contextlib.suppress(OSError):
        # A line break in the name of a socket makes them more, never fewer.
        sockets = (_PROC / f"{first}/net/unix").read_bytes().count(b"\n") - 1
        return max(0, sockets) * socket_bytes()
    return 0


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for child in children_of(pid):
        yield from _tree(child)


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started, from whichever of its threads."""
    children: list[int] = []
    for task in _tasks(pid):
        with contextlib.suppress(OSError, ValueError):
            children += map(int, (task / "children").read_text().split())
    return children


def _tasks(pid: int) -> list[Path]:
    with contextlib.suppress(OSError):
        return list((_PROC / f"{pid}/task").iterdir())
    return []


def _memory_of(pid: int, limits: Limits) -> int:
    """Memory of a process in bytes; one that ended meanwhile holds none."""
    # The first thread may be gone while others still hold the memory.
    return max((_memory_of_task(task, limits) for task in _tasks(pid)), default=0)


def _memory_of_task(task: Path, limits: Limits) -> int:
    """Memory as the status tells it; one that tells nothing counts as the most it may be."""
    try:
        # The first line is a name of any bytes but line breaks, which the process gives itself.
        lines = (task / "status").read_bytes().split(b"\n")[1:]
    except _GONE:
        return 0
    except OSError:
        return limits.memory_bytes
    figures = [b"".join(line.split()[1:2]) for line in lines if line.startswith(_COUNTED)]
    if not all(map(bytes.isdigit, figures)):
        return limits.memory_bytes
    return 1024 * sum(map(int, figures))


def _of_mappings(processes: list[int], most_bytes: int) -> int:
    """Return what the kernel keeps of the mappings of all processes, in bytes; more is not counted
    on.
    """
    each_bytes, kept_bytes = _MAPPING_BYTES + _LINK_BYTES * len(processes), 0
    for process in processes:
        kept_bytes += each_bytes * _mappings_of(process)
        if kept_bytes > most_bytes:
            break
    return kept_bytes


def _mappings_of(pid: int) -> int:
    """Return how many mappings a process has, as the first of its threads tells that is still
    there.
    """
    for task in _tasks(pid):
        try:
            count = _lines_of(task / "maps")
        except _GONE:
            continue
        except OSError:  # it runs a file that its user may not read
            return _most_mappings()
        if count:
            return count
    return 0


def _lines_of(path: Path) -> int:
    """Count lines a piece at a time: each may hold a path that the program made long."""
    count = 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_CHUNK_BYTES):
            count += piece.count(b"\n")
    return count


@cache
def _most_mappings() -> int:
    return _setting("vm/max_map_count", 65_530)


@cache
def socket_bytes() -> int:
    """Return what waits in a socket at most; no program may raise it."""
    return _setting("net/core/wmem_default", 212_992) + _MESSAGE_BYTES


def _setting(name: str, usual: int) -> int:
    """A setting of the kernel, or what Linux begins with where a container does not see it."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/sys/{name}").read_text())
    return usual
