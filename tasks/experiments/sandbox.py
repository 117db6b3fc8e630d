"""A sandbox for programs that nobody vouches for: bubblewrap, or nothing.

A program sees the system and the interpreter read-only, the files it is given, and one scratch
folder of bounded size. It has no network, no environment, no home, no /proc and no device but the
null and random ones; its namespaces are its own. It leaves one file. Whatever it may not exceed ends
it and all its children. Nothing of the host's files is mounted beside the interpreter: what is
given travels through memory.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.experiment import Limits
from schemas.interpreter import interpreter

SCRATCH = "/scratch"
GIVEN = "/given"
_NOBODY = "65534"
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_OURS = ("flows", "tasks", "schemas", "warehouse", "dashboards")
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": SCRATCH,
    "TMPDIR": SCRATCH,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
# The program's own output goes nowhere; the file it leaves is what comes out.
_THEN_THE_FILE = '"$@" >/dev/null; code=$?; head -c "$MOST" "$LEFT" 2>/dev/null; exit $code'
_WATCH_SECONDS = 0.05
_ERRORS_KEPT_BYTES = 4_000
_OPEN_FILES = 256
_TRY_SECONDS = 20.0
_END_SECONDS = 5.0


class Stop(StrEnum):
    """Why a program was ended from outside."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes:
        code: its exit code; None: it was stopped.
        left: the file it left; None: none, or a longer one than is allowed.
        errors: the end of what it wrote to standard error.
        stopped: by which limit it was stopped from outside.
        memory_bytes: most that was seen in use at once.
    """

    code: int | None
    left: bytes | None
    errors: str
    stopped: Stop | None
    wall_seconds: float
    memory_bytes: int


def run_sandboxed(
    arguments: Sequence[str], files: Mapping[str, bytes], leaves: str, limits: Limits
) -> Ended:
    """Run `python ARGUMENTS` in a sandbox and wait for its end; to be called in a thread.

    Args:
        files: what is there to be read, by name, in the folder GIVEN.
        leaves: name of the file in SCRATCH, the folder it starts in, that is taken out.

    Raises:
        ConfigurationError: there is no bubblewrap.
    """
    with contextlib.ExitStack() as stack:
        given = {f"{GIVEN}/{name}": stack.enter_context(_held(files[name])) for name in files}
        command = [*_bubblewrap(given, leaves, limits), *_limited(limits), *interpreter(), "-I"]
        began = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 -- a list, and what it runs is the sandbox
            [*command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=tuple(given.values()),
            env={},
            start_new_session=True,
        )
        try:
            stopped, left, errors, memory_bytes = _watched(process, began, limits)
            code = None if stopped else _code_of(process, began + limits.seconds)
        finally:
            if process.returncode is None:
                _end(process)
    wall_seconds = time.monotonic() - began
    return Ended(
        code=code,
        left=left if stopped is None and 0 < len(left) <= limits.answer_bytes else None,
        errors=errors,
        stopped=stopped,
        wall_seconds=wall_seconds,
        memory_bytes=memory_bytes,
    )


@cache
def check_sandbox() -> None:
    """Have a sandbox made here, once.

    Raises:
        ConfigurationError: it cannot be had on this machine; the message says what to install.
    """
    limits = Limits(seconds=_TRY_SECONDS)
    ended = run_sandboxed(["-c", "open('left', 'w').write('made')"], {}, "left", limits)
    if ended.left != b"made":
        told = ended.errors.strip().splitlines() or ["it said nothing"]
        raise ConfigurationError(
            "bubblewrap cannot make a sandbox on this machine, and programs run in no other way:"
            f" {told[-1]}; allow user namespaces (kernel.unprivileged_userns_clone) or use another"
            " machine"
        )


def _program() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise ConfigurationError(
            "experiments run programs in a sandbox only, and there is none on this machine: install"
            " the package bubblewrap (apt install bubblewrap)"
        )
    return found


def _bubblewrap(given: Mapping[str, int], leaves: str, limits: Limits) -> list[str]:
    """The command up to the one inside; the shell inside takes the file out."""
    command = [
        *(_program(), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"),
        *_rights(),
    ]
    mounted = (*_SYSTEM, *_interpreter_folders())
    around = (folder for path in (*mounted, *_DEVICES, *given) for folder in Path(path).parents)
    for folder in sorted(set(around) - {Path("/")}):
        command += ["--perms", "0755", "--dir", f"{folder}"]
    for path in mounted:
        command += ["--ro-bind-try", path, path]
    for path in _our_folders():
        command += ["--size", "4096", "--perms", "0555", "--tmpfs", path]
    for path in _DEVICES:
        command += ["--dev-bind", path, path]
    for path, descriptor in given.items():
        command += ["--perms", "0444", "--ro-bind-data", f"{descriptor}", path]
    command += ["--size", f"{limits.scratch_bytes}", "--perms", "1777", "--tmpfs", SCRATCH]
    told = {**_ENVIRONMENT, "MOST": f"{limits.answer_bytes + 1}", "LEFT": f"{SCRATCH}/{leaves}"}
    for name, value in told.items():
        command += ["--setenv", name, value]
    command += ["--chdir", SCRATCH, "--remount-ro", "/", "--"]
    if _is_root():
        # Root is counted and limited nowhere, inside a namespace neither: it becomes nobody first.
        command += [
            *("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"),
            *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
            *("unshare", "--user", "--"),
        ]
    return [*command, "sh", "-c", _THEN_THE_FILE, "sh"]


def _rights() -> tuple[str, ...]:
    if not _is_root():
        return ("--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    return ("--cap-drop", "ALL", *(word for name in kept for word in ("--cap-add", name)))


def _limited(limits: Limits) -> list[str]:
    """Set inside, where processes are counted for this sandbox alone."""
    return [
        "prlimit",
        f"--as={limits.memory_bytes}",
        f"--cpu={int(limits.seconds) + 1}",
        f"--fsize={limits.scratch_bytes}",
        f"--nproc={limits.processes}",
        f"--nofile={_OPEN_FILES}",
        "--core=0",
        "--",
    ]


def _is_root() -> bool:
    return os.geteuid() == 0


def _interpreter_folders() -> tuple[str, ...]:
    libraries = sysconfig.get_paths()
    folders = (sys.prefix, sys.base_prefix, libraries["purelib"], libraries["platlib"])
    return tuple(dict.fromkeys(path for path in folders if not path.startswith("/usr/")))


def _our_folders() -> tuple[str, ...]:
    """Where Assay itself is installed among the libraries: bundled tasks hold what is held back."""
    seen = tuple(Path(path).resolve() for path in ("/usr", *_interpreter_folders()))
    found = (find_spec(name) for name in _OURS)
    ours = [Path(spec.origin).parent for spec in found if spec is not None and spec.origin]
    return tuple(f"{path}" for path in ours if set(path.resolve().parents) & set(seen))


@contextlib.contextmanager
def _held(content: bytes) -> Iterator[int]:
    """A file in memory with `content`, as a descriptor."""
    descriptor = os.memfd_create("given")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as writing:
            writing.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _watched(
    process: "subprocess.Popen[bytes]", began: float, limits: Limits
) -> tuple[Stop | None, bytes, str, int]:
    """Read what comes until both ends are closed or a limit is passed."""
    assert process.stdout is not None
    assert process.stderr is not None
    left, errors, memory_bytes = bytearray(), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        for stream, kept in ((process.stdout, left), (process.stderr, errors)):
            selector.register(stream, selectors.EVENT_READ, kept)
        while selector.get_map():
            for key, _ in selector.select(_WATCH_SECONDS):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
            del errors[:-_ERRORS_KEPT_BYTES]
            memory_bytes = max(memory_bytes, _memory_of(process.pid))
            stopped = _passed(time.monotonic() - began, memory_bytes, len(left), limits)
            if stopped is not None:
                break
        else:
            stopped = None
    process.stdout.close()
    process.stderr.close()
    return stopped, bytes(left), errors.decode("utf-8", "replace"), memory_bytes


def _passed(seconds: float, memory_bytes: int, length: int, limits: Limits) -> Stop | None:
    if seconds > limits.seconds:
        return Stop.TIME
    if memory_bytes > limits.memory_bytes:
        return Stop.MEMORY
    # The shell inside takes no more than one byte too many.
    return Stop.OUTPUT if length > limits.answer_bytes + 1 else None


def _memory_of(pid: int) -> int:
    """What a process and all below it hold in memory; those that end meanwhile hold nothing."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") + sum(map(_memory_of, _children(pid)))
    return 0


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _code_of(process: "subprocess.Popen[bytes]", until: float) -> int | None:
    """How it ended; None when it has closed its ends and does not go."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(max(_WATCH_SECONDS, until - time.monotonic()))
    return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the sandbox and wait until nothing in it runs any more.

    Its first process is killed rather than bubblewrap outside, which waits for it: Linux lets the
    first process of a namespace go when it has ended all others.
    """
    for pid in _children(process.pid):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    process.kill()
    process.wait()
