"""System calls that a sandboxed program cannot make, and what it still can."""

import os
import platform
import textwrap

import pytest

from schemas.base import replace
from tasks.experiments import system_calls
from tests.support.sandboxes import LIMITS, Place, Said

CALL = """
import ctypes, errno, platform
system = ctypes.CDLL(None, use_errno=True)
def call(name, x86_64, aarch64, *arguments):
    ctypes.set_errno(0)
    number = {"x86_64": x86_64, "aarch64": aarch64}[platform.machine()]
    result = system.syscall(number, *arguments)
    if result != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        say(name, result, ctypes.get_errno())
"""
KEEPING = """
# Filters that stay until a process ends.
call("prctl with PR_SET_SECCOMP", 157, 167, 22, 2, 0, 0, 0)
call("setsockopt with SO_ATTACH_FILTER", 54, 208, 0, 1, 26, bytes(16), 16)
call("setsockopt with SO_ATTACH_BPF", 54, 208, 0, 1, 50, bytes(4), 4)
# Options of a process.
call("PR_SET_DUMPABLE", 157, 167, 4, 0, 0, 0, 0)
call("PR_SET_MM", 157, 167, 35, 1, 0, 0, 0)
call("PR_SET_CHILD_SUBREAPER", 157, 167, 36, 1, 0, 0, 0)
call("PR_SET_SYSCALL_USER_DISPATCH", 157, 167, 59, 1, 0, 0, 0)
call("PR_SET_MEMORY_MERGE", 157, 167, 67, 1, 0, 0, 0)
call("PR_FUTEX_HASH", 157, 167, 78, 1, 1 << 16, 0, 0)
call("PR_SET_PTRACER", 157, 167, 0x59616D61, -1, 0, 0, 0)
call("PR_SET_VMA", 157, 167, 0x53564D41, 0, 0, 4096, b"name")
# Commands about files.
call("fcntl with F_SETPIPE_SZ", 72, 25, os.pipe()[0], 1031, 1 << 20)
call("fcntl with F_SETOWN", 72, 25, 0, 8, os.getpid())
# Namespaces.
for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
    call("clone", 56, 220, flag | 17, 0, 0, 0, 0)
say("refused")
"""
"""Calls that are listed, with arguments that are not."""


def test_arguments_that_make_the_kernel_keep_or_change_something_are_refused(said: Said) -> None:
    assert said(CALL + KEEPING) == "refused"


def test_every_call_that_is_not_listed_is_refused(said: Said) -> None:
    listed = dict(system_calls._ALLOWED)
    if os.geteuid() == 0:
        listed |= system_calls._BECOMING_NOBODY
    numbers = [sorted(column) for column in zip(*listed.values(), strict=True)]
    # Linux lets 335 and 336 (uretprobe, uprobe) pass every filter, and ends who calls them.
    program = f"""
        column = ["x86_64", "aarch64"].index(platform.machine())
        for number in set(range(451)) - {{335, 336}} - set({numbers!r}[column]):
            call(str(number), number, number, 0, 0, 0, 0, 0, 0)
        say("refused")
    """
    assert said(CALL + textwrap.dedent(program)) == "refused"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is that of x86_64")
@pytest.mark.parametrize("code", ["b8 14 00 00 00 cd 80", "b8 27 00 00 40 0f 05"])
def test_a_call_by_the_numbers_of_another_architecture_ends_who_makes_it(
    said: Said, code: str
) -> None:
    """The number of `getpid` on i386, by its interrupt, and on x32."""
    program = f"""
        import mmap, signal
        child = os.fork()
        if child == 0:
            memory = mmap.mmap(-1, 4096, flags=0x22, prot=7)
            memory.write(bytes.fromhex({code!r} + "c3"))
            address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            ctypes.CFUNCTYPE(ctypes.c_int)(address)()
            os._exit(0)
        say(os.waitpid(child, 0)[1] & 0x7F == signal.SIGSYS)
    """
    assert said(CALL + textwrap.dedent(program)) == "True"


def test_system_calls_newer_than_the_list_are_absent(place: Place, said: Said) -> None:
    if place.container is not None:
        pytest.skip("a container's profile has names, not numbers")
    program = """
        for number in range(451, 600):
            call("newer", number, number, 0, 0, 0)
        say("absent")
    """
    assert said(CALL + textwrap.dedent(program)) == "absent"


def test_sockets_are_local_alone_and_record_locks_leases_and_notices_refused(said: Said) -> None:
    """Neither IP nor netlink, packets, the kernel's ciphers or the host of a virtual machine."""
    program = """
        import fcntl, socket
        for family in range(2, 46):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW,
                         socket.SOCK_SEQPACKET):
                try:
                    socket.socket(family, kind)
                    say(family, kind)
                except OSError:
                    pass
        lock = fcntl.F_WRLCK.to_bytes(2, sys.byteorder) + bytes(30)
        commands = [(name, lock) for name in ("F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW")]
        with open("file", "w") as file:
            for name, value in (*commands, ("F_SETLEASE", fcntl.F_WRLCK), ("F_NOTIFY", 1)):
                try:
                    fcntl.fcntl(file, getattr(fcntl, name), value)
                    say(name)
                except PermissionError:
                    pass
            fcntl.flock(file, fcntl.LOCK_EX)
        near, far = socket.socketpair()
        near.send(b"local")
        say(far.recv(5))
    """
    assert said(program) == "b'local'"


