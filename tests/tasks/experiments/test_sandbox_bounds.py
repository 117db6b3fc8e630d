"""Bounds on memory and files hold for every kind of memory and from every process."""

import math
import re
import textwrap
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.works.experiment import Limits
from tasks.experiments import bounds
from tasks.experiments.bounds import pipe_bytes
from tasks.experiments.sandbox import Stop
from tests.support.sandboxes import LIMITS, Place, Said, Tried

BOUNDED = replace(LIMITS, memory_bytes=256 << 20, scratch_bytes=4 << 20)
FILES_BOUNDED = replace(BOUNDED, memory_bytes=96 << 20)
"""A container counts what empty files take of the kernel's memory; bubblewrap counts files."""
FILL = """
    import ctypes, fcntl, mmap, socket, threading, time
    MB = 1 << 20
    system = ctypes.CDLL(None, use_errno=True)
    def fill(size=100 * MB):
        held = bytearray(size)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(5)
        os._exit(0)
    def in_children(count, what):
        children = [os.fork() or what() or os._exit(0) for _ in range(count)]
        return [os.waitpid(child, 0)[1] for child in children]
"""
HELD_IN_SECRET = {
    "by children of another thread": """
        thread = threading.Thread(target=lambda: say("all", in_children(4, fill)))
        thread.start()
        thread.join()
    """,
    "by a thread that outlives the first one": """
        def later():
            time.sleep(0.3)
            fill()
        def first_ends():
            threading.Thread(target=later).start()
            system.pthread_exit(None)
        say("all", in_children(4, first_ends))
    """,
    "under a name that is no text": """
        def unnamed():
            system.prctl(15, bytes([255]), 0, 0, 0)
            fill()
        say("all", in_children(4, unnamed))
    """,
    "under a name that looks like a line of figures": """
        def forged():
            system.prctl(15, bytes([12]) + b"VmPTE: -999999", 0, 0, 0)
            fill()
        say("all", in_children(4, forged))
    """,
    "in buffers of sockets": """
        def buffers():
            held = []
            for _ in range(150):
                near, far = socket.socketpair()
                near.setblocking(False)
                held.append(far)
                try:
                    while True:
                        near.send(bytes(4096))
                except BlockingIOError:
                    pass
            time.sleep(5)
        say("all", in_children(10, buffers))
    """,
}
HELD_IN_SECRET_OUTSIDE = {
    "in mappings that every descendant links to": """
        map_, advise = system.mmap, system.madvise
        map_.restype = ctypes.c_void_p
        for number in range(50_000):
            page = map_(None, 4096, 7 if number % 2 else 3, 0x22, -1, 0)
            ctypes.memset(page, 1, 1)
            advise(ctypes.c_void_p(page), 4096, 4)
        while os.fork() == 0:
            pass
        time.sleep(10)
        say("all")
    """,
    "in names of files": """
        for number in range(16_000):
            os.close(os.open(f"{number:0250}", os.O_CREAT | os.O_WRONLY))
        time.sleep(10)
        say("all")
    """,
}
REFUSED_MEMORY = {
    "in memory of no process": "os.memfd_create('name')",
    "shared and dropped": "mmap.mmap(-1, MB)",
    "shared by the name of a device": """
        with open("/dev/zero", "r+b") as zero:
            mmap.mmap(zero.fileno(), MB)
    """,
    "in segments of System V": "called(system.shmget(0, MB, 0o1600))",
    "in semaphores of System V": "called(system.semget(0, 32_000, 0o1600))",
    "in messages of System V": "called(system.msgget(0, 0o1600))",
    "in huge pages": "mmap.mmap(-1, 2 * MB, flags=0x40022)",
    "in datagrams whose sender is gone": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "in packets larger than a buffer": "socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)",
    "in pipes that were made larger": "fcntl.fcntl(os.pipe()[1], 1031, MB)",
    "in filters of sockets": "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, 26, bytes(16))",
    "in attributes of files": "os.setxattr('/scratch', 'user.name', bytes(1000))",
    "in buffers that were made larger": """
        socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MB)
    """,
    "in watches of files": "called(system.inotify_init1(0))",
    "in pages given to a pipe": "called(system.vmsplice(os.pipe()[1], None, 0, 0))",
}


@pytest.mark.parametrize("held", HELD_IN_SECRET.values(), ids=HELD_IN_SECRET)
def test_memory_is_counted_wherever_it_is_held(tried: Tried, held: str) -> None:
    ended = tried(textwrap.dedent(FILL) + textwrap.dedent(held), BOUNDED)
    assert (ended.stopped, ended.left) == (Stop.MEMORY, None), ended.errors


