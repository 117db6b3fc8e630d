"""What a hostile program tries, and that it gets nowhere."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.run import preflight
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.experiments import sandbox
from tasks.experiments.sandbox import Stop, check_sandbox
from tests.support.sandboxes import A_WHILE, LIMITS, Place, Said, Tried

A_SECOND = replace(LIMITS, seconds=1)


def survivors(mark: str) -> list[str]:
    """Commands of running processes that contain `mark`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in command:
            found.append(command)
    return found


def test_a_program_reads_what_it_is_given_and_has_libraries_but_no_rights(said: Said) -> None:
    program = """
        import ctypes, numpy
        try:
            import tasks
        except ImportError as error:
            say(open("/given/data").read(), numpy.arange(3).sum(), error)
        system = ctypes.CDLL(None, use_errno=True)
        say(system.mount(b"none", b"/scratch", b"tmpfs", 0, None), os.getuid() == 0)
        say([system.unshare(flag) for flag in (0x10000000, 0x00020000, 0x40000000)])
        say(os.uname().nodename)
    """
    *lines, machine = said(program, data=b"41 + 1").splitlines()
    assert lines == ["41 + 1 3 No module named 'tasks'", "-1 False", "[-1, -1, -1]"]
    assert machine != socket.gethostname()


def test_assay_is_hidden_where_it_is_installed_among_the_libraries(
    place: Place, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bundled tasks hold what is held back. Another package stands for Assay here."""
    if place.container is not None:
        pytest.skip("an image that holds Assay is refused")
    program = """
        import jinja2
        say(hasattr(jinja2, "Template"))
        (folder,) = (path for path in sys.path if os.path.isdir(f"{path}/jinja2"))
        try:
            os.chmod(f"{folder}/jinja2", 0o777)
            os.mkdir(f"{folder}/jinja2/x")
        except OSError:
            say("refused")
    """
    assert said(program) == "True\nrefused"
    monkeypatch.setattr(sandbox, "_OURS", ("jinja2",))
    assert said(program) == "False\nrefused"


def test_neither_keys_nor_homes_nor_files_of_the_host_are_there(
    place: Place, said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://sk-user:sk-password@proxy")
    (tmp_path / "held.json").write_text("labels")
    files, folders = [f"{tmp_path}/held.json"], ["/home", "/root", "/tmp"]
    interpreter = sandbox._interpreter_folders()
    if place.container is None:  # an image has its own of these
        files += ["/proc/self/environ", "/etc/passwd", "/etc/shadow"]
        folders += ["/var", "/sys", "/proc", "/run"]
    program = f"""
        say([value for value in os.environ.values() if "sk-" in value])
        for path in {files!r}:
            say(os.path.exists(path))
        for path in {folders!r}:
            for folder, inner, names in os.walk(path):
                # The interpreter is there wherever it is installed, below /tmp or /root too.
                inner[:] = [name for name in inner if f"{{folder}}/{{name}}" not in {interpreter!r}]
                say(names)
    """
    assert set(said(program).splitlines()) == {"[]", "False"}


def test_nothing_can_be_written_beside_the_scratch_folder(said: Said) -> None:
    program = """
        for path in ("/x", "/usr/x", "/usr/bin/python3", "/given/data", "/given/x", "/dev/x",
                     "/etc/x", "/tmp/x", "/var/tmp/x", "/run/x", os.__file__, sys.executable):
            try:
                open(path, "a").write("x")
                say(path)
            except OSError:
                pass
        say("nothing")
    """
    assert said(program, data=b"1") == "nothing"


def test_a_fork_bomb_comes_to_an_end_and_leaves_no_process(tried: Tried, said: Said) -> None:
    program = """
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    os.execv("/usr/bin/sleep", ["sleep", "A_WHILE"])
                count += 1
        except OSError:
            say(count < 16)
    """
    assert said(program) == "True"
    assert survivors(A_WHILE) == []
    tried("while True: os.fork()", A_SECOND)


def test_a_program_that_fills_its_folder_is_told_that_it_is_full(said: Said) -> None:
    program = """
        import errno
        for number in range(100):
            try:
                open(f"f{number}", "wb").write(bytes(1_000_000))
            except OSError as error:
                for each in range(number + 1):
                    os.remove(f"f{each}")
                say(number < 9, errno.errorcode[error.errno])
                break
    """
    assert said(program) == "True ENOSPC"


def test_a_program_is_ended_when_its_time_is_over_with_all_it_started(tried: Tried) -> None:
    program = """
        import signal, subprocess
        for number in range(1, 32):
            if number not in (9, 19):
                signal.signal(number, signal.SIG_IGN)
        subprocess.Popen(["/usr/bin/sleep", "A_WHILE"], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
        while True:
            pass
    """
    ended = tried(program, A_SECOND)
    assert (ended.stopped, ended.code, ended.left) == (Stop.TIME, None, None)
    assert survivors(A_WHILE) == []


def test_what_a_program_leaves_running_ends_with_it(said: Said) -> None:
    program = """
        import subprocess
        subprocess.Popen(["/usr/bin/sleep", "A_WHILE"], start_new_session=True)
        say("done")
    """
    assert said(program) == "done"
    assert survivors(A_WHILE) == []


def test_memory_is_bounded_for_one_process_and_for_all_together(tried: Tried) -> None:
    """A container ends the process that asks for too much; whether one was is said outside, where
    the control group tells it.
    """
    assert "MemoryError" in tried("bytearray(2_000_000_000)").errors
    several = """
        import time
        for number in range(4):
            if os.fork() == 0:
                held = bytearray(150_000_000)
                held[::4096] = b"x" * len(held[::4096])
                time.sleep(5)
                os._exit(0)
        say(sum(os.wait()[1] == 0 for _ in range(4)) == 4)
    """
    ended = tried(several)
    assert ended.stopped is Stop.MEMORY or ended.left == b"False\n"


def test_what_is_printed_is_no_answer_and_endless_words_are_not_kept(tried: Tried) -> None:
    assert tried("print('{\"error\": 0.0}'); sys.stderr.write('0.0')").left is None
    endless = tried("while True: sys.stderr.write('x' * 10_000)", A_SECOND)
    assert endless.stopped is Stop.TIME
    assert len(endless.errors) <= 4_000


@pytest.mark.parametrize(
    "make",
    [
        "open('left', 'wb').write(bytes(200_000))",
        "os.symlink('/dev/zero', 'left')",
        "os.symlink('/usr/bin/env', 'left')",
        "os.mkdir('left')",
        "os.mkfifo('left')",
    ],
)
def test_an_answer_that_is_too_long_or_no_file_is_none_and_delays_nothing(
    tried: Tried, make: str
) -> None:
    ended = tried(make)
    assert ended.left is None
    assert "200_000" in make or (ended.code, ended.stopped) == (0, None)


def test_services_and_abstract_sockets_of_the_host_cannot_be_reached(said: Said) -> None:
    name = f"\0assay-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local_server,
    ):
        local_server.bind(name)
        local_server.listen()
        program = f"""
            import socket
            def reach(family, address):
                try:
                    with socket.socket(family) as client:
                        client.settimeout(5)
                        client.connect(address)
                    say("reached")
                except OSError:
                    say("not reached")
            reach(socket.AF_INET, ("127.0.0.1", {server.getsockname()[1]}))
            reach(socket.AF_INET, ("192.0.2.1", 80))
            reach(socket.AF_UNIX, {name!r})
        """
        assert said(program).splitlines() == ["not reached"] * 3


def test_the_driver_killed_takes_the_sandbox_with_it(place: Place, tmp_path: Path) -> None:
    """A container ends when its time is over, and bubblewrap at once."""
    container = None if place.container is None else place.container.model_dump()
    program = (
        "from tasks.experiments.sandbox import run_sandboxed\n"
        "from schemas.works.experiment import Container, Limits\n"
        f'code = \'import os; os.execv("/usr/bin/sleep", ["sleep", "{A_WHILE}"])\'\n'
        f"container = {container!r} and Container(**{container!r})\n"
        f"limits = Limits(seconds={60 if container is None else 1})\n"
        "run_sandboxed(['-c', code], {}, limits, container)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment, cwd=tmp_path)
    while not survivors(f"sleep {A_WHILE}") and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    while survivors(f"sleep {A_WHILE}"):
        time.sleep(0.05)


def test_a_bubblewrap_that_can_make_no_sandbox_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no permission to create a namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ConfigurationError, match="no permission to create a namespace") as refused:
        check_sandbox.__wrapped__()
    assert "\n" not in str(refused.value)


def test_the_doctor_says_whether_there_is_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "check_sandbox", lambda _: None)
    told = preflight._sandbox(Settings())
    assert (told.state, "memory" in told.detail) == ("ok", True)

    def missing(_: object) -> None:
        raise ConfigurationError("none: install the package bubblewrap")

    monkeypatch.setattr(sandbox, "check_sandbox", missing)
    told = preflight._sandbox(Settings())
    assert (told.state, told.detail) == ("missing", "none: install the package bubblewrap")
