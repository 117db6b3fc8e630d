"""Memory and files that a bubblewrap sandbox holds, as `/proc` shows them from outside.

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
from pathlib import Path

from schemas.works.experiment import Limits
from tasks.experiments.sandbox.control_group import ControlGroup
from tasks.experiments.sandbox.inside import OPEN_FILES, SCRATCH, Usage

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
    """What a sandbox holds, from one look at it to the next.

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
        """Return what the sandbox of bubblewrap's process `pid` holds now."""
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
        """What the kernel keeps of mappings, as the newest count that has ended tells."""
        if self._counting is not None and self._counting.done():
            self._mapping_bytes, self._counting = self._counting.result(), None
        if self._counting is None and time.monotonic() - self._counted_at > _MAPPINGS_SECONDS:
            self._counted_at = time.monotonic()
            most_bytes = self.limits.memory_bytes
            self._counting = self.beside.submit(_of_mappings, processes, most_bytes)
        return self._mapping_bytes


def _scratch(first: int, limits: Limits) -> tuple[int, int]:
    """Bytes and files in the scratch folder of the sandbox's first process."""
    with contextlib.suppress(OSError):
        scratch = os.statvfs(f"{_PROC}/{first}/root{SCRATCH}")
        # Until bubblewrap has mounted its own, the path may lead to a folder of this machine.
        if scratch.f_blocks == -(-limits.scratch_bytes // _BLOCK):
            used_bytes = (scratch.f_blocks - scratch.f_bfree) * scratch.f_bsize
            return used_bytes, scratch.f_files - scratch.f_ffree
    return 0, 0


def _in_sockets(first: int) -> int:
    """What may wait in the sandbox's sockets, in bytes."""
    with contextlib.suppress(OSError):
        # A line break in the name of a socket makes them more, never fewer.
        sockets = (_PROC / f"{first}/net/unix").read_bytes().count(b"\n") - 1
        return max(0, sockets) * socket_bytes()
    return 0


def _tree(pid: int) -> Iterator[int]:
    """Yield a process and all below it."""
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
    """What the kernel keeps of the mappings of all processes, in bytes; more is not counted on."""
    each_bytes, kept_bytes = _MAPPING_BYTES + _LINK_BYTES * len(processes), 0
    for process in processes:
        kept_bytes += each_bytes * _mappings_of(process)
        if kept_bytes > most_bytes:
            break
    return kept_bytes


def _mappings_of(pid: int) -> int:
    """How many mappings a process has, as the first of its threads tells that is still there."""
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
