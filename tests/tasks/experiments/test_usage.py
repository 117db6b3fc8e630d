"""What a sandbox holds is read from `/proc`, and what cannot be read is no zero."""

import fcntl
import os
import socket
import struct
import termios
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.works.experiment import Limits
from tasks.experiments import bounds
from tasks.experiments.bounds import SandboxUsage, socket_bytes

LIMITS = Limits(memory_bytes=64 << 20)
STATUS = b"Name:\tpython\nVmPTE:\t    8 kB\nRssAnon:\t    1016 kB\n"


def lay_out(folder: Path) -> None:
    """Make what Linux shows of bubblewrap, number 1, and of its child, number 2."""
    for pid, children in ((1, "2 "), (2, "")):
        task = folder / f"{pid}/task/{pid}"
        task.mkdir(parents=True)
        (task / "children").write_text(children)
        (task / "status").write_bytes(STATUS)
        (task / "maps").write_bytes(b"")


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the process in the sandbox."""
    monkeypatch.setattr(bounds, "_PROC", tmp_path)
    monkeypatch.setattr(bounds, "_MAPPINGS_SECONDS", 3_600.0)  # one count
    lay_out(tmp_path)
    return tmp_path / "2/task/2"


class Looking:
    """Looks, and waits for what is counted beside them."""

    def __init__(self, beside: ThreadPoolExecutor) -> None:
        self.beside = beside
        self.usage = SandboxUsage(LIMITS, None, beside)

    def at_once(self) -> int:
        return self.usage.look(1).memory_bytes

    def counted(self) -> int:
        self.at_once()
        self.beside.submit(int).result()  # one after the other
        return self.at_once()


@pytest.fixture
def looking() -> Iterator[Looking]:
    with ThreadPoolExecutor(1) as beside:
        yield Looking(beside)


def test_figures_of_living_processes_are_added(process: Path, looking: Looking) -> None:
    assert looking.at_once() == 2 << 20
    (process / "status").unlink()
    assert looking.at_once() == 1 << 20


@pytest.mark.parametrize("figure", ["-8", "", "eight", "\u0668", None])
def test_a_status_that_cannot_be_read_counts_as_the_most_a_process_may_hold(
    process: Path, looking: Looking, figure: str | None
) -> None:
    (process / "status").unlink()
    if figure is None:
        (process / "status").mkdir()
    else:
        (process / "status").write_text(f"Name:\tpython\nVmPTE:\t{figure}\n")
    assert looking.at_once() == (1 << 20) + LIMITS.memory_bytes


def test_mappings_that_cannot_be_read_count_as_the_most_there_may_be(
    process: Path, looking: Looking
) -> None:
    """They belong to another user where a program runs a file that it may run and not read."""
    (process / "maps").unlink()
    (process / "maps").mkdir()
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    assert looking.counted() == (2 << 20) + most * (328 + 2 * 64)


@pytest.mark.timeout(120)
def test_a_look_waits_for_no_count_of_mappings(process: Path, looking: Looking) -> None:
    (process / "maps").unlink()
    os.mkfifo(process / "maps")  # who reads it waits for who writes it
    assert looking.at_once() == 2 << 20
    with ThreadPoolExecutor(1) as aside:
        aside.submit((process / "maps").write_bytes, 1000 * b"a mapping\n")
        assert looking.counted() == (2 << 20) + 1000 * (328 + 2 * 64)


def test_mappings_are_counted_up_to_the_bound_on_memory(process: Path, looking: Looking) -> None:
    """A count of more would last longer and end nothing else."""
    enough = LIMITS.memory_bytes // (328 + 2 * 64) + 1
    (process.parents[2] / "1/task/1/maps").write_bytes(enough * b"\n")
    (process / "maps").write_bytes(b"\n")
    assert looking.counted() == (2 << 20) + enough * (328 + 2 * 64)


@pytest.mark.parametrize("small", [1_000, 16_064, 25_978, 100_000])
@pytest.mark.parametrize("large", [48_832, 106_432, 1 << 20])
def test_a_socket_holds_no_more_than_is_counted(small: int, large: int) -> None:
    """The last message may be larger than what is left of the buffer."""
    near, far = socket.socketpair()
    near.setblocking(False)
    with near, far:
        near.send(bytes(small))
        with pytest.raises(BlockingIOError):
            while True:
                near.send(bytes(large))
        (held_bytes,) = struct.unpack("i", fcntl.ioctl(near, termios.TIOCOUTQ, bytes(4)))
    assert 0 < held_bytes <= socket_bytes()
