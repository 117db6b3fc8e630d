"""Bounds of a sandbox: a Linux control group if available, and usage from `/proc`."""

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
    """Current memory and files of a sandbox; 0 if the sandbox bounds them itself."""

    memory_bytes: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a sandbox after its end; `most_bytes` None if unknown."""

    most_bytes: int | None
    exceeded: bool


_CONTROLLERS = {"memory", "pids"}
# Bubblewrap, its first process and the shell inside.
_OWN_PROCESSES = 4
_REMOVAL_SECONDS = 5.0
_PREFIX = "assay-sandbox-"
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A control group, which counts all memory, including the kernel's, and enforces its limits."""

    folder: Path

    def entering(self) -> list[str]:
        """Return the start of a command that enters the group and then runs the rest."""
        script = 'echo $$ >"$1" && shift && exec "$@"'
        return ["sh", "-c", script, "sh", f"{self.folder}/cgroup.procs"]

    def memory_bytes(self) -> int:
        return self._number("memory.current")

    def memory(self) -> Memory:
        """Return the highest memory in use, and whether the limit ended a process."""
        events = _words(self.folder / "memory.events")
        kill_count = dict(zip(events[::2], events[1::2], strict=False)).get("oom_kill", "0")
        return Memory(self._number("memory.peak") or None, exceeded=kill_count != "0")

    def _number(self, name: str) -> int:
        words = _words(self.folder / name)
        return int(words[0]) if words and words[0].isdecimal() else 0


@contextlib.contextmanager
def control_group(limits: Limits) -> Iterator[ControlGroup | None]:
    """Make a control group with the limits, or None if that is impossible here.

    Only version 2 is used: a group above this process must be writable, as with systemd's
    `Delegate=yes`. At the end remaining processes are killed, and the group is removed.
    """
    folders = (_make_group(above, limits) for above in groups_above(Path("/proc/self")))
    folder = next(filter(None, folders), None)
    try:
        yield None if folder is None else ControlGroup(folder)
    finally:
        if folder is not None:
            _remove(folder)


def _make_group(parent_folder: Path, limits: Limits) -> Path | None:
    folder = parent_folder / f"{_PREFIX}{os.getpid()}-{next(_NUMBERS)}"
    try:
        for abandoned_folder in parent_folder.glob(f"{_PREFIX}*"):
            owner = abandoned_folder.name.removeprefix(_PREFIX).partition("-")[0]
            if not Path(f"/proc/{owner}").exists():
                with contextlib.suppress(OSError):
                    abandoned_folder.rmdir()
        folder.mkdir()
        (folder / "memory.max").write_text(f"{limits.memory_bytes}")
        (folder / "pids.max").write_text(f"{limits.processes + _OWN_PROCESSES}")
        # All processes end together, so that none continues with partial work.
        (folder / "memory.oom.group").write_text("1")
        if (folder / "memory.swap.max").exists():  # the kernel counts swap
            (folder / "memory.swap.max").write_text("0")
    except OSError:
        with contextlib.suppress(OSError):
            folder.rmdir()
        return None
    return folder


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


def groups_above(process: Path) -> Iterator[Path]:
    """Yield the groups in which a process may create limited groups, nearest first."""
    mount: Path | None = None
    group: Path | None = None
    with contextlib.suppress(OSError):
        for line in _lines(process / "mountinfo"):
            before, _, after = line.partition(" - ")
            if not mount and after.split(" ")[0] == "cgroup2" and before.split(" ")[3] == "/":
                mount = Path(before.split(" ")[4])
        for line in _lines(process / "cgroup"):
            if not group and line.startswith("0::/") and "/.." not in line:
                group = Path(line.removeprefix("0::"))
    if mount is None or group is None:
        return
    for path in (group, *group.parents):
        folder = mount / path.relative_to("/")
        # Moving a process requires write access to the common parent of both groups.
        if not os.access(folder, os.W_OK) or not os.access(folder / "cgroup.procs", os.W_OK):
            return
        control = folder / "cgroup.subtree_control"
        with contextlib.suppress(OSError):
            if not set(_words(control)) >= _CONTROLLERS:
                control.write_text("+memory +pids")
            if set(_words(control)) >= _CONTROLLERS:
                yield folder


def _lines(path: Path) -> list[str]:
    """Return the lines of a kernel file, in which names may contain any byte."""
    return os.fsdecode(path.read_bytes()).split("\n")


