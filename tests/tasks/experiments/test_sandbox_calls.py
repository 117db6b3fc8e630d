"""System calls that a sandboxed program cannot make, and what it still can."""

import textwrap

import pytest

from tests.support.sandboxes import Place, Said

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


def test_keys_of_the_session_cannot_be_read(said: Said) -> None:
    program = """
        call("add_key", 248, 217, b"user", b"name", b"secret", 6, -3)
        call("request_key", 249, 218, b"user", b"name", None, -3)
        call("keyctl", 250, 219, 10, -3, b"user", b"name", 0)
        say("refused")
    """
    assert said(CALL + textwrap.dedent(program)) == "refused"


def test_neither_other_processes_nor_the_kernel_can_be_reached(said: Said) -> None:
    program = """
        call("ptrace", 101, 117, 0, 0, 0, 0)
        call("process_vm_readv", 310, 270, os.getppid(), 0, 0, 0, 0, 0)
        call("pidfd_getfd", 438, 438, 0, 0, 0)
        call("bpf", 321, 280, 5, 0, 0)
        call("perf_event_open", 298, 241, 0, 0, 0, 0, 0)
        call("userfaultfd", 323, 282, 1)
        call("io_uring_setup", 425, 425, 1, 0)
        call("open_by_handle_at", 304, 265, 0, 0, 0)
        call("syslog", 103, 116, 10, 0, 0)
        call("personality", 135, 92, 0xFFFFFFFF)
        call("clone3", 435, 435, 0, 0)
        say("refused")
    """
    assert said(CALL + textwrap.dedent(program)) == "refused"


def test_system_calls_newer_than_the_list_are_absent(place: Place, said: Said) -> None:
    if place.container is not None:
        pytest.skip("a container's profile has names, not numbers")
    program = """
        for number in range(451, 600):
            call("newer", number, number, 0, 0, 0)
        say("absent")
    """
    assert said(CALL + textwrap.dedent(program)) == "absent"


def test_no_namespace_can_be_made_by_clone(said: Said) -> None:
    program = """
        for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000,
                     0x40000000):
            call("clone", 56, 220, flag | 17, 0, 0, 0, 0)
        say("refused")
    """
    assert said(CALL + textwrap.dedent(program)) == "refused"


def test_sockets_are_local_alone(said: Said) -> None:
    """Neither IP nor netlink, packets, the kernel's ciphers or the host of a virtual machine."""
    program = """
        import socket
        for family in range(2, 46):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW,
                         socket.SOCK_SEQPACKET):
                try:
                    socket.socket(family, kind)
                    say(family, kind)
                except OSError:
                    pass
        near, far = socket.socketpair()
        near.send(b"local")
        say(far.recv(5))
    """
    assert said(program) == "b'local'"


@pytest.mark.parametrize("method", ["fork", "spawn"])
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


def test_epoll_is_absent_and_asyncio_runs_without_it(said: Said) -> None:
    program = """
        import asyncio, select, selectors
        call("epoll_create1", 291, 20, 0)
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
    """
    lines = said(CALL + textwrap.dedent(program)).splitlines()
    assert lines == ["Function not implemented", "PollSelector", "b'child\\n'"]


def test_record_locks_leases_and_notices_are_refused(said: Said) -> None:
    program = """
        import fcntl
        with open("file", "w") as file:
            for name in ("F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW"):
                try:
                    lock = fcntl.F_WRLCK.to_bytes(2, sys.byteorder) + bytes(30)
                    fcntl.fcntl(file, getattr(fcntl, name), lock)
                    say(name)
                except PermissionError:
                    pass
            for name, value in (("F_SETLEASE", fcntl.F_WRLCK), ("F_NOTIFY", 1)):
                try:
                    fcntl.fcntl(file, getattr(fcntl, name), value)
                    say(name)
                except PermissionError:
                    pass
            fcntl.flock(file, fcntl.LOCK_EX)
        say("refused")
    """
    assert said(program) == "refused"


def test_sqlite_runs_in_memory_and_without_locks_on_scratch(said: Said) -> None:
    program = """
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
    """
    assert said(program).splitlines() == ["[(1,)] [(1,)]", "access permission denied"]


def test_models_that_ask_for_several_workers_are_fitted_in_one(place: Place, said: Said) -> None:
    if place.container is not None:
        pytest.skip("not every image has scikit-learn")
    program = """
        from joblib import Parallel, delayed
        say(Parallel(n_jobs=2)(delayed(abs)(number) for number in (-1, -2)))
    """
    assert said(program) == "[1, 2]"
