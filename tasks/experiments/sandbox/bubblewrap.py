"""Bubblewrap as the sandbox: the system and the interpreter read-only, and nothing else of the
machine.
"""

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.interpreter import interpreter
from schemas.works.experiment import Limits
from tasks.experiments.sandbox.control_group import control_group
from tasks.experiments.sandbox.inside import (
    GIVEN,
    NOBODY,
    OPEN_FILES,
    SCRATCH,
    THEN_THE_FILE,
    Walled,
    told_inside,
)
from tasks.experiments.sandbox.system_calls import filter_program, has_filter
from tasks.experiments.sandbox.usage import SandboxUsage, children_of

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache")
# No /dev/zero: a shared mapping of it is memory that outlives its mapping, and no call to refuse.
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_OURS = ("flows", "tasks", "schemas", "warehouse", "dashboards")
_SCRIPT = f"{THEN_THE_FILE}; exit $code"
_END_SECONDS = 5.0


@contextlib.contextmanager
def in_bubblewrap(
    arguments: Sequence[str], files: Mapping[str, bytes], leaves: str, limits: Limits
) -> Iterator[Walled]:
    """`python ARGUMENTS` in bubblewrap; as `run_sandboxed`.

    Raises:
        ConfigurationError: it is not installed, or no list of system calls fits this machine.
    """
    with contextlib.ExitStack() as stack:
        given = {f"{GIVEN}/{name}": stack.enter_context(_held(files[name])) for name in files}
        calls = stack.enter_context(_held(_filter()))
        group = stack.enter_context(control_group(limits))
        beside = stack.enter_context(ThreadPoolExecutor(1))
        command = [
            *(group.entering() if group is not None else ()),
            *_command(given, calls, leaves, limits),
            *_limited(limits),
            *(*interpreter(), "-I", *arguments),
        ]
        yield Walled(
            command=command,
            environment={},
            descriptors=(*given.values(), calls),
            usage_of=SandboxUsage(limits, group, beside).look,
            end=_end,
            told=lambda errors: (errors, None if group is None else group.memory()),
        )


def _program() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise ConfigurationError(
            "experiments run programs in a sandbox only, and there is none on this machine: install"
            " the package bubblewrap (apt install bubblewrap)"
        )
    return found


def _filter() -> bytes:
    machine = platform.machine()
    if not has_filter(machine):
        raise ConfigurationError(
            f"bubblewrap: which system calls to refuse on {machine} is not known here, so programs"
            " run in containers alone: set ASSAY_EXPERIMENTS__CONTAINER_RUNTIME=podman"
        )
    return filter_program(machine, one_user_namespace=_is_root())


def _command(given: Mapping[str, int], calls: int, leaves: str, limits: Limits) -> list[str]:
    """The command up to the one inside; the shell inside takes the file out."""
    command = [
        *(_program(), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *_rights(),
    ]
    mounted = (*_SYSTEM, *_interpreter_folders())
    around = (folder for path in (*mounted, *_DEVICES, *given) for folder in Path(path).parents)
    for folder in sorted(set(around) - {Path("/")}):
        command += ["--perms", "0755", "--dir", f"{folder}"]
    for path in mounted:
        command += ["--ro-bind-try", path, path]
    for path in _our_folders():
        command += ["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    for path in _DEVICES:
        command += ["--dev-bind", path, path]
    for path, descriptor in given.items():
        command += ["--perms", "0444", "--ro-bind-data", f"{descriptor}", path]
    command += ["--size", f"{limits.scratch_bytes}", "--perms", "1777", "--tmpfs", SCRATCH]
    # Locks and shared memory of `multiprocessing` count as files of the scratch folder.
    command += ["--symlink", SCRATCH, "/dev/shm", "--seccomp", f"{calls}"]  # noqa: S108
    for name, value in told_inside(leaves, limits).items():
        command += ["--setenv", name, value]
    command += ["--chdir", SCRATCH, "--remount-ro", "/", "--"]
    if _is_root():
        # Root is counted and limited nowhere, inside a namespace neither: it becomes nobody first.
        command += [
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
            *("unshare", "--user", "--"),
        ]
    return [*command, "sh", "-c", _SCRIPT, "sh"]


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
        f"--nofile={OPEN_FILES}",
        f"--sigpending={OPEN_FILES}",
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


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the sandbox and wait until nothing in it runs any more.

    Its first process is killed rather than bubblewrap outside, which waits for it: Linux lets the
    first process of a namespace go when it has ended all others.
    """
    for pid in children_of(process.pid):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    process.kill()
    process.wait()