def _words(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text().split()
    return []


# No allowed system call can hide memory: mappings, scratch files and socket buffers are counted,
# and pipes are bounded.
_PROC = Path("/proc")
_BLOCK = os.sysconf("SC_PAGE_SIZE")
# Pages of the scratch folder that a process maps are counted in the folder, once.
_MEMORY_FIELDS = (b"RssAnon:", b"RssFile:", b"VmSwap:", b"VmPTE:")
# Kernel memory per file besides its pages, at most: inode, a name of 255 bytes, page index.
_FILE_BYTES = 4096
# Kernel memory per mapping, and per process that may share its pages by `fork`.
_MAPPING_BYTES, _LINK_BYTES = 328, 64
_CHUNK_BYTES = 1 << 16
# A stream accepts a message while its buffer is not full: one more, four pages and 32 KiB with
# headers.
_MESSAGE_BYTES = 4 * _BLOCK + (32 << 10) + 4096
# Errors on files of a process that has ended.
_GONE = (FileNotFoundError, ProcessLookupError)
# Counting mappings takes up to a second, so it runs in its own thread, not for every look.
_MAPPINGS_SECONDS = 1.0
# Linux gives a pipe 16 pages, or 2 if the user's pipes have 16,384 already, and keeps 2 spare
# pages besides those in use.
_PIPE_PAGES, _SMALL_PIPE_PAGES, _PIPES_SOFT_PAGES, _SPARE_PAGES = 16, 2, 16_384, 2
# Descriptors waiting in sockets: as many as a process may have, plus one message.
_IN_FLIGHT = OPEN_FILES + 253


def pipe_bytes(limits: Limits) -> int:
    """Return the most that all pipes of a sandbox can contain, with Linux's usual settings.

    A pipe exists as long as a descriptor of it; every thread may have its own descriptors.
    """
    pipes = limits.processes * OPEN_FILES + _IN_FLIGHT
    large = min(pipes, _PIPES_SOFT_PAGES // _PIPE_PAGES)
    pages = large * _PIPE_PAGES + (pipes - large) * _SMALL_PIPE_PAGES + pipes * _SPARE_PAGES
    return pages * _BLOCK


@dataclass(slots=True)
class SandboxUsage:
    """Usage of a sandbox, updated at each look.

    Attributes:
        executor: counts mappings in its own thread.
    """

    limits: Limits
    group: ControlGroup | None
    executor: Executor
    _mapping_bytes: int = field(default=0, init=False)
    _counting: Future[int] | None = field(default=None, init=False)
    _counted_at: float = field(default=float("-inf"), init=False)

    def look(self, pid: int) -> Usage:
        first = next(iter(children_of(pid)), None)
        if first is None:  # bubblewrap has not started its child, or has ended
            return Usage()
        scratch_bytes = files = sockets = 0
        with contextlib.suppress(OSError):
            scratch = os.statvfs(f"{_PROC}/{first}/root{SCRATCH}")
            # Until bubblewrap has mounted its own, the path may be a folder of this machine.
            if scratch.f_blocks == -(-self.limits.scratch_bytes // _BLOCK):
                scratch_bytes = (scratch.f_blocks - scratch.f_bfree) * scratch.f_bsize
                files = scratch.f_files - scratch.f_ffree
        if self.group is not None:
            return Usage(memory_bytes=self.group.memory_bytes(), files=files)
        with contextlib.suppress(OSError):
            # Line breaks in socket names increase the count, never reduce it.
            sockets = max(0, (_PROC / f"{first}/net/unix").read_bytes().count(b"\n") - 1)
        processes = list(_tree(pid))
        mapped_bytes = sum(_memory_of(process, self.limits) for process in processes)
        kernel_bytes = files * _FILE_BYTES + self._of_mappings(processes) + sockets * socket_bytes()
        return Usage(mapped_bytes + scratch_bytes + kernel_bytes, files)

    def _of_mappings(self, processes: list[int]) -> int:
        """Return the kernel memory of mappings, by the latest complete count."""
        if self._counting is not None and self._counting.done():
            self._mapping_bytes, self._counting = self._counting.result(), None
        if self._counting is None and time.monotonic() - self._counted_at > _MAPPINGS_SECONDS:
            self._counted_at = time.monotonic()
            most_bytes = self.limits.memory_bytes
            self._counting = self.executor.submit(_of_mappings, processes, most_bytes)
        return self._mapping_bytes


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
    """Return the memory of a process; 0 after its end, the limit if it is unreadable."""
    most_bytes = 0
    for task in _tasks(pid):  # the first thread may have ended while others use the memory
        try:
            # The first line is a name of any bytes but line breaks, which the process gives itself.
            lines = (task / "status").read_bytes().split(b"\n")[1:]
        except _GONE:
            continue
        except OSError:
            return limits.memory_bytes
        figures = [b"".join(line.split()[1:2]) for line in lines if line.startswith(_MEMORY_FIELDS)]
        if not all(map(bytes.isdigit, figures)):
            return limits.memory_bytes
        most_bytes = max(most_bytes, 1024 * sum(map(int, figures)))
    return most_bytes


def _of_mappings(processes: list[int], most_bytes: int) -> int:
    """Return the kernel memory of all mappings in bytes; counting stops above `most_bytes`."""
    each_bytes, kept_bytes = _MAPPING_BYTES + _LINK_BYTES * len(processes), 0
    for process in processes:
        kept_bytes += each_bytes * _mappings_of(process)
        if kept_bytes > most_bytes:
            break
    return kept_bytes


def _mappings_of(pid: int) -> int:
    """Return the mappings of a process, as reported by its first living thread."""
    for task in _tasks(pid):
        lines = 0
        try:
            with (task / "maps").open("rb", buffering=0) as file:
                # In pieces: a line may contain a long path chosen by the program.
                while piece := file.read(_CHUNK_BYTES):
                    lines += piece.count(b"\n")
        except _GONE:
            continue
        except OSError:  # it executes a file that its user may not read
            return _setting("vm/max_map_count", 65_530)
        if lines:
            return lines
    return 0


def socket_bytes() -> int:
    """Return the largest socket buffer; programs cannot raise it."""
    return _setting("net/core/wmem_default", 212_992) + _MESSAGE_BYTES


@cache
def _setting(name: str, usual: int) -> int:
    """Return a kernel setting, or Linux's default if a container hides it."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/sys/{name}").read_text())
    return usual