@pytest.mark.parametrize("held", HELD_IN_SECRET_OUTSIDE.values(), ids=HELD_IN_SECRET_OUTSIDE)
def test_what_the_kernel_keeps_of_mappings_and_files_is_counted(
    place: Place, tried: Tried, held: str
) -> None:
    if place.container is not None:
        pytest.skip("a control group counts what it is, and not the most it may be")
    limits = replace(BOUNDED, memory_bytes=64 << 20, scratch_bytes=64 << 20)
    if "fork" in held:
        limits = replace(BOUNDED, memory_bytes=320 << 20)
    ended = tried(textwrap.dedent(FILL) + textwrap.dedent(held), limits)
    assert (ended.stopped, ended.left) == (Stop.MEMORY, None), ended.errors


@pytest.mark.skipif(
    Path("/proc/sys/fs/pipe-user-pages-soft").read_text().strip() != "16384",
    reason="pipes have another bound on this machine",
)
def test_pipes_hold_no_more_than_is_said(tried: Tried) -> None:
    """Every process fills as many as it may open, and lets the ends go that it needs no more."""
    program = """
        def pipes():
            total = 0
            try:
                while True:
                    reading, writing = os.pipe2(os.O_NONBLOCK)
                    try:
                        while True:
                            total += os.write(writing, bytes(4096))
                    except BlockingIOError:
                        os.close(writing)
            except OSError:
                say(total)
            time.sleep(5)
            os._exit(0)
        count = 0
        try:
            while True:
                os.fork() or pipes()
                count += 1
        except OSError:
            for _ in range(count):
                os.wait()
    """
    ended = tried(textwrap.dedent(FILL) + textwrap.dedent(program), LIMITS)
    assert ended.left is not None, ended.errors
    held = [int(line) for line in ended.left.split()]
    assert 0 < sum(held) <= pipe_bytes(LIMITS)


def test_the_bound_on_pipes_is_the_one_that_is_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_BLOCK", 4096)
    text = " ".join(Path("docs/guides/experiments.md").read_text("utf-8").split())
    found = re.search(r"pipes: (\d+) MB at most with the default limits", text)
    assert found is not None
    assert int(found[1]) == math.ceil(pipe_bytes(Limits()) / 1_000_000)
    monkeypatch.setattr(bounds, "_PIPES_SOFT_PAGES", 1 << 40)
    found = re.search(r"where that setting is 0, they hold up to (\d+) MB", text)
    assert found is not None
    assert int(found[1]) == math.ceil(pipe_bytes(Limits()) / 1_000_000)


def test_memory_that_nothing_could_count_is_refused(place: Place, said: Said) -> None:
    program = """
        def called(result):
            if result == -1:
                raise OSError(ctypes.get_errno(), "refused")
    """
    refused = {
        name: source
        for name, source in REFUSED_MEMORY.items()
        if place.container is None or "/dev/zero" not in source  # a control group counts it
    }
    attempts = "".join(
        f"""
try:
{textwrap.indent(textwrap.dedent(source).strip(), "    ")}
    say("allowed", {name!r})
except OSError as error:
    pass
"""
        for name, source in refused.items()
    )
    whole = f"{textwrap.dedent(FILL)}{textwrap.dedent(program)}{attempts}\nsay('the end')"
    assert said(whole) == "the end"


NAMES = {
    "empty files": """
        for number in range(200_000):
            os.close(os.open(f"f{number}", os.O_CREAT | os.O_WRONLY))
    """,
    "nested folders": """
        for number in range(200_000):
            os.mkdir("d")
            os.chdir("d")
    """,
    "links": """
        open("name0", "w").close()
        for number in range(200_000):
            os.link("name0", f"name{number + 1}")
    """,
    "marks that a name is gone": """
        rename = ctypes.CDLL(None).renameat2
        open("name0", "w").close()
        for number in range(200_000):
            assert rename(-100, b"name%d" % number, -100, b"name%d" % (number + 1), 4) == 0
    """,
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_are_bounded_whether_they_hold_a_file_of_their_own_or_not(
    place: Place, tried: Tried, names: str
) -> None:
    own_files = "link" not in names and "rename" not in names
    if place.container is not None and not own_files:
        pytest.skip("a control group counts their memory")
    program = f"import ctypes\n{textwrap.dedent(names)}\nsay('all')"
    ended = tried(program, FILES_BOUNDED)
    reason = Stop.FILES if place.container is None else Stop.MEMORY
    assert (ended.stopped, ended.left) == (reason, None), ended.errors