COMMANDS = (
    "echo b > b && echo a >> b && cp -p b c && mv c d && install -m 755 d e && ln -s b s"
    " && sort b | head -n 1 && tar cf t b && tar xf t && touch b && ls -l > /dev/null"
    " && mkfifo f && grep -c a b && find . -name d && rm e && timeout 60 true && date > g"
)
POSSIBLE = {
    "asyncio without epoll": (
        """
        import asyncio, select, selectors
        try:
            select.epoll()
        except OSError as error:
            say(error.strerror)
        say(selectors.DefaultSelector.__name__)
        async def double():
            child = await asyncio.create_subprocess_exec("echo", "child", stdout=-1)
            await asyncio.sleep(0)
            return (await child.communicate())[0]
        say(asyncio.run(double()))
        """,
        ["Function not implemented", "PollSelector", "b'child\\n'"],
    ),
    "SQLite in memory, and without locks on scratch": (
        """
        import sqlite3
        def rows(name):
            database = sqlite3.connect(name, uri=True)
            database.execute("create table numbers (number)")
            database.execute("insert into numbers values (1)")
            database.commit()
            return database.execute("select * from numbers").fetchall()
        say(rows(":memory:"), rows("file:free.db?nolock=1"))
        try:
            rows("file:locked.db")
        except sqlite3.OperationalError as error:
            say(error)
        """,
        ["[(1,)] [(1,)]", "access permission denied"],
    ),
    "a connection that travels between processes": (
        """
        import multiprocessing
        def child(end):
            end.recv().send("heard")
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=child, args=(there,))
        process.start()
        near, far = multiprocessing.Pipe()
        here.send(far)
        say(near.recv())
        process.join()
        """,
        ["heard"],
    ),
    "copies of files with attributes, and folders": (
        """
        import shutil
        os.makedirs("from/inner")
        with open("from/inner/file", "w") as file:
            file.write("text")
        shutil.copytree("from", "to")
        shutil.copy2("/usr/bin/env", "env")
        shutil.make_archive("packed", "gztar", "from")
        say(open("to/inner/file").read(), os.access("env", os.X_OK))
        """,
        ["text True"],
    ),
    "commands of a shell": (
        f"""
        import subprocess
        done = subprocess.run(["sh", "-c", {COMMANDS!r}], capture_output=True, text=True)
        say(done.returncode, done.stdout.split(), repr(done.stderr))
        """,
        ["0 ['a', '1', './d'] ''"],
    ),
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_programs_usually_do_is_possible(said: Said, name: str) -> None:
    program, lines = POSSIBLE[name]
    assert said(program).splitlines() == lines


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_threads_locks_and_shared_memory_work(said: Said, method: str) -> None:
    program = f"""
        import multiprocessing, subprocess, threading
        from multiprocessing.shared_memory import SharedMemory
        import numpy
        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                say(pool.map(abs, [-1, -2]))
            shared = SharedMemory(create=True, size=80)
            array = numpy.ndarray(10, buffer=shared.buf)
            array[:] = 1
            say(int(array.sum()), multiprocessing.Value("i", 3).value)
            del array
            shared.close()
            shared.unlink()
            thread = threading.Thread(target=lambda: say("thread"))
            thread.start()
            thread.join()
            say(subprocess.run(["echo", "child"], stdout=subprocess.PIPE).stdout)
    """
    assert said(program).splitlines() == ["[1, 2]", "10 3", "thread", "b'child\\n'"]


def test_numeric_libraries_compute_with_threads_of_their_own(place: Place, said: Said) -> None:
    if place.container is not None:
        pytest.skip("not every image has scikit-learn")
    program = """
        import numpy
        from joblib import Parallel, delayed
        from scipy import linalg, optimize
        from sklearn.cluster import KMeans
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression
        points = numpy.random.default_rng(0).normal(size=(200, 4))
        labels = (points[:, 0] > 0).astype(int)
        for model in (HistGradientBoostingClassifier(max_iter=5), LogisticRegression()):
            assert model.fit(points, labels).score(points, labels) > 0.9
        KMeans(2, n_init=1).fit(points)
        linalg.eigh(points.T @ points)
        assert optimize.minimize(lambda at: (at**2).sum(), numpy.ones(3)).success
        numpy.save("saved.npy", points)
        say(numpy.load("saved.npy", mmap_mode="r").shape)
        # Models that ask for several workers are fitted in one.
        say(Parallel(n_jobs=2)(delayed(abs)(number) for number in (-1, -2)))
    """
    # With fewer addresses OpenBLAS waits for its buffers until the time is over.
    limits = replace(LIMITS, memory_bytes=1 << 30)
    assert said(program, limits).splitlines() == ["(200, 4)", "[1, 2]"]
